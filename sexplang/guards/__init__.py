"""Guards of a run at its process: Ctrl-C, and credentials that stay with the host."""
