"""Fields that the type of a value does not have."""

from collections.abc import Iterable, Iterator

from sexplang.analysis.domain.typed_values import (
    find_typed,
    schema_of,
    words_of,
)
from sexplang.analysis.domain.values import Abstract
from sexplang.analysis.interpreter.interpreter import AbstractInterpreter
from sexplang.schemas.type_parts import fields_of, find_unknown_field, lacks_field
from sexplang.terms.core import Path
from sexplang.terms.diagnostic import Diagnostic, Label
from sexplang.terms.texts.nearest import did_you_mean

FIELDS = ("content", "notes", "parsed_content", "status", "usage")
"""The fields of a TaskResult."""


def find_unknown_fields(
    m: AbstractInterpreter, values: Iterable[Abstract], node: Path
) -> Iterator[Diagnostic]:
    """Yield a diagnostic for the first field of a path that the type of the value does not have.
    Fields of a TaskResult are not judged in an answer."""
    bases = {find_typed(m.values, each) for each in values}
    base = bases.pop() if len(bases) == 1 else None
    if base is None or (base.task and node.fields[0] in FIELDS):
        return
    type_ = schema_of(base.source)
    found = find_unknown_field(type_, node.fields, base.pointer)
    if found is not None:
        at, pointer = found
        name = node.fields[at]
        is_nil = lacks_field(type_, pointer, name)
        yield Diagnostic(
            "unknown-field",
            f"{words_of(base, node.fields[:at])} has no field `{name}`",
            (Label(node.span, "always nil" if is_nil else "the type does not name it"),),
            hint=did_you_mean(name, fields_of(type_, pointer)) or None,
            severity="warning",
        )
