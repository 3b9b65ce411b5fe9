"""The scan of folders and repositories for files to index."""
