"""List primitives. They return new lists; long ones share their items (`sequences`).

Lengths are checked before a list of that length is made.
"""

from collections.abc import Callable, Iterable
from itertools import chain
from math import ceil, isinf, isnan
from typing import Any

from sexplang.primitives.arithmetic import MISSING, check
from sexplang.primitives.sizes import LIST_ITEMS, out_of_range, too_many_items, whole, wrong_type
from sexplang.terms.quota import SMALL, work
from sexplang.terms.values.abbreviation import abbreviate
from sexplang.terms.values.boundary import materialize
from sexplang.terms.values.equality import equal, firsts
from sexplang.terms.values.rope import TEXTS
from sexplang.terms.values.sequences import (
    CHUNK,
    LISTS,
    LONG,
    PLAIN,
    ROOM,
    Long,
    View,
    end_of,
    join_lists,
    whole_list,
    with_first,
    with_tail,
    without_first,
)
from sexplang.terms.values.value import Fault, Record, Value

_LIST_FIRST = {
    "nth": "(nth xs i)",
    "take": "(take xs n)",
    "drop": "(drop xs n)",
    "index-of": "(index-of xs x)",
}
"""Primitives whose first argument is the list, which callers often put last."""

_OF_TEXT = {
    "nth": "(string-ref s i)",
    "take": "(string-take s n)",
    "drop": "(string-drop s n)",
    "take-right": "(string-take-right s n)",
    "drop-right": "(string-drop-right s n)",
    "slice": "(substring s start end)`, or `(string-take-right s n)",
    "first": "(string-ref s 0)",
    "car": "(string-ref s 0)",
    "rest": "(string-drop s 1)",
    "cdr": "(string-drop s 1)",
    "last": "(string-take-right s 1)",
    "reverse": "(string-reverse s)",
    "length": "(string-length s)",
    "append": "(str a b)",
    "distinct": "(distinct (string->list s))",
    "frequencies": "(frequencies (string->list s))",
    "enumerate": "(enumerate (string->list s))",
    "sum": "(map string->number (string->list s))",
}
"""What to write for a text where a primitive takes a list."""


def not_a_list(name: str, value: Value) -> Fault:
    """Return the fault for `value` where `name` takes a list."""
    hint = None
    if value is None:
        hint = "the empty list is `()`"
    elif type(value) in TEXTS and name in _OF_TEXT:
        hint = f"write `{_OF_TEXT[name]}` for a text"
    elif name in _LIST_FIRST and not isinstance(value, (dict, Record)):
        hint = f"the list comes first: `{_LIST_FIRST[name]}`"
    elif type(value) in TEXTS:
        hint = "`(string-length s)` and `(substring s start end)` are for strings"
    elif name == "append":
        hint = "an item is added in a list: `(append xs [x])`"
    elif isinstance(value, (dict, Record)):
        hint = "`(keys t)` and `(values t)` make lists of a table"
    return wrong_type(name, "a list", value, hint)


def as_list(name: str, value: Value) -> tuple[Value, ...]:
    """Return the list as a tuple."""
    if type(value) is tuple:
        return value
    if type(value) in LONG:
        return whole_list(value)
    raise not_a_list(name, value)


def _check_size(name: str, count: int) -> None:
    if count > LIST_ITEMS:
        raise too_many_items(name, count)


def make_list(*items: Value) -> Value:
    return items


def cons(item: Value, items: Value) -> Value:
    kind = items.__class__
    if kind is tuple and len(items) < PLAIN:
        return (item,) + items
    if kind in LISTS:
        if len(items) < LIST_ITEMS:
            return with_first(item, items)
        raise too_many_items("cons", len(items) + 1)
    hint = (
        f"a pair is a list of two: `[{abbreviate(item)} {abbreviate(items)}]`, and "
        "`(second pair)` reads its value"
    )
    if type(item) in LISTS:
        hint = (
            "the item comes first: `(cons x xs)`; `fold` gives what was so far first: "
            "`(fold (lambda (acc x) (cons x acc)) [] xs)`"
        )
    raise not_a_list("cons", items) if items is None else wrong_type("cons", "a list", items, hint)


def _first(name: str) -> Callable[[Value], Value]:
    def run(items: Value) -> Value:
        kind = items.__class__
        if kind is View:
            return items.items[items.start]
        if kind is tuple and items:
            return items[0]
        if kind is Long:
            head = items.head
            return head[0] if head else items[0]
        raise _empty(name, items)

    return run


def _rest(name: str) -> Callable[[Value], Value]:
    def run(items: Value) -> Value:
        if items.__class__ in LISTS and items:
            return without_first(items)
        raise _empty(name, items)

    return run


car, first = _first("car"), _first("first")
cdr, rest = _rest("cdr"), _rest("rest")


def last(items: Value) -> Value:
    if type(items) is tuple and items:
        return items[-1]
    if type(items) in LONG:
        return items[len(items) - 1]
    raise _empty("last", items)


def _empty(name: str, items: Value) -> Fault:
    if type(items) is not tuple:
        return not_a_list(name, items)
    return Fault("empty-list", f"`{name}` of the empty list", hint="test with `(null? xs)` first")


def nth(items: Value, index: Value) -> Value:
    if type(items) is tuple and type(index) is int and 0 <= index < len(items):
        return items[index]
    found = items if type(items) in LONG else as_list("nth", items)
    at = whole("nth", "index", index)
    if at >= len(found):
        raise out_of_range(
            "nth",
            f"there is no item {abbreviate(index)} in a list of {len(found)}; the first is item 0",
            "`(get xs i default)` gives a default instead",
        )
    return found[at]


