"""Signatures of Python functions, read from the text of a file: nothing of it runs."""

from sexplang.signatures.python_reader import read_signatures

__all__ = ["read_signatures"]
