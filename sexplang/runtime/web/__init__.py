"""Pages of the web, for the operation `fetch`."""
