"""`map`, `filter`, `fold` and their kin: frames that go through a list.

Each element is a step. A function that needs no frame, a primitive or a simple closure, is called
on many elements in one turn of the loop. Any other call has a frame, since it may be captured and
resumed. Collected results are a linked list `(earlier, value)`: a frame never changes.
"""

from collections.abc import Callable, Iterator
from itertools import chain, repeat, starmap
from typing import Any, TypeAlias

from sexplang.machine.code.application import Entry, apply, arity_fault
from sexplang.machine.code.simple import add_call, locate
from sexplang.machine.stack import Closure, Frame, Segment, Step
from sexplang.terms.form import source_name
from sexplang.terms.quota import SMALL, account, charge
from sexplang.terms.source import Span
from sexplang.terms.values.abbreviation import MOST, abbreviate
from sexplang.terms.values.equality import firsts
from sexplang.terms.values.rope import TEXTS
from sexplang.terms.values.sequences import LONG, View, whole_list
from sexplang.terms.values.value import Fault, Primitive, Procedure, Value, truth


def items_of(name: str, value: Value) -> tuple[Value, ...]:
    """Return the list given to `name` as a tuple. Raises Fault `wrong-type`."""
    if type(value) is tuple:
        return value
    if type(value) in LONG:
        return whole_list(value)
    hint = "`keys`, `values` and `string-split` give lists"
    if name in _FIRST:
        hint = f"write `({name} {_FIRST[name]})`"
    elif type(value) in TEXTS:
        hint = "`(string->list s)` gives the characters, `(string-lines s)` the lines of a text"
    elif isinstance(value, dict):
        hint = "`(entries t)` gives the `[key value]` pairs of a table, `keys` and `values` either"
        if name == "filter":
            hint = "write `(filter-table p t)`, p of a key and a value"
    elif type(value) is int:
        hint += "; `(range n)` gives the numbers from 0 to below n"
    if isinstance(value, Procedure):
        hint = f"the function comes first: `({name} {_FIRST.get(name, 'f xs')})`"
        hint = "the function comes last: `(sort xs f)`" if name == "sort" else hint
    raise Fault("wrong-type", f"`{name}` goes through a list, not {abbreviate(value)}", hint=hint)


_FIRST = {"fold": "f init xs", "reduce": "f init xs", "apply": "f x … xs"}
"""The usage of functions that take more than a function and a list."""


def unlink(collected: Any, count: int) -> tuple[Value, ...]:
    """Return the values of a linked list, oldest first."""
    values: list[Value] = [None] * count
    for at in range(count - 1, -1, -1):
        collected, values[at] = collected
    return tuple(values)


def iterate_chain(collected: Any) -> Iterator[Value]:
    """Return an iterator of the values of a linked list of lists, oldest first."""
    found = []
    while collected is not None:
        collected, chunk = collected
        found.append(chunk)
    return chain.from_iterable(reversed(found))


def group(results: tuple[Value, ...], extra: Any) -> Value:
    """Return the items in groups of equal results, ordered by the first of each."""
    groups: dict[int, list[Value]] = {}
    for first, item in zip(firsts(results), extra[0], strict=True):
        groups.setdefault(first, []).append(item)
    return tuple([(results[first], tuple(members)) for first, members in groups.items()])


# -- Walks ----------------------------------------------------------------------------------------

Rows: TypeAlias = tuple[Value, ...]
"""Elements; tuples of arguments where a function is called on several lists."""


def direct(function: Value, count: int) -> Callable[..., Value] | None:
    """Return a Python function that does the same as calling `function` with `count` values, or
    None if the call needs a frame. Raises Fault for a primitive of another arity."""
    if type(function) is Primitive:
        if count < function.least or (function.most is not None and count > function.most):
            raise arity_fault(function, count)
        return function.function
    pure = _pure(function, count)
    if pure is None:
        return None
    body, start = pure, (function.env,)
    return lambda *values: body(start + values)


def add_caller(fault: Fault, function: Value, span: Span | None) -> Fault:
    """Return the fault of a call of `function` at `span`."""
    return locate(add_call(fault, function.code) if type(function) is Closure else fault, span)


def _pure(function: Value, count: int) -> Callable[[Any], Value] | None:
    """Return the body of a simple closure as a function of the environment, else None."""
    if type(function) is not Closure or function.code.size != count or not function.code.simple:
        return None
    return function.code.pure


# -- A value of each element ----------------------------------------------------------------------


