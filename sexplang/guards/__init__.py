"""Guards of the process around a run: interruption and credentials."""
