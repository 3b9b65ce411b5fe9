"""The process and the files of the package."""