def length(items: Value) -> Value:
    if type(items) in LISTS:
        return len(items)
    raise not_a_list("length", items)


def append(items: Value = (), more: Value = (), *others: Value) -> Value:
    if items.__class__ is Long and more.__class__ is tuple and not others:
        tail = items.tail + more if len(more) <= CHUNK and items.middle.size < ROOM else ()
        if len(tail) > CHUNK:
            return with_tail(items, tail)
    lists = (items, more, *others)
    for each in lists:
        if each.__class__ not in LISTS:
            raise not_a_list("append", each)
    _check_size("append", sum(map(len, lists)))
    return join_lists(lists)


def reverse(items: Value) -> Value:
    return as_list("reverse", items)[::-1]


def make_range(start: Value, end: Value = MISSING, step: Value = 1) -> Value:
    if end is MISSING:
        start, end = 0, start
    check("range", start, end, step)
    if step == 0:
        raise out_of_range("range", "its step is 0")
    if type(start) is int and type(end) is int and type(step) is int:
        _check_size("range", _steps(start, end, step))
        return tuple(range(start, end, step))
    return _float_range(start, end, step)


def _steps(start: int, end: int, step: int) -> int:
    return max(0, -((start - end) // step))


def _float_range(start: Any, end: Any, step: Any) -> Value:
    if any(isnan(x) or isinf(x) for x in (start, end, step) if type(x) is float):
        raise out_of_range("range", "its bounds and step have to be finite")
    try:
        count = (end - start) / step
    except OverflowError:
        count = float("inf")
    if not count < LIST_ITEMS + 1:
        raise too_many_items("range", int(count) if not isinf(count) else LIST_ITEMS + 1)
    # The multiplication avoids an accumulated error of the steps.
    return tuple(start + at * step for at in range(ceil(max(count, 0))))


def take(items: Value, count: Value) -> Value:
    found = as_list("take", items) if type(items) is not View else items
    return found[0 : whole("take", "count", count)]


def drop(items: Value, count: Value) -> Value:
    found = items if type(items) in LONG else as_list("drop", items)
    return end_of(found, min(whole("drop", "count", count), len(found)))


def zip_lists(*lists: Value) -> Value:
    return tuple(zip(*(as_list("zip", items) for items in lists), strict=False))


def _search_items(name: str, items: Value) -> Iterable[Value]:
    """Return a list for a search. A long one counts as steps."""
    found = items if type(items) in LONG else as_list(name, items)
    if len(found) > SMALL:
        work(len(found))
    return found


def member(item: Value, items: Value) -> Value:
    if type(items) not in LISTS and type(item) in LISTS:
        raise wrong_type("member?", "a list second", items, "`(member? x xs)`")
    return any(equal(item, other) for other in _search_items("member?", items))


def assoc(key: Value, pairs: Value) -> Value:
    if isinstance(pairs, (dict, Record)):
        raise wrong_type("assoc", "a list of lists", pairs, "`(get t key)` looks in a table")
    for pair in _search_items("assoc", pairs):
        if type(pair) not in LISTS or not pair:
            raise wrong_type("assoc", "a list of `[key value …]` lists", pair)
        if equal(key, pair[0]):
            return pair
    return False


def index_of(items: Value, item: Value) -> Value:
    if type(items) in TEXTS and type(item) in TEXTS:
        raise wrong_type("index-of", "a list", items, "write `(string-index s part)` for a text")
    for at, other in enumerate(_search_items("index-of", items)):
        if equal(item, other):
            return at
    return None


def flatten(items: Value) -> Value:
    found = as_list("flatten", items)
    if _is_shallow(found):
        parts = [item if type(item) in LISTS else (item,) for item in found]
        return tuple(chain.from_iterable(parts))
    found = materialize(found)
    counts = _leaves(found)
    flat: list[Value] = []
    work = [iter(found)]
    walked = 0
    while work:
        for item in work[-1]:
            walked += 1
            if type(item) is not tuple:
                flat.append(item)
            elif counts[id(item)]:
                work.append(iter(item))
                break
        else:
            work.pop()
        # A few leaves may have very long paths, each walked once per leaf.
        if walked > LIST_ITEMS:
            raise too_many_items("flatten", walked)
    return tuple(flat)


def _is_shallow(items: tuple[Value, ...]) -> bool:
    """Return whether no nested list holds a list, and all together are short."""
    lists = [item for item in items if type(item) in LISTS]
    if len(items) + sum(map(len, lists)) > LIST_ITEMS:
        return False
    return all(LISTS.isdisjoint(map(type, item)) for item in lists)


def _leaves(items: tuple[Value, ...]) -> dict[int, int]:
    """Return the number of leaves of each list, by id. A shared list is counted once."""
    counts: dict[int, int] = {}
    work = [items]
    while work:
        lists = [item for item in work[-1] if type(item) is tuple]
        missing = [item for item in lists if id(item) not in counts]
        if missing:
            work.extend(missing)
            continue
        done = work.pop()
        count = len(done) - len(lists) + sum(counts[id(item)] for item in lists)
        _check_size("flatten", count)
        counts[id(done)] = count
    return counts


def distinct(items: Value) -> Value:
    """Return the first of each group of equal items, in order."""
    found = as_list("distinct", items)
    places = enumerate(firsts(found))
    return tuple([found[place] for place, first in places if place == first])
