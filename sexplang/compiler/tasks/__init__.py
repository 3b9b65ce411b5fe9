"""`defatom` and types to templates and schemas."""
