"""`map`, `filter`, `fold` and their kin: frames that go through a list.

Calling what needs no frame, a primitive or a function whose body is simple, is no turn of the
loop: it is done on up to `AT_ONCE` elements in one turn, and each of those calls counts as a step.
Otherwise there is a frame for each call, since whatever is called may be captured and resumed.
What has been collected is a linked list `(earlier, value)`: a frame is never changed.
"""

from collections.abc import Callable
from itertools import chain, repeat
from typing import Any, TypeAlias

from sexplang.machine.apply import Entry, apply
from sexplang.machine.collect import by_keys, grouped, items_of, unlink
from sexplang.machine.simple import at
from sexplang.machine.stack import Closure, Frame, Segment, Step
from sexplang.terms.allowance import charge, work
from sexplang.terms.brief import MOST
from sexplang.terms.sequences import View
from sexplang.terms.source import Span
from sexplang.terms.value import Fault, Primitive, Procedure, Value, truth

AT_ONCE = 4_096
"""How many elements are gone through in one turn of the loop at most."""

Rows: TypeAlias = tuple[Value, ...]
"""Elements; where a function is called on several lists, tuples of arguments."""


def direct(function: Value, count: int) -> Callable[..., Value] | None:
    """A Python function that does what calling `function` with `count` values does, where that
    needs no frame. Raises Fault for a primitive that does not take so many."""
    if type(function) is Primitive:
        if count < function.least or (function.most is not None and count > function.most):
            raise Fault("wrong-arity", f"`{function.name}` is called with {count} arguments here")
        return function.function
    pure = _pure(function, count)
    if pure is None:
        return None
    body, start = pure, (function.env,)
    return lambda *values: body(start + values)


def _pure(function: Value, count: int) -> Callable[[Any], Value] | None:
    """The body of a closure, as a function of the environment, if it is simple."""
    if type(function) is not Closure or function.code.size != count or not function.code.simple:
        return None
    return function.code.pure


# -- A value of each element ----------------------------------------------------------------------


def over(function: Value, count: int) -> Callable[[Rows], list[Value]] | None:
    """Rows to the values of calling `function` on each, where no call needs a frame."""
    body = _pure(function, count)
    if body is not None:
        env = function.env
        if count == 1:
            return lambda rows: [*map(body, zip(repeat(env), rows))]  # without code of Python's
        start = (env,)
        return lambda rows: [body(start + row) for row in rows]
    call = direct(function, count)
    if call is None:
        return None
    if count == 1:
        return lambda rows: [*map(call, rows)]
    return lambda rows: [call(*row) for row in rows]


def _each(
    function: Value,
    rows: Rows,
    count: int,
    finish: Any,
    extra: Any,
    k: Frame,
    s: Segment,
    span: Span | None,
) -> Step:
    """Calls `function` on each row in turn; `finish(results, extra)` goes to `k`."""
    if not rows:
        return k[0], finish((), extra), k, s
    calls = over(function, count)
    if calls is None:
        return _call(rows[0], (_next, k, function, rows, 1, None, count, finish, extra), s)
    charge(len(rows))
    if len(rows) > AT_ONCE:
        return _some, None, (_some, k, function, rows, 0, None, count, finish, extra, span), s
    work(len(rows))
    return k[0], finish(tuple(calls(rows)), extra), k, s


