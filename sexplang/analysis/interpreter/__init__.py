"""The abstract interpreter: one rule for each kind of node."""
