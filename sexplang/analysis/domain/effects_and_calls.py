"""Effect counts: how often an evaluation performs each operation that it does not handle.

Law: counts only grow. An operation whose count is zero is not in the table.
"""

from collections.abc import Mapping
from typing import TypeAlias

from sexplang.analysis.domain.bounds import ONE, ZERO, Bound, add, maximum, multiply
from sexplang.terms.classes.node import frozen
from sexplang.terms.source import Span


@frozen
class FollowedCall:
    """A pseudo-operation: a call of a function or continuation that is being interpreted."""

    what: int
    """The number of an ActiveCall, or the negated number of an ActiveHandle."""
    shots: int | None = None
    """The number of times that a clause calls its continuation; None for a function."""


@frozen
class ResumedCall:
    """A pseudo-operation: a call of a continuation, by the number of its Activation."""

    activation: int


@frozen
class ParameterCall:
    """A pseudo-operation: a call of the value of a parameter."""

    param: str


@frozen
class EscapedCall:
    """A pseudo-operation: a model call that only these budgets bound, by number. A continuation
    that is not known may have left the other budgets."""

    budgets: frozenset[int]


ANYTHING = "?"
"""The pseudo-operation for the effects of an unknown function."""

Key: TypeAlias = str | FollowedCall | ResumedCall | ParameterCall | EscapedCall


@frozen(eq=False)
class EffectCounts:
    """The number of times that each operation may be performed."""

    counts: Mapping[Key, Bound]

    def of(self, key: Key) -> Bound:
        return self.counts.get(key, ZERO)

    def without(self, *keys: Key) -> "EffectCounts":
        return EffectCounts({key: bound for key, bound in self.counts.items() if key not in keys})

    @property
    def row(self) -> tuple[str, ...]:
        """The operations, by name."""
        return tuple(sorted(key for key in self.counts if isinstance(key, str)))

    @property
    def params(self) -> tuple[str, ...]:
        """The parameters whose calls are counted."""
        return tuple(sorted(key.param for key in self.counts if isinstance(key, ParameterCall)))


NOTHING = EffectCounts({})


def one_count(key: Key, span: Span | None = None) -> EffectCounts:
    """Return one count of a key."""
    return EffectCounts({key: Bound(ONE.terms, span=span)})


def add_counts(*works: EffectCounts) -> EffectCounts:
    """Return the sum of counts: one evaluation after the other."""
    return _combine(works, add)


def max_counts(*works: EffectCounts) -> EffectCounts:
    """Return the maximum of counts: one evaluation of several."""
    return _combine(works, maximum)


def _combine(works: tuple[EffectCounts, ...], combine: object) -> EffectCounts:
    some = [work for work in works if work.counts]
    if len(some) < 2:
        return some[0] if some else NOTHING
    counts: dict[Key, Bound] = dict(some[0].counts)
    for work in some[1:]:
        for key, bound in work.counts.items():
            counts[key] = combine(counts[key], bound) if key in counts else bound  # type: ignore[operator]
    return EffectCounts(counts)


def repeat_work(work: EffectCounts, count: Bound) -> EffectCounts:
    """Return the counts of `count` repetitions."""
    if not work.counts or count == ONE:
        return work
    if count.is_zero:
        return NOTHING
    return EffectCounts({key: multiply(bound, count) for key, bound in work.counts.items()})
