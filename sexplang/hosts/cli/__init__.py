"""The commands of `sexplang`."""
