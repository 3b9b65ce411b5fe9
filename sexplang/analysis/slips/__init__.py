"""Slips: mistakes that the compiler accepts and the author cannot have meant."""
