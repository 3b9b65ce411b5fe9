"""The operations that a unit mentions: performed, forwarded, or as a function."""

from collections.abc import Collection, Iterator
from typing import Any

from sexplang.terms.classes.node import fields, has
from sexplang.terms.core import Const, Forward, PerformOp
from sexplang.terms.diagnostic import Diagnostic, Label
from sexplang.terms.program import Unit
from sexplang.terms.source import Span
from sexplang.terms.texts.nearest import did_you_mean
from sexplang.terms.values.value import Operation


def operations_in(unit: Unit) -> Iterator[tuple[str, Span]]:
    """Yield each mention of an operation with its span."""
    work: list[Any] = [*unit.items, *unit.functions][::-1]
    while work:
        node = work.pop()
        if isinstance(node, (PerformOp, Forward)):
            yield node.operation, node.span
        if isinstance(node, Const):
            if isinstance(node.value, Operation):
                yield node.value.name, node.span
        elif isinstance(node, tuple):
            work.extend(reversed(node))
        elif has(type(node)) and type(node).__module__ in _NODES:
            work.extend([getattr(node, each.name) for each in reversed(fields(type(node)))])


_NODES = ("sexplang.terms.core", "sexplang.terms.program")


def unknown_effect(name: str, span: Span, known: Collection[str]) -> Diagnostic:
    """Return the error for an operation that is not in `known`."""
    return Diagnostic(
        "unknown-effect",
        f"nobody declares or handles an operation called `{name}`",
        (Label(span, "performed here"),),
        hint=did_you_mean(name, sorted(known), f"declare it: (define-effect ({name} …))"),
    )
