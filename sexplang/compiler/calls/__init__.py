"""Calls and their arguments to core."""
