"""Pages of what there is to look up: names, error codes, commands, the Python package."""
