"""Folders and repositories to the files that an index holds."""
