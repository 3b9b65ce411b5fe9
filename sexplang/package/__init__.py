"""The process and the package: its files, signals and credentials."""
