"""The size limits of values, and the faults for values beyond them."""

from sexplang.terms.quota import work
from sexplang.terms.values import sequences
from sexplang.terms.values.abbreviation import abbreviate, exact_twin
from sexplang.terms.values.boundary import INTEGER_BITS
from sexplang.terms.values.value import Fault, Primitive, Value

STRING_POINTS = 10_000_000
LIST_ITEMS = sequences.MOST

LIGHT = 1 << 1000
LEAST = -LIGHT
"""An integer between LEAST and its negation is multiplied, divided and written in about the time of
a step."""


def weigh(a: int, b: int) -> None:
    """Count a product or a quotient of large integers as steps. May end the run."""
    if not (LEAST < a < LIGHT and LEAST < b < LIGHT):
        work(a.bit_length() * b.bit_length() // PRODUCT)


PRODUCT = 1_000_000
"""The pairs of bits that are multiplied in about the time of a step."""


KNOWN: dict[str, Primitive] = {}
"""The primitives, by name. Their usages are the hints of errors that have no better ones."""


def _usage(name: str) -> str | None:
    found = KNOWN.get(name)
    return f"write {found.usage}" if found is not None else None


def wrong_type(name: str, takes: str, value: Value, hint: str | None = None) -> Fault:
    """Return the fault for `value` of a kind that `name` does not take."""
    message = f"`{name}` takes {takes}, not {abbreviate(value)}"
    return Fault("wrong-type", message, hint=hint or _usage(name))


def out_of_range(name: str, why: str, hint: str | None = None) -> Fault:
    """Return the fault for a value of the right kind that `name` cannot use."""
    return Fault("out-of-range", f"`{name}`: {why}", hint=hint or _usage(name))


def too_many_items(name: str, count: int) -> Fault:
    """Return the fault for a list that is too long."""
    many = str(count) if count.bit_length() < 200 else "very many"
    return Fault(
        "limit-list",
        f"`{name}` would make a list of {many} items; the limit is {LIST_ITEMS}",
        hint="no option raises this limit: work on a part at a time",
    )


def too_long(name: str, points: int) -> Fault:
    """Return the fault for a string that is too long."""
    return Fault(
        "limit-string",
        f"`{name}` would make a string of at least {points} code points; "
        f"the limit is {STRING_POINTS}",
        hint="no option raises this limit: keep the parts in a list, or write each to a file",
    )


def too_large(name: str) -> Fault:
    """Return the fault for an integer that is too large."""
    return Fault(
        "limit-integer",
        f"`{name}` would make an integer of more than {INTEGER_BITS} bits",
        hint="where only the end of a number matters, take `(modulo x m)` after each step; floats "
        "go up to about 1.8e308",
    )


def whole(name: str, what: str, value: Value) -> int:
    """Return `value` as an index or a count: an exact integer, 0 or more. Raises Fault."""
    if type(value) is not int:
        raise wrong_type(name, f"an exact integer as its {what}", value, exact_twin(value))
    if value < 0:
        hint = _from_the_end(name, what, -value)
        raise out_of_range(name, f"its {what} is {abbreviate(value)}, which is below 0", hint)
    return value


def _from_the_end(name: str, what: str, n: int) -> str | None:
    """Return what to write for a place that other languages count from the end."""
    is_text = name.startswith(("string-", "substring"))
    subject, prefix = ("s", "string-") if is_text else ("xs", "")
    right = f"`({prefix}take-right {subject} {abbreviate(n)})`"
    left = f"`({prefix}drop-right {subject} {abbreviate(n)})`"
    if what == "index":
        first = f"`(last {subject})` is the last one, " if not is_text else ""
        return f"nothing counts from the end: {first}{right} gives the last {abbreviate(n)}"
    if what == "start" or name in ("drop", "string-drop"):
        return f"nothing counts from the end: {right} gives the last {abbreviate(n)}"
    if what == "end":
        return f"nothing counts from the end: write `({name} {left[1:-1]} start)`"
    if name in ("take", "string-take"):
        return f"nothing counts from the end: {left} leaves out the last {abbreviate(n)}"
    return None
