"""Lowering of `defatom` and types to templates and schemas."""
