"""Fields that the type of a value does not have."""

from collections.abc import Iterable, Iterator

from sexplang.analysis.domain.typed_values import (
    part_of_typed,
    schema_of,
    find_typed,
    words_of,
)
from sexplang.analysis.domain.values import Abstract, Typed
from sexplang.analysis.interpreter.interpreter import AbstractInterpreter
from sexplang.analysis.own_nodes import is_own, own_nodes
from sexplang.analysis.slips.answers import FIELDS
from sexplang.analysis.slips.certain import Certain
from sexplang.schemas.type_parts import fields_of, lacks_field, misspells_field
from sexplang.terms.core import Path
from sexplang.terms.diagnostic import Diagnostic, Label
from sexplang.terms.source import Made
from sexplang.terms.texts.nearest import did_you_mean


def find_unknown_fields(m: AbstractInterpreter, certain: Certain) -> Iterator[Diagnostic]:
    """Yield a diagnostic for each field that the type of the value does not have."""
    for node in own_nodes(m.program):
        if (
            isinstance(node, Path)
            and is_own(node.span)
            and not isinstance(node.span, Made)
            and certain.is_certain(node.base)
        ):
            yield from _check_path(m, m.observations.values.get(node.base, ()), node)


def _check_path(
    m: AbstractInterpreter, values: Iterable[Abstract], node: Path
) -> Iterator[Diagnostic]:
    bases = {find_typed(m.values, each) for each in values}
    base = bases.pop() if len(bases) == 1 else None
    value: Abstract | None = base
    for at, name in enumerate(node.fields):
        if base is None or not isinstance(value, Typed) or (value.task and name in FIELDS):
            return
        type_ = schema_of(value.source)
        is_lacking = lacks_field(type_, value.pointer, name)
        if is_lacking or misspells_field(type_, value.pointer, name):
            yield Diagnostic(
                "unknown-field",
                f"{words_of(base, node.fields[:at])} has no field `{name}`",
                (Label(node.span, "always nil" if is_lacking else "the type does not name it"),),
                hint=did_you_mean(name, fields_of(type_, value.pointer)) or None,
                severity="warning",
            )
            return
        value = part_of_typed(m.values, value, name)
