"""Forms: the syntax trees between reader and compiler.

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
"""The end of the spelling of a renamed name; a number of the use of the macro follows. No source
can hold it, so no written name is equal to a renamed one."""


@node(eq=False, repr=False)
class Name(_Form):
    """A symbol in the text: `x`, `system:run_script`, `...`; or one that a macro renamed."""

    text: str
    span: Span

    @property
    def spelling(self) -> str:
        """The symbol as written."""
        return source_name(self.text)


def source_name(text: str) -> str:
    """Return a name's text as written, without a macro's mark."""
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

    @property
    def has_pairs(self) -> bool:
        """Whether labels and values alternate, as in every table that the reader makes. A `~@x` in
        a quasiquoted table is no pair."""
        return len(self.items) % 2 == 0 and all(isinstance(each, Label) for each in self.items[::2])

    def entries(self) -> "Iterator[tuple[Label, Form]]":
        """Yield the pairs in the order of the text."""
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
