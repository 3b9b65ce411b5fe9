"""Observations of the interpretation: arguments of calls and values of nodes."""

from typing import TypeAlias, TypeVar

from sexplang.analysis.domain.values import Abstract
from sexplang.terms.classes.node import define, field
from sexplang.terms.core import Call, CallKnown, CallPrimitive, Core
from sexplang.terms.source import Span

K = TypeVar("K")
V = TypeVar("V")
CallNode: TypeAlias = Call | CallKnown | CallPrimitive
Given: TypeAlias = tuple[Abstract | None, tuple[Abstract, ...]]
"""The callee (None for a primitive) and the arguments."""


@define(eq=False)
class Observations:
    """The values that each node was seen with."""

    calls: dict[CallNode, dict[Given, None]] = field(factory=dict)
    values: dict[Core, dict[Abstract, None]] = field(factory=dict)
    """The values of tests, and of the bases of field accesses."""
    tests: dict[Span, dict[Abstract, None]] = field(factory=dict)
    """The results of the predicates of `filter`, `any?` and `all?`, by span of the call."""

    def call(
        self, node: CallNode, callee: Abstract | None, arguments: tuple[Abstract, ...]
    ) -> None:
        self.calls.setdefault(node, {})[callee, arguments] = None

    def value(self, node: Core, value: Abstract) -> None:
        self.values.setdefault(node, {})[value] = None

    def test(self, span: Span, value: Abstract) -> None:
        self.tests.setdefault(span, {})[value] = None

    def join(self, others: "Observations") -> "Observations":
        """Return the observations of both."""
        return Observations(
            _join(self.calls, others.calls),
            _join(self.values, others.values),
            _join(self.tests, others.tests),
        )


def _join(one: dict[K, dict[V, None]], other: dict[K, dict[V, None]]) -> dict[K, dict[V, None]]:
    return {key: one.get(key, {}) | other.get(key, {}) for key in one | other}
