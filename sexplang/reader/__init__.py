"""The reader: text to forms, and back.

`read` gives the forms of a source or raises `Diagnostics`; `write` gives a form's text;
`format_text` formats a whole text. Chapter 1 of the specification describes the notation;
`grammar/sexplang.lark` is its grammar.
"""

from sexplang.reader.reader import read
from sexplang.reader.writer import write
from sexplang.terms.source import Source

__all__ = ["format_text", "read", "write"]


def format_text(text: str | Source) -> str:
    """Return the text of a program formatted, comments kept. Raises `Diagnostics`."""
    # Imported here: a run does not need the formatter.
    from sexplang.reader.layout.formatter import layout

    return layout(text)
