"""Fields that the type of a value does not have, and values that are not of their type."""

from collections.abc import Iterable, Iterator

from sexplang.analysis.domain.typed_values import (
    find_typed,
    is_typing,
    schema_of,
    words_of,
)
from sexplang.analysis.domain.values import Abstract
from sexplang.analysis.interpreter.interpreter import AbstractInterpreter
from sexplang.analysis.own_nodes import is_own, own_nodes
from sexplang.analysis.slips.answers import FIELDS
from sexplang.analysis.slips.certain import Certain
from sexplang.analysis.slips.written_values import find_misfit
from sexplang.schemas.type_parts import fields_of, find_unknown_field, lacks_field
from sexplang.terms.core import CallPrimitive, Path
from sexplang.terms.diagnostic import Diagnostic, Label
from sexplang.terms.source import Made
from sexplang.terms.texts.nearest import did_you_mean


def find_type_slips(m: AbstractInterpreter, certain: Certain) -> Iterator[Diagnostic]:
    """Yield a diagnostic for each field that the type of a value does not have, and for each value
    in `(as T …)` that is not of the type."""
    for node in own_nodes(m.program):
        if not is_own(node.span) or isinstance(node.span, Made):
            continue
        if isinstance(node, Path) and certain.is_certain(node.base):
            yield from _check_path(m, m.observations.values.get(node.base, ()), node)
        elif isinstance(node, CallPrimitive) and is_typing(node):
            found = find_misfit(node)
            if found is not None:
                yield found


def _check_path(
    m: AbstractInterpreter, values: Iterable[Abstract], node: Path
) -> Iterator[Diagnostic]:
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
