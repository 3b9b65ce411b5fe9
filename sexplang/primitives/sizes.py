"""Values to sizes: how much something would make, known before any of it is made.

Law: nothing here recurses, and nothing looks at more of a value than its limit allows: a value
of sixty lists that share their parts can stand for more nodes than there are atoms.
"""

from sexplang.terms.text import written
from sexplang.terms.value import Fault, Primitive, Record, Symbol, Value

INTEGER_BITS = 14_000  # about 4,200 digits: below the length at which CPython refuses to print
STRING_POINTS = 10_000_000
LIST_ITEMS = 10_000_000
SHOWN = 60


def text_size(value: Value, most: int = STRING_POINTS) -> int:
    """About how long the text of `value` is, or some number above `most` if it is longer."""
    size = 0
    work = [value]
    while work:
        item = work.pop()
        if type(item) is str:
            size += len(item) + 2
        elif type(item) is int:
            size += item.bit_length() // 4 + 1
        elif isinstance(item, (tuple, dict, Record)):
            parts = item.fields if isinstance(item, Record) else item
            size += 2 + len(parts)
            if size > most:
                return size
            if isinstance(parts, dict):
                size += sum(map(len, parts)) + 2 * len(parts)
                work.extend(parts.values())
            else:
                work.extend(parts)
        else:
            size += len(item.name) if isinstance(item, Symbol) else 3
        if size > most:
            return size
    return size


def shown(value: Value) -> str:
    """A value inside a message: as it is written, shortened."""
    if isinstance(value, Primitive):
        return f"the function `{value.name}`"
    if type(value) is str and len(value) > SHOWN:
        return f'{written(value[: SHOWN - 10])[:-1]}…"'
    if text_size(value, 4 * SHOWN) > 4 * SHOWN:
        return _summary(value)
    whole = written(value)
    return whole if len(whole) <= SHOWN else whole[: SHOWN - 1] + "…"


def _summary(value: Value) -> str:
    if isinstance(value, tuple):
        return f"a list of {len(value)} items"
    if isinstance(value, int):
        return f"an integer of {value.bit_length()} bits"
    if isinstance(value, Symbol):
        return f"'{value.name[: SHOWN - 2]}…"
    if isinstance(value, Record):
        return f"a {value.kind} record"
    return f"a table of {len(value)} keys"


def wrong_type(name: str, takes: str, value: Value, hint: str | None = None) -> Fault:
    """`name` got `value` where it takes something else."""
    return Fault("wrong-type", f"`{name}` takes {takes}, not {shown(value)}", hint=hint)


def out_of_range(name: str, why: str, hint: str | None = None) -> Fault:
    """A value of the right kind that `name` cannot use."""
    return Fault("out-of-range", f"`{name}`: {why}", hint=hint)


def too_many_items(name: str, count: int) -> Fault:
    """`name` would make a list that is too long."""
    return Fault(
        "limit-list", f"`{name}` would make a list of {count} items; the limit is {LIST_ITEMS}"
    )


def too_long(name: str, points: int) -> Fault:
    """`name` would make a string that is too long."""
    return Fault(
        "limit-string",
        f"`{name}` would make a string of at least {points} code points; "
        f"the limit is {STRING_POINTS}",
    )


def too_large(name: str) -> Fault:
    """`name` would make an integer that is too large."""
    return Fault(
        "limit-integer",
        f"`{name}` would make an integer of more than {INTEGER_BITS} bits",
        hint="`(inexact x)` gives a float, which has no such limit",
    )


def whole(name: str, what: str, value: Value) -> int:
    """`value` as an index or a count: an exact integer, 0 or more."""
    if type(value) is not int:
        raise wrong_type(name, f"an integer as its {what}", value)
    if value < 0:
        raise out_of_range(name, f"its {what} is {shown(value)}, which is below 0")
    return value
