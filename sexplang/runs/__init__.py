"""The assembly of runs."""
