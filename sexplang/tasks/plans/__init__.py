"""Proposed plans: read, judged whole, bid for, and told to the model that proposed them."""
