"""What an evaluation may do: how often it performs each operation that nobody in it handles.

Law: work only grows. An operation whose count is zero is not in the table.
"""

from collections.abc import Mapping
from typing import TypeAlias

from sexplang.analysis.domain.bounds import ONE, ZERO, Bound, most, plus, times
from sexplang.terms.classes.node import frozen
from sexplang.terms.source import Span


@frozen
class FollowedCall:
    """Not an operation: a call of a function, or of a continuation, that is being followed."""

    what: int
    """The number of a Calling, or less than zero that of a Handling."""
    shots: int | None = None
    """How often a clause calls its continuation; None for a function."""


@frozen
class ResumedCall:
    """Not an operation: a call of a continuation, by the number of its Activation."""

    activation: int


@frozen
class ParameterCall:
    """Not an operation: a call of what a parameter stands for."""

    param: str


@frozen
class EscapedCall:
    """Not an operation: a model call that only these budgets bound, by number. A continuation that
    nobody knows may have left the others."""

    budgets: frozenset[int]


ANYTHING = "?"
"""What a function that is not known may do."""

Key: TypeAlias = str | FollowedCall | ResumedCall | ParameterCall | EscapedCall


@frozen(eq=False)
class EffectCounts:
    """How often each operation may be performed."""

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
        """The parameters whose calls are part of it."""
        return tuple(sorted(key.param for key in self.counts if isinstance(key, ParameterCall)))


NOTHING = EffectCounts({})


def once(key: Key, span: Span | None = None) -> EffectCounts:
    """One of it."""
    return EffectCounts({key: Bound(ONE.terms, span=span)})


def together(*works: EffectCounts) -> EffectCounts:
    """One after the other."""
    return _combine(works, plus)


def either(*works: EffectCounts) -> EffectCounts:
    """One of them."""
    return _combine(works, most)


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
    """As often as `count` says."""
    if not work.counts or count == ONE:
        return work
    if count.is_zero:
        return NOTHING
    return EffectCounts({key: times(bound, count) for key, bound in work.counts.items()})
