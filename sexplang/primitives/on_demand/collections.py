"""More primitives of lists and tables that call no function of the program."""

from contextlib import suppress
from math import fsum

from sexplang.primitives.arithmetic import add as plus
from sexplang.primitives.arithmetic import check, divide, multiply
from sexplang.primitives.lists import as_list
from sexplang.primitives.sizes import (
    LIST_ITEMS,
    out_of_range,
    too_many_items,
    whole,
    wrong_type,
)
from sexplang.primitives.tables import fields, key_text
from sexplang.primitives.tables import get as look
from sexplang.primitives.tables import put as put_one
from sexplang.terms.quota import SMALL, charge, work
from sexplang.terms.values.equality import equal, firsts
from sexplang.terms.values.rope import TEXTS
from sexplang.terms.values.sequences import LISTS
from sexplang.terms.values.value import Fault, Value

# -- Items and parts -------------------------------------------------------------------------------


def second(items: Value) -> Value:
    return _nth("second", items, 1)


def third(items: Value) -> Value:
    return _nth("third", items, 2)


def _nth(name: str, items: Value, at: int) -> Value:
    found = as_list(name, items)
    if at >= len(found):
        hint = f"`(get xs {at} default)` gives a default instead"
        raise out_of_range(name, f"there are only {len(found)} items", hint)
    return found[at]


def take_right(items: Value, count: Value) -> Value:
    """Return at most the last items."""
    found = as_list("take-right", items)
    return _charge_list(found[max(0, len(found) - whole("take-right", "count", count)) :])


def drop_right(items: Value, count: Value) -> Value:
    found = as_list("drop-right", items)
    return _charge_list(found[: max(0, len(found) - whole("drop-right", "count", count))])


def slice_items(items: Value, start: Value, end: Value = None) -> Value:
    """Return the items from an index to before another, as far as there are any."""
    found, first = as_list("slice", items), whole("slice", "start", start)
    last = LIST_ITEMS if end is None else whole("slice", "end", end)
    return _charge_list(found[first : max(first, last)])


def split_at(items: Value, count: Value) -> Value:
    found, at = as_list("split-at", items), whole("split-at", "count", count)
    return _charge_list(found[:at]), _charge_list(found[at:])