def _some(_: Value, k: Frame, s: Segment) -> Step:
    """The next of many rows."""
    _, below, function, rows, start, parts, count, finish, extra, span = k
    calls = over(function, count)
    assert calls is not None
    chunk = rows[start : start + AT_ONCE]
    work(len(chunk))
    try:
        parts = (parts, calls(chunk))
    except Fault as fault:
        raise at(fault, span) from None
    start += len(chunk)
    if start < len(rows):
        return _some, None, (_some, below, *k[2:4], start, parts, *k[6:]), s
    results = tuple(chain.from_iterable(unlink(parts, -(-start // AT_ONCE))))
    return below[0], finish(results, extra), below, s


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
        return _each(function, rows, len(lists), finish, None, k, s, span)

    return entry


def _on_items(name: str, finish: Any) -> Entry:
    def entry(arguments: tuple[Value, ...], k: Frame, s: Segment, span: Span | None) -> Step:
        items = items_of(name, arguments[1])
        return _each(arguments[0], items, 1, finish, (items, span), k, s, span)

    return entry


def _same(results: tuple[Value, ...], _: Any) -> Value:
    return results


def _nothing(results: tuple[Value, ...], _: Any) -> Value:
    return None


def _kept(results: tuple[Value, ...], extra: Any) -> Value:
    pairs = zip(extra[0], results, strict=True)
    return tuple([item for item, keep in pairs if keep is not False and keep is not None])


# -- Folding and searching ------------------------------------------------------------------------


def _fold(name: str) -> Entry:
    def entry(arguments: tuple[Value, ...], k: Frame, s: Segment, span: Span | None) -> Step:
        function, value, items = arguments
        is_threaded = type(function) is tuple and isinstance(value, Procedure)
        items = items_of(name, value if is_threaded else items)  # the hint is about the function
        if direct(function, 2) is not None:
            return _fold_some(value, (_fold_some, k, function, items, 0, span), s)
        return _fold_next(value, (_fold_next, k, function, items, 0), s)

    return entry


def _fold_some(value: Value, k: Frame, s: Segment) -> Step:
    _, below, function, items, start, span = k
    chunk = items[start : start + AT_ONCE]
    work(len(chunk))
    body = _pure(function, 2)
    try:
        if body is not None:
            env = function.env
            for item in chunk:
                value = body((env, value, item))
        else:
            call = function.function
            for item in chunk:
                value = call(value, item)
    except Fault as fault:
        raise at(fault, span) from None
    start += len(chunk)
    if start == len(items):
        return below[0], value, below, s
    return _fold_some, value, (_fold_some, below, function, items, start, span), s


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
            return _seek_some(None, (_seek_some, k, function, items, 0, wanted, span), s)
        return apply(function, items[0:1], (_seek_next, k, function, items, 1, wanted), s)

    return entry


def _seek_some(_: Value, k: Frame, s: Segment) -> Step:
    _, below, function, items, start, wanted, span = k
    call = direct(function, 1)
    assert call is not None
    count = 0
    try:
        for item in items[start : start + AT_ONCE]:
            count += 1
            if truth(call(item)) is wanted:
                return below[0], wanted, below, s
    except Fault as fault:
        raise at(fault, span) from None
    finally:
        work(count)
    start += count
    if start == len(items):
        return below[0], not wanted, below, s
    return _seek_some, None, (_seek_some, below, function, items, start, wanted, span), s


def _seek_next(value: Value, k: Frame, s: Segment) -> Step:
    _, below, function, items, start, wanted = k
    if truth(value) is wanted or start == len(items):
        return below[0], truth(value), below, s
    frame = (_seek_next, below, function, items, start + 1, wanted)
    return apply(function, (items[start],), frame, s)


def walked(frame: Frame) -> tuple[str, Value] | None:
    """What a `map` or a `fold` of the program has come to which waits in a frame, and a name for
    it."""
    if frame[0] is _next and frame[7] is _same and frame[4] > 1:
        return "map", unlink(frame[5], frame[4] - 1)[:MOST]
    if frame[0] is _fold_next and len(frame) > 5:
        function = frame[2]
        is_library = type(function) is Closure and function.code.is_library
        return None if is_library else ("fold", frame[5])
    return None


WALKS: tuple[tuple[str, int, int | None, Entry, str], ...] = (
    (
        "map",
        2,
        None,
        _on_lists("map", _same),
        "(map f xs …): f of each element, to the shortest list",
    ),
    (
        "for-each",
        2,
        None,
        _on_lists("for-each", _nothing),
        "(for-each f xs …): f of each element; nil",
    ),
    ("filter", 2, 2, _on_items("filter", _kept), "(filter p xs): the elements for which p holds"),
    ("group-by", 2, 2, _on_items("group-by", grouped), "(group-by f xs): list of [key items]"),
    ("sort-by", 2, 2, _on_items("sort-by", by_keys), "(sort-by f xs): by f of each, stable"),
    ("fold", 3, 3, _fold("fold"), "(fold f init xs): calls (f acc x) from the left"),
    ("reduce", 3, 3, _fold("reduce"), "(reduce f init xs): calls (f acc x) from the left"),
    ("any?", 2, 2, _seek("any?", True), "(any? p xs): whether p holds for some element"),
    ("all?", 2, 2, _seek("all?", False), "(all? p xs): whether p holds for every element"),
)
"""Names, how many arguments they take, what they do, and what they are for."""
