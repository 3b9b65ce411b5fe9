"""Values that are written in `(as T …)` and are not of the type."""

from typing import Any

from sexplang.analysis.domain.typed_values import schema_of
from sexplang.analysis.slips.answers import words_of_type
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
from sexplang.terms.core import CallPrimitive, Const, MakeTable
from sexplang.terms.diagnostic import Diagnostic, Label
from sexplang.terms.source import Span
from sexplang.terms.texts.nearest import did_you_mean
from sexplang.terms.values.abbreviation import abbreviate


def find_misfit(node: CallPrimitive) -> Diagnostic | None:
    """Return a diagnostic for the first part of the value that is not of the type, or None."""
    type_ = schema_of(node)
    work: list[tuple[Any, Pointer | None, str]] = [(node.arguments[1], (), "")]
    while work:
        written, pointer, path = work.pop()
        span = getattr(written, "span", node.arguments[1].span)
        value = _value_of(written)
        kind = kind_of_literal(value)
        if pointer is None or kind in (None, "symbol"):
            continue
        place = f"`{path}`" if path else "the value"
        is_leaf = kind not in ("table", "list")
        if is_leaf and not may_equal(type_, pointer, value):
            words = f"{place} is {abbreviate(value)}, not {words_of_type(type_, pointer)}"
            return _refuse(words, span)
        if not is_leaf and kind_of_type(type_, pointer) not in (kind, None):
            return _refuse(f"{place} is a {kind}, not {words_of_type(type_, pointer)}", span)
        parts: list[tuple[Any, Pointer | None, str]] = []
        if kind == "table":
            for name, part in value.items():
                if find_unknown_field(type_, (name,), pointer) is not None:
                    title = f"the type has no field `{name}`{f' in {place}' if path else ''}"
                    hint = did_you_mean(name, fields_of(type_, pointer)) or None
                    return Diagnostic(
                        "unknown-field", title, (Label(span),), hint=hint, severity="warning"
                    )
                parts.append((part, field_of(type_, pointer, name), f"{path}.{name}".lstrip(".")))
            for name in list_required(type_, pointer):
                if name not in value:
                    return _refuse(f"`{f'{path}.{name}'.lstrip('.')}` is missing", span)
        if kind == "list":
            inner = item_of(type_, pointer)
            parts = [(part, inner, f"{path}[{at}]") for at, part in enumerate(value)]
        work += reversed(parts)
    return None


def _value_of(written: Any) -> Any:
    """Return a constant, or a table or list whose parts are written; for any other, the node."""
    if isinstance(written, Const):
        return written.value
    if isinstance(written, MakeTable):
        return dict(zip(written.keys, written.values, strict=True))
    if isinstance(written, CallPrimitive) and written.primitive.name == "list":
        return written.arguments
    return written


def _refuse(words: str, span: Span) -> Diagnostic:
    title = f"`as` refuses this: {words}"
    return Diagnostic("never-fits", title, (Label(span),), severity="warning")
