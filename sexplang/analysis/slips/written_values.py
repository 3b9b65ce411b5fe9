"""Values that are written in `(as T …)` and are not of the type."""

from collections.abc import Iterator
from typing import Any

from sexplang.analysis.domain.typed_values import schema_of, words_of_type
from sexplang.schemas.type_parts import (
    Pointer,
    field_of,
    fields_of,
    find_unknown_field,
    item_of,
    kind_of_literal,
    kind_of_type,
    list_required,
    may_equal,
)
from sexplang.terms.classes.node import frozen
from sexplang.terms.core import CallPrimitive, Const, MakeTable
from sexplang.terms.diagnostic import Diagnostic, Label
from sexplang.terms.schemas import Schema
from sexplang.terms.source import Span
from sexplang.terms.texts.nearest import did_you_mean
from sexplang.terms.values.abbreviation import abbreviate


@frozen(eq=False)
class _Part:
    """A part of a written value, and the part of the type that it is held to."""

    value: Any
    """A constant, or a table or list of what is written in it; for any other, the node."""
    pointer: Pointer
    path: str
    span: Span

    @property
    def place(self) -> str:
        return f"`{self.path.lstrip('.')}`" if self.path else "the value"


def find_misfit(node: CallPrimitive) -> Iterator[Diagnostic]:
    """Yield a diagnostic for the first part of the value of an `as` that is not of the type."""
    type_, value = schema_of(node), node.arguments[1]
    work = [_Part(_value_of(value), (), "", value.span)]
    while work:
        part = work.pop()
        found = _check(type_, part)
        if found is not None:
            yield found
            return
        work += reversed(_parts(type_, part))


def _value_of(written: Any) -> Any:
    if isinstance(written, Const):
        return written.value
    if isinstance(written, MakeTable):
        return dict(zip(written.keys, written.values, strict=True))
    if isinstance(written, CallPrimitive) and written.primitive.name == "list":
        return written.arguments
    return written


def _parts(type_: Schema, part: _Part) -> list[_Part]:
    """Return the fields or items of a part whose types are known."""
    value, inside = part.value, []
    if isinstance(value, dict):
        for name, each in value.items():
            inside.append((f".{name}", each, field_of(type_, part.pointer, name)))
    elif kind_of_literal(value) == "list":
        pointer = item_of(type_, part.pointer)
        inside = [(f"[{at}]", each, pointer) for at, each in enumerate(value)]
    return [
        _Part(_value_of(each), pointer, part.path + step, getattr(each, "span", part.span))
        for step, each, pointer in inside
        if pointer is not None
    ]


def _check(type_: Schema, part: _Part) -> Diagnostic | None:
    """Return a diagnostic for a part that is not of its type itself."""
    value, pointer, place = part.value, part.pointer, part.place
    kind, wanted = kind_of_literal(value), kind_of_type(type_, pointer)
    if kind in (None, "symbol"):
        return None
    if kind not in ("table", "list"):
        if may_equal(type_, pointer, value):
            return None
        return _refuse(part, f"{place} is {abbreviate(value)}, not {words_of_type(type_, pointer)}")
    if wanted not in (kind, None):
        return _refuse(part, f"{place} is a {kind}, not {words_of_type(type_, pointer)}")
    for name in value if kind == "table" else ():
        if find_unknown_field(type_, (name,), pointer) is not None:
            title = f"the type has no field `{name}`{f' in {place}' if part.path else ''}"
            hint = did_you_mean(name, fields_of(type_, pointer)) or None
            label = Label(part.span)
            return Diagnostic("unknown-field", title, (label,), hint=hint, severity="warning")
    for name in list_required(type_, pointer) if kind == "table" else ():
        if name not in value:
            return _refuse(part, f"`{f'{part.path}.{name}'.lstrip('.')}` is missing")
    return None


def _refuse(part: _Part, words: str) -> Diagnostic:
    title = f"`as` refuses this: {words}"
    return Diagnostic("never-fits", title, (Label(part.span),), severity="warning")
