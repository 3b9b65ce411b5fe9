"""What was seen while a program was followed: what calls were given, and what places were worth."""

from typing import TypeAlias

from sexplang.analysis.domain.values import Abstract
from sexplang.terms.classes.node import define, field
from sexplang.terms.core import Call, CallKnown, CallPrimitive, Core
from sexplang.terms.source import Span

CallNode: TypeAlias = Call | CallKnown | CallPrimitive
Given: TypeAlias = tuple[Abstract | None, tuple[Abstract, ...]]
"""The callee, where it is no primitive, and the arguments."""


@define(eq=False)
class Observations:
    """Of each node everything that it was ever seen with, each once."""

    calls: dict[CallNode, dict[Given, None]] = field(factory=dict)
    values: dict[Core, dict[Abstract, None]] = field(factory=dict)
    """Of tests, and of what fields are read from."""
    tests: dict[Span, dict[Abstract, None]] = field(factory=dict)
    """What the function gives by which `filter`, `any?` or `all?` chooses, by the place of the
    call."""

    def call(
        self, node: CallNode, callee: Abstract | None, arguments: tuple[Abstract, ...]
    ) -> None:
        self.calls.setdefault(node, {})[callee, arguments] = None

    def value(self, node: Core, value: Abstract) -> None:
        self.values.setdefault(node, {})[value] = None

    def test(self, span: Span, value: Abstract) -> None:
        self.tests.setdefault(span, {})[value] = None

    def over(self, others: "Observations") -> "Observations":
        """These, and the others of places that were not seen here."""
        return Observations(
            {**others.calls, **self.calls},
            {**others.values, **self.values},
            {**others.tests, **self.tests},
        )
