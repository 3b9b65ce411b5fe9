"""The commands below `sexplang runs`, and the worker."""
