"""The reader: text to forms, and back.

`read` gives the forms of a source or raises `Diagnostics`; `format_text` formats a whole text;
`writer.write` gives the text of a form. Chapter 1 of the specification describes the notation;
`grammar/sexplang.lark` is its grammar.
"""

from sexplang.reader.reader import read
from sexplang.terms.source import Source

__all__ = ["format_text", "read"]


def format_text(text: str | Source) -> str:
    """Return the text of a program formatted, comments kept. Raises `Diagnostics`."""
    # Imported here: a run does not need the formatter.
    from sexplang.reader.layout.formatter import layout

    return layout(text)
