"""Runs on many machines: `sexplang submit` and `sexplang worker`."""