def over(function: Value, count: int) -> Callable[[Any], Any] | None:
    """Return a function from rows to the results of `function` on each, where no call needs a
    frame. It runs no Python code for each row."""
    body = _pure(function, count)
    if body is not None:
        env = function.env
        if count == 1:
            return lambda rows: map(body, zip(repeat(env), rows))
        return lambda rows: map(body, map((env,).__add__, rows))
    call = direct(function, count)
    if call is None:
        return None
    return lambda rows: map(call, rows) if count == 1 else starmap(call, rows)


def each(
    function: Value,
    rows: Rows,
    count: int,
    finish: Any,
    extra: Any,
    k: Frame,
    s: Segment,
    span: Span | None,
) -> Step:
    """Call `function` on each row in turn; `finish(results, extra)` goes to `k`."""
    if not rows:
        return k[0], finish((), extra), k, s
    if count == 1 and type(function) is Closure and None in function.code.defaults[1:]:
        second = function.code.names[1 + function.code.defaults[1:].index(None)]
        title = (
            f"`{function.code.name}` needs `{source_name(second)}`, and the call does not give it"
        )
        hint = (
            "each call gives one item: `(map-indexed (lambda (i x) …) xs)` gives its place, too; "
            "`(enumerate xs)` has `[i x]` pairs, and `(lambda ([i x]) …)` takes one apart"
        )
        raise locate(Fault("wrong-arity", title, hint=hint), span)
    calls = over(function, count)
    if calls is None:
        return _call(rows[0], (_next, k, function, rows, 1, None, count, finish, extra), s)
    charge(len(rows))
    start, parts = 0, None
    if len(rows) <= SMALL:
        counted = account()
        try:
            made = tuple(calls(counted.walk(rows, 0)))
        except Fault as fault:
            raise add_caller(fault, function, span) from None
        finally:
            start = counted.count_walked(0)
        if start == len(rows):
            return k[0], finish(made, extra), k, s
        parts = None, made
    return _some, None, (_some_more, k, function, rows, start, parts, count, finish, extra, span), s


def _some(_: Value, k: Frame, s: Segment) -> Step:
    """Go through the next rows."""
    _, below, function, rows, start, parts, count, finish, extra, span = k
    calls = over(function, count)
    assert calls is not None
    counted = account()
    try:
        made = [*calls(counted.walk(rows, start))]
    except Fault as fault:
        raise add_caller(fault, function, span) from None
    finally:
        start += counted.count_walked()
    if start < len(rows):
        return _some, None, (_some_more, below, *k[2:4], start, (parts, made), *k[6:]), s
    results = tuple(made if parts is None else chain(iterate_chain(parts), made))
    return below[0], finish(results, extra), below, s


def _some_more(_: Value, k: Frame, s: Segment) -> Step:
    """Resume the frame of a walk. A walk through rows is a step, and no value comes back."""
    return _some, None, k, s


def _next(value: Value, k: Frame, s: Segment) -> Step:
    _, below, function, rows, start, collected, count, finish, extra = k
    collected = (collected, value)
    if start == len(rows):
        charge(start)
        return below[0], finish(unlink(collected, start), extra), below, s
    frame = (_next, below, function, rows, start + 1, collected, count, finish, extra)
    return _call(rows[start], frame, s)


def _call(row: Any, frame: Frame, s: Segment) -> Step:
    return apply(frame[2], (row,) if frame[6] == 1 else row, frame, s)


def _on_lists(name: str, finish: Any) -> Entry:
    def entry(arguments: tuple[Value, ...], k: Frame, s: Segment, span: Span | None) -> Step:
        function, *lists = arguments
        rows = items_of(name, lists[0])
        if len(lists) > 1:
            rows = tuple(zip(*[items_of(name, value) for value in lists], strict=False))
        return each(function, rows, len(lists), finish, None, k, s, span)

    return entry


def _on_items(name: str, finish: Any) -> Entry:
    def entry(arguments: tuple[Value, ...], k: Frame, s: Segment, span: Span | None) -> Step:
        items = items_of(name, arguments[1])
        return each(arguments[0], items, 1, finish, (items, span), k, s, span)

    return entry


def same(results: tuple[Value, ...], _: Any) -> Value:
    return results


def _nothing(results: tuple[Value, ...], _: Any) -> Value:
    return None


def _keep(results: tuple[Value, ...], extra: Any) -> Value:
    pairs = zip(extra[0], results, strict=True)
    return tuple([item for item, keep in pairs if keep is not False and keep is not None])


# -- Folding and searching ------------------------------------------------------------------------


