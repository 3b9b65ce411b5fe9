"""Runs put together: the terms of a run, and its first outcome."""
