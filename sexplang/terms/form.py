"""Forms: what the reader makes of text, and the compiler of forms.

Law: spans take no part in equality. Law: a form may be 10,000 deep, so nothing here recurses.
"""

from collections.abc import Iterator
from typing import Any, TypeAlias

from sexplang.terms.classes.node import node
from sexplang.terms.source import Span


class _Form:
    __slots__ = ()

    span: Span

    __hash__ = None  # type: ignore[assignment]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Form) and _same(self, other)

    def __repr__(self) -> str:
        text = self.span.text
        return f"<{type(self).__name__} {text if len(text) < 60 else text[:57] + '...'}>"


MARK = "\x01"
"""Ends the spelling of a name that a macro brought in: what follows tells which use of which macro
did. No source can hold it, so no name that is written can meet such a one."""


@node(eq=False, repr=False)
class Name(_Form):
    """A symbol in the text: `x`, `system:run_script`, `...`; or one that a macro brought in."""

    text: str
    span: Span

    @property
    def spelling(self) -> str:
        """The symbol as it is written."""
        return source_name(self.text)


def source_name(text: str) -> str:
    """A name's text as it is written, whoever brought it in."""
    return text.partition(MARK)[0] if MARK in text else text


@node(eq=False, repr=False)
class Literal(_Form):
    """A number, string, boolean or nil (`None`)."""

    value: int | float | str | bool | None
    span: Span


@node(eq=False, repr=False)
class Label(_Form):
    """`style:` or `"style":`; names an argument in a call or a key in a table."""

    text: str
    span: Span


@node(eq=False, repr=False)
class ListForm(_Form):
    """`(f a b)`. Quoting marks read as the lists they stand for: `'x` is `(quote x)`."""

    items: "tuple[Form, ...]"
    span: Span


@node(eq=False, repr=False)
class VectorForm(_Form):
    """`[a b c]`."""

    items: "tuple[Form, ...]"
    span: Span


@node(eq=False, repr=False)
class TableForm(_Form):
    """`{a: 1 "b": 2}`: labels and values alternate, as written."""

    items: "tuple[Form, ...]"
    span: Span

    def entries(self) -> "Iterator[tuple[Label, Form]]":
        """The pairs, in order of the text; a `~@x` in a quasiquoted table is not one."""
        items = iter(self.items)
        for label in items:
            assert isinstance(label, Label)
            yield label, next(items)


Form: TypeAlias = Name | Literal | Label | ListForm | VectorForm | TableForm


def _same(left: _Form, right: _Form) -> bool:
    pairs: list[tuple[Any, Any]] = [(left, right)]
    while pairs:
        a, b = pairs.pop()
        if type(a) is not type(b):
            return False
        if isinstance(a, (Name, Label)):
            if a.text != b.text:
                return False
        elif isinstance(a, Literal):
            if type(a.value) is not type(b.value) or repr(a.value) != repr(b.value):
                return False
        else:
            if len(a.items) != len(b.items):
                return False
            pairs.extend(zip(a.items, b.items, strict=True))
    return True
