"""Text to forms, and back.

`read` gives the forms of a source or raises `Diagnostics`; `write` gives a form's text; `layout`
gives a whole text as it should look. Chapter 1 of the specification says what is read;
`grammar/sexplang.lark` says it to the machine.
"""

from sexplang.reader.reader import read
from sexplang.reader.writer import write
from sexplang.terms.source import Source

__all__ = ["layout", "read", "write"]


def layout(text: str | Source) -> str:
    """The text of a program laid out, its comments kept. Raises `Diagnostics`."""
    # A program that runs has no use for this.
    from sexplang.reader.layout.formatter import layout

    return layout(text)
