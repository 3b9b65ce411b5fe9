"""Text to forms, and back.

`read` gives the forms of a source or raises `Diagnostics`; `write` gives a form's text. Chapter 1
of the specification says what is read; `grammar/sexplang.lark` says it to the machine.
"""

from sexplang.reader.reading import read
from sexplang.reader.writing import write

__all__ = ["read", "write"]
