"""Python files that programs import: their decorators, and their functions in a run."""

from sexplang.api.python_files.decorators import operation, primitive, tool

__all__ = ["operation", "primitive", "tool"]
