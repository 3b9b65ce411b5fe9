"""Lowering of calls and their arguments."""