def _fold(name: str) -> Entry:
    def entry(arguments: tuple[Value, ...], k: Frame, s: Segment, span: Span | None) -> Step:
        function, value, items = arguments
        is_threaded = type(function) is tuple and isinstance(value, Procedure)
        items = items_of(name, value if is_threaded else items)  # the hint is about the function
        if direct(function, 2) is not None and items:
            return _fold_some, value, (_fold_more, k, function, items, 0, span), s
        return _fold_next(value, (_fold_next, k, function, items, 0), s)

    return entry


def _fold_some(value: Value, k: Frame, s: Segment) -> Step:
    _, below, function, items, start, span = k
    counted, body = account(), _pure(function, 2)
    walk = counted.walk(items, start)
    try:
        if body is not None:
            env = function.env
            for item in walk:
                value = body((env, value, item))
        else:
            call = function.function
            for item in walk:
                value = call(value, item)
    except Fault as fault:
        raise add_caller(fault, function, span) from None
    finally:
        start += counted.count_walked()
    if start == len(items):
        return below[0], value, below, s
    return _fold_some, value, (_fold_more, below, function, items, start, span), s


def _fold_more(value: Value, k: Frame, s: Segment) -> Step:
    return _fold_some, value, k, s


def _fold_next(value: Value, k: Frame, s: Segment) -> Step:
    _, below, function, items, start = k[:5]
    if start == len(items):
        return below[0], value, below, s
    frame = (_fold_next, below, function, items, start + 1, value)
    return apply(function, (value, items[start]), frame, s)


def _seek(name: str, wanted: bool) -> Entry:
    def entry(arguments: tuple[Value, ...], k: Frame, s: Segment, span: Span | None) -> Step:
        function, items = arguments
        items = items if type(items) is View else items_of(name, items)
        if not items:
            return k[0], not wanted, k, s
        if direct(function, 1) is not None:
            return _seek_some, None, (_seek_more, k, function, items, 0, wanted, span), s
        return apply(function, items[0:1], (_seek_next, k, function, items, 1, wanted), s)

    return entry


def _seek_some(_: Value, k: Frame, s: Segment) -> Step:
    _, below, function, items, start, wanted, span = k
    call = direct(function, 1)
    assert call is not None
    counted = account()
    try:
        for item in counted.walk(items, start):
            if truth(call(item)) is wanted:
                return below[0], wanted, below, s
    except Fault as fault:
        raise add_caller(fault, function, span) from None
    finally:
        start += counted.count_walked()
    if start == len(items):
        return below[0], not wanted, below, s
    return _seek_some, None, (_seek_more, below, function, items, start, wanted, span), s


def _seek_more(_: Value, k: Frame, s: Segment) -> Step:
    return _seek_some, None, k, s


def _seek_next(value: Value, k: Frame, s: Segment) -> Step:
    _, below, function, items, start, wanted = k
    if truth(value) is wanted or start == len(items):
        return below[0], truth(value), below, s
    frame = (_seek_next, below, function, items, start + 1, wanted)
    return apply(function, (items[start],), frame, s)


def partial_result(frame: Frame) -> tuple[str, Value] | None:
    """Return a name and the result so far of a `map` or `fold` of the program that waits in a
    frame."""
    if frame[0] is _next and frame[7] is same and frame[4] > 1:
        return "map", unlink(frame[5], frame[4] - 1)[:MOST]
    if frame[0] is _fold_next and len(frame) > 5:
        function = frame[2]
        is_library = type(function) is Closure and function.code.is_library
        return None if is_library else ("fold", frame[5])
    return None


Row: TypeAlias = tuple[str, int, int | None, Entry, str, str]
"""A name, its least and most arguments, its entry, its parameters as in `f xs …`, and its doc."""

WALKS: tuple[Row, ...] = (
    (
        "map",
        2,
        None,
        _on_lists("map", same),
        "f xs …",
        "f of each element, to the shortest list.",
    ),
    (
        "for-each",
        2,
        None,
        _on_lists("for-each", _nothing),
        "f xs …",
        "f of each element; nil.",
    ),
    ("filter", 2, 2, _on_items("filter", _keep), "p xs", "The elements for which p holds."),
    ("group-by", 2, 2, _on_items("group-by", group), "f xs", "List of [key items]."),
    ("fold", 3, 3, _fold("fold"), "f init xs", "Calls (f acc x) from the left."),
    ("reduce", 3, 3, _fold("reduce"), "f init xs", "Calls (f acc x) from the left."),
    ("any?", 2, 2, _seek("any?", True), "p xs", "Whether p holds for some element."),
    ("all?", 2, 2, _seek("all?", False), "p xs", "Whether p holds for every element."),
)
