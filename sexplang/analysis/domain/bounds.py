"""Bounds: polynomials over the sizes of a program's inputs.

A Bound is never less than the count that it bounds. Sums and products are exact; the maximum of two
bounds is taken coefficient by coefficient. An absent bound has a reason and a span.
"""

from collections.abc import Mapping
from typing import Any, Literal, TypeAlias

from sexplang.terms.classes.node import attributes, frozen
from sexplang.terms.source import Span

MOST_TERMS = 12
MOST_FACTORS = 5
GREATEST = 10**15
"""The largest coefficient of a bound. A larger one counts as unbounded."""


@frozen
class Atom:
    """A number that an input determines.

    It is the input's length, or its value rounded up, plus `shift`, and at least `least`. A `whole`
    value needs no rounding.
    """

    input: str
    fields: tuple[str, ...] = ()
    kind: Literal["len", "value"] = "len"
    shift: int = 0
    least: int = 0
    whole: bool = False

    def __lt__(self, other: "Atom") -> bool:
        return tuple(attributes(self).values()) < tuple(attributes(other).values())

    def __str__(self) -> str:
        path = ".".join((self.input, *self.fields))
        if self.kind == "len":
            return f"len({path})"
        size = path if self.whole else f"ceil({path})"
        if self.shift:
            size += f" {'+' if self.shift > 0 else '-'} {abs(self.shift)}"
        return f"max({self.least}, {size})"

    def value(self, inputs: Mapping[str, Any]) -> int:
        """Return the number for given inputs. An input without a length has the length 0."""
        found: Any = inputs.get(self.input)
        for key in self.fields:
            fields = getattr(found, "fields", found)
            found = fields.get(key) if isinstance(fields, Mapping) else None
        if self.kind == "len":
            size = len(found) if isinstance(found, (tuple, list, str, dict)) else 0
        else:
            size = int(-(-found // 1)) if isinstance(found, (int, float)) else 0
        return max(self.least, size + self.shift)


Term: TypeAlias = tuple[Atom, ...]
"""A product of atoms, in order. The empty product is 1."""


@frozen
class Bound:
    """A sum of terms with positive integer coefficients, or the reason `why` there is none.

    `span` is the place that a message about the bound points to.
    """

    terms: tuple[tuple[Term, int], ...] = ()
    why: str = ""
    span: Span | None = None

    @property
    def is_bounded(self) -> bool:
        return not self.why

    @property
    def constant(self) -> int | None:
        """The number, or None if it depends on an input."""
        if self.why or any(term for term, _ in self.terms):
            return None
        return self.terms[0][1] if self.terms else 0

    @property
    def is_zero(self) -> bool:
        return not self.why and not self.terms

    def value(self, inputs: Mapping[str, Any]) -> int | None:
        """Return the number for given inputs, or None if there is no bound."""
        if self.why:
            return None
        total = 0
        for term, factor in self.terms:
            for atom in term:
                factor *= atom.value(inputs)
            total += factor
        return total

    def __str__(self) -> str:
        if self.why:
            return f"unbounded because of {place(self.span)}: {self.why}"
        return " + ".join([_write(term, factor) for term, factor in self.terms]) or "0"


ZERO = Bound()


def number(count: int, span: Span | None = None) -> Bound:
    """Return the bound of a known count."""
    return Bound((((), count),), span=span) if count > 0 else ZERO


ONE = number(1)


def atom(one: Atom, span: Span | None = None) -> Bound:
    """Return the bound of a count that an input determines."""
    return Bound((((one,), 1),), span=span)


def no_bound(why: str, span: Span | None) -> Bound:
    """Return an absent bound with its reason."""
    return Bound(why=why, span=span)


def place(span: Span | None) -> str:
    """Return the line in words: `line 9`."""
    return f"line {span.begin.line}" if span is not None else "what it does"


def add(left: Bound, right: Bound) -> Bound:
    """Return the sum of two bounds."""
    if left.is_zero or right.why:
        return left if left.why else right
    if right.is_zero or left.why:
        return left
    return _sum(left, right, lambda a, b: a + b)


def maximum(left: Bound, right: Bound) -> Bound:
    """Return a bound that is at least as great as either."""
    if left.is_zero or right.why:
        return left if left.why else right
    if right.is_zero or left.why:
        return left
    return _sum(left, right, max)


def multiply(bound: Bound, count: Bound) -> Bound:
    """Return the product of two bounds. Zero times an absent bound is zero."""
    if bound.is_zero or count.is_zero:
        return ZERO
    if bound.why or count.why:
        # The reason of the outer count comes first: the author can bound that one.
        return count if count.why else bound
    terms: dict[Term, int] = {}
    for term, factor in bound.terms:
        for other, by in count.terms:
            product = tuple(sorted((*term, *other)))
            terms[product] = terms.get(product, 0) + factor * by
    return _bound(terms, count.span if count.constant is None else bound.span)


def minimum(bound: Bound, other: Bound, span: Span) -> Bound:
    """Return the bound under a limit of `other`: the lesser of the two, if they can be compared."""
    if other.why or (bound.is_bounded and (other.constant is None or _is_below(bound, other))):
        return bound
    return Bound(other.terms, span=span)


def shorter(one: Bound, other: Bound) -> Bound:
    """Return the lesser of two bounds. A constant is preferred to one that depends on an input."""
    if not one.is_bounded or not other.is_bounded:
        return one if one.is_bounded else other
    if one.constant is None or other.constant is None:
        return one if one.constant is not None else other
    return one if one.constant <= other.constant else other


def _is_below(bound: Bound, other: Bound) -> bool:
    constant, limit = bound.constant, other.constant
    return constant is not None and limit is not None and constant <= limit


def _sum(left: Bound, right: Bound, both: Any) -> Bound:
    terms = dict(left.terms)
    for term, factor in right.terms:
        terms[term] = both(terms[term], factor) if term in terms else factor
    return _bound(terms, left.span if _weight(left) >= _weight(right) else right.span)


def _bound(terms: dict[Term, int], span: Span | None) -> Bound:
    if len(terms) > MOST_TERMS or any(len(term) > MOST_FACTORS for term in terms):
        return no_bound("it depends on too many inputs at once", span)
    if any(factor > GREATEST for factor in terms.values()):
        return no_bound("there may be more than a thousand million million", span)
    return Bound(tuple(sorted(terms.items(), key=_order)), span=span)


def _order(item: tuple[Term, int]) -> tuple[int, Term]:
    return len(item[0]), item[0]


def _weight(bound: Bound) -> tuple[int, int]:
    """Return the order in which terms are reported: by degree, then by coefficient."""
    return max((len(term), factor) for term, factor in bound.terms)


def _write(term: Term, factor: int) -> str:
    parts = [] if factor == 1 and term else [str(factor)]
    for one in dict.fromkeys(term):
        power = term.count(one)
        parts.append(f"{one}{'' if power == 1 else _RAISED[power]}")
    return "·".join(parts)


_RAISED = {2: "²", 3: "³", 4: "⁴", 5: "⁵"}