def chunk(items: Value, size: Value) -> Value:
    """Return the items in lists of a size; the last may be shorter."""
    found, length = as_list("chunk", items), whole("chunk", "size", size)
    if not length:
        raise out_of_range("chunk", "the size is at least 1")
    charge(len(found))
    work(len(found) // length // 2)
    return tuple([found[at : at + length] for at in range(0, len(found), length)])


def windows(items: Value, size: Value) -> Value:
    """Return the lists of as many neighbours."""
    found, length = as_list("windows", items), whole("windows", "size", size)
    if not length:
        raise out_of_range("windows", "the size is at least 1")
    count = max(0, len(found) - length + 1)
    charge(count * length)
    work(count)
    return tuple([found[at : at + length] for at in range(count)])


# -- Numbers ---------------------------------------------------------------------------------------


def total(items: Value) -> Value:
    """Return the sum of numbers: exact for integers, correctly rounded for floats."""
    found = _numbers("sum", items)
    if not set(map(type, found)) <= {int}:
        with suppress(OverflowError, ValueError):  # beyond the floats `+` says what it is
            return fsum(found)
    made: Value = 0
    for item in found:
        made = plus(made, item)
    return made


def product(items: Value) -> Value:
    made: Value = 1
    for item in _numbers("product", items):
        made = multiply(made, item)
    return made


def mean(items: Value) -> Value:
    found = _numbers("mean", items)
    if not found:
        raise Fault("empty-list", "`mean` of the empty list", hint="test with `(null? xs)` first")
    return divide(total(found), len(found))


def median(items: Value) -> Value:
    found = sorted(_numbers("median", items))
    if not found:
        raise Fault("empty-list", "`median` of the empty list", hint="test with `(null? xs)` first")
    middle = len(found) // 2
    if len(found) % 2:
        return found[middle]
    return divide(plus(found[middle - 1], found[middle]), 2)


def _numbers(name: str, items: Value) -> tuple[Value, ...]:
    found = as_list(name, items)
    if len(found) > SMALL:
        work(len(found))
    for item in found:
        if type(item) is not int and type(item) is not float:
            hint = "`(map (lambda (row) row.price) rows)` takes the numbers of rows"
            if type(item) is bool:
                hint = "`(count p xs)` counts the items for which a predicate holds"
            elif type(item) in TEXTS:
                hint = "`(map string->number xs)` reads the numbers"
            raise wrong_type(name, "a list of numbers", item, hint)
    return found


# -- Lists -----------------------------------------------------------------------------------------


def enumerate_items(items: Value, start: Value = 0) -> Value:
    """Return `[index item]` for each item."""
    check("enumerate", start)
    found = as_list("enumerate", items)
    charge(3 * len(found))
    work(len(found))
    return tuple([(start + at, item) for at, item in enumerate(found)])


def frequencies(items: Value) -> Value:
    """Return `[item count]` for each of the distinct items, in order."""
    found = as_list("frequencies", items)
    counts: dict[int, int] = {}
    for place in firsts(found):
        counts[place] = counts.get(place, 0) + 1
    charge(3 * len(counts))
    return tuple([(found[place], count) for place, count in counts.items()])


def delete(item: Value, items: Value) -> Value:
    """Return the list without the items that equal one."""
    found = as_list("delete", items)
    if len(found) > SMALL:
        work(len(found))
    return _charge_list(tuple([other for other in found if not equal(item, other)]))


def make_list(count: Value, fill: Value = None) -> Value:
    length = whole("make-list", "count", count)
    if length > LIST_ITEMS:
        raise too_many_items("make-list", length)
    charge(length)
    return (fill,) * length


def iota(count: Value, start: Value = 0, step: Value = 1) -> Value:
    length = whole("iota", "count", count)
    check("iota", start, step)
    if length > LIST_ITEMS:
        raise too_many_items("iota", length)
    charge(length)
    work(length // 10)
    return tuple([start + at * step for at in range(length)])


def interpose(separator: Value, items: Value) -> Value:
    """Return the items with a separator between them."""
    found = as_list("interpose", items)
    if 2 * len(found) > LIST_ITEMS:
        raise too_many_items("interpose", 2 * len(found))
    return _charge_list(tuple([part for item in found for part in (separator, item)])[1:])


# -- Tables ----------------------------------------------------------------------------------------


def entries(table: Value) -> Value:
    """Return `[key value]` for each field, in order."""
    found = fields("entries", table)
    charge(3 * len(found))
    return tuple(found.items())


def from_entries(pairs: Value) -> Value:
    """Return the table of `[key value]` lists. The last of equal keys wins."""
    made = {}
    for pair in as_list("from-entries", pairs):
        if type(pair) not in LISTS or len(pair) != 2:
            raise wrong_type("from-entries", "a list of `[key value]` lists", pair)
        made[key_text("from-entries", pair[0])] = pair[1]
    return _table(made)


def zip_table(keys: Value, values: Value) -> Value:
    """Return the table of keys and values, to the shorter of the lists."""
    names = [key_text("zipmap", key) for key in as_list("zipmap", keys)]
    return _table(dict(zip(names, as_list("zipmap", values), strict=False)))


def select_keys(table: Value, keys: Value) -> Value:
    """Return the table of these keys, as far as it has them."""
    found = fields("select-keys", table)
    names = [key_text("select-keys", key) for key in as_list("select-keys", keys)]
    return _table({name: found[name] for name in names if name in found})


def put_in(table: Value, path: Value, value: Value) -> Value:
    """Return the table with a value at a path of keys. What is missing on the way is a table."""
    keys = as_list("put-in", path)
    if not keys:
        raise out_of_range("put-in", "the path is empty")
    work(len(keys))
    around = []
    for key in keys[:-1]:
        around.append(table)
        table = look(table, key)
    made = _put("put-in", table, keys[-1], value)
    for outer, key in zip(reversed(around), reversed(keys[:-1]), strict=True):
        made = _put("put-in", outer, key, made)
    return made


def _put(name: str, table: Value, key: Value, value: Value) -> Value:
    if type(table) not in LISTS:
        return put_one({} if table is None else table, key, value)
    at = whole(name, "index", key)
    if at >= len(table):
        raise out_of_range(name, f"there is no item {at} in a list of {len(table)}")
    charge(len(table))
    items = as_list(name, table)
    return (*items[:at], value, *items[at + 1 :])


def _table(made: dict[str, Value]) -> dict[str, Value]:
    charge(len(made))
    return made


def _charge_list(items: tuple[Value, ...]) -> tuple[Value, ...]:
    charge(len(items))
    return items
