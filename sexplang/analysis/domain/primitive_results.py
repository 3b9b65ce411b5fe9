"""The abstract results of primitives, by name.

The table covers lists, their sizes and numbers that may be counts. For any other primitive the
result is a value made of the arguments.
"""

from collections.abc import Callable as PythonCallable

from sexplang.analysis.domain.bounds import (
    ZERO,
    Atom,
    Bound,
    add,
    atom,
    maximum,
    multiply,
    no_bound,
    number,
    shorter,
)
from sexplang.analysis.domain.typed_values import find_typed, part_of_typed
from sexplang.analysis.domain.values import (
    DATA,
    NO_COUNT,
    Abstract,
    Closure,
    Constant,
    Free,
    Resume,
    SizedList,
    Symbolic,
    Table,
    Typed,
    UpperBound,
    Values,
    count_of,
    upper,
)
from sexplang.terms.source import Span

NO_SIZE = "nothing bounds the length of this list"

Result = PythonCallable[[Values, tuple[Abstract, ...], Span], Abstract]


def result_of(values: Values, name: str, arguments: tuple[Abstract, ...], span: Span) -> Abstract:
    """Return the abstract result of a primitive."""
    made = RESULTS.get(name)
    if made is not None:
        return made(values, arguments, span)
    return DATA if name in _DATA else values.within(arguments)


def size_of(value: Abstract, span: Span) -> Bound:
    """Return the greatest number of items of a list."""
    if isinstance(value, SizedList):
        return value.size
    if isinstance(value, Free):
        return atom(Atom(value.input, value.fields, "len"), span)
    if isinstance(value, (Constant, Table, UpperBound, Closure, Resume)):
        return number(0)
    return no_bound(NO_SIZE, span)


def least_of(value: Abstract) -> int:
    """Return the least number of items of a list."""
    return value.least if isinstance(value, SizedList) else 0


def item_of(values: Values, value: Abstract) -> Abstract:
    """Return the join of a list's items."""
    if isinstance(value, SizedList):
        return value.item
    typed = find_typed(values, value)
    return values.within((value,)) if typed is None else part_of_typed(values, typed, None)


def part_of(values: Values, value: Abstract, key: str) -> Abstract:
    """Return the abstract value of a table's field."""
    if isinstance(value, Table):
        return dict(value.fields).get(key, DATA)
    if isinstance(value, Symbolic):
        return values.make(Symbolic, value.declared, (*value.fields, key))  # type: ignore[no-any-return]
    if isinstance(value, Typed):
        return part_of_typed(values, value, key)
    return values.within((value,))


def _list(values: Values, arguments: tuple[Abstract, ...], span: Span) -> Abstract:
    return values.list_of(list(arguments))


def _same(values: Values, arguments: tuple[Abstract, ...], span: Span) -> Abstract:
    """A list of the same items: as long, or shorter."""
    return _list_of(values, size_of(arguments[0], span), arguments[0])


def _list_of(values: Values, size: Bound, *lists: Abstract) -> Abstract:
    item = item_of(values, lists[0])
    for one in lists[1:]:
        item = values.join(item, item_of(values, one))
    return values.list_of_size(size, item)


def _item(values: Values, arguments: tuple[Abstract, ...], span: Span) -> Abstract:
    return item_of(values, arguments[0])


def _cons(values: Values, arguments: tuple[Abstract, ...], span: Span) -> Abstract:
    size = size_of(arguments[1], span)
    item = arguments[0]
    if not size.is_zero:
        item = values.join(item, item_of(values, arguments[1]))
    return values.list_of_size(add(number(1), size), item, least=1 + least_of(arguments[1]))


def _append(values: Values, arguments: tuple[Abstract, ...], span: Span) -> Abstract:
    whole: Abstract = values.list_of_size(ZERO, DATA)
    for one in arguments:
        size = add(size_of(whole, span), size_of(one, span))
        if size_of(whole, span).is_zero:
            whole = values.list_of_size(size, item_of(values, one))
        else:
            whole = _list_of(values, size, whole, one)
    return values.list_of_size(
        size_of(whole, span), item_of(values, whole), least=sum(map(least_of, arguments))
    )


def _take(values: Values, arguments: tuple[Abstract, ...], span: Span) -> Abstract:
    size = shorter(size_of(arguments[0], span), count_of(arguments[1], span))
    return _list_of(values, size, arguments[0])


def _drop(values: Values, arguments: tuple[Abstract, ...], span: Span) -> Abstract:
    size, dropped = size_of(arguments[0], span), arguments[1]
    if size.constant is not None and isinstance(dropped, Constant) and type(dropped.value) is int:
        size = number(size.constant - max(dropped.value, 0))
        least = max(0, least_of(arguments[0]) - max(dropped.value, 0))
        return values.list_of_size(size, item_of(values, arguments[0]), least=least)
    return _list_of(values, size, arguments[0])


def _rest(values: Values, arguments: tuple[Abstract, ...], span: Span) -> Abstract:
    return _drop(values, (arguments[0], values.constant(1)), span)


def _zip(values: Values, arguments: tuple[Abstract, ...], span: Span) -> Abstract:
    size = no_bound(NO_SIZE, span)
    for one in arguments:
        size = shorter(size, size_of(one, span))
    return values.list_of_size(size, values.within(arguments))


def _range(values: Values, arguments: tuple[Abstract, ...], span: Span) -> Abstract:
    if len(arguments) == 1:
        return values.list_of_size(count_of(arguments[0], span), DATA)
    numbers = [one.value for one in arguments if isinstance(one, Constant)]
    if len(numbers) == len(arguments) and all(type(one) is int for one in numbers):
        start, end, step = (*numbers, 1)[:3]
        return values.list_of_size(number(_steps(start, end, step)), DATA)
    first = numbers[0] if isinstance(arguments[0], Constant) else None
    if len(arguments) == 2 and type(first) is int and first >= 0:
        return values.list_of_size(count_of(arguments[1], span), DATA)
    return DATA


def _steps(start: int, end: int, step: int) -> int:
    """Return the number of elements of a range. A step of 0 is an error at run time."""
    return max(0, -((start - end) // step)) if step else 0


def _keys(values: Values, arguments: tuple[Abstract, ...], span: Span) -> Abstract:
    table = arguments[0]
    if isinstance(table, Table):
        return values.list_of_size(number(len(table.fields)), DATA)
    return DATA if not isinstance(table, Symbolic) else _same(values, arguments, span)


def _values(values: Values, arguments: tuple[Abstract, ...], span: Span) -> Abstract:
    table = arguments[0]
    if isinstance(table, Symbolic):
        return _same(values, arguments, span)
    inside = values.within(arguments)
    return (
        _list_of(values, number(len(table.fields)), inside) if isinstance(table, Table) else inside
    )


def _length(values: Values, arguments: tuple[Abstract, ...], span: Span) -> Abstract:
    return upper(values, size_of(arguments[0], span))


def _string_length(values: Values, arguments: tuple[Abstract, ...], span: Span) -> Abstract:
    only = arguments[0]
    if isinstance(only, Constant) and isinstance(only.value, str):
        return values.constant(len(only.value))
    return DATA


def _get(values: Values, arguments: tuple[Abstract, ...], span: Span) -> Abstract:
    """`(get x key default)`"""
    key = arguments[1]
    if len(arguments) == 2 and isinstance(key, Constant) and key.value is not None:
        name = getattr(key.value, "name", key.value)
        if isinstance(name, str) and isinstance(arguments[0], (Table, Symbolic, Typed)):
            return part_of(values, arguments[0], name)
    return values.within((arguments[0], *arguments[2:]))


def _get_in(values: Values, arguments: tuple[Abstract, ...], span: Span) -> Abstract:
    """`(get-in x [k…] default)`"""
    found, keys = arguments[:2]
    if len(arguments) > 2 or not isinstance(keys, SizedList) or keys.words is None:
        return values.within((found, *arguments[2:]))
    for key in keys.words:
        found = part_of(values, found, key)
    return found


def _merge(values: Values, arguments: tuple[Abstract, ...], span: Span) -> Abstract:
    """`(merge t…)`: right wins."""
    tables = [dict(one.fields) for one in arguments if isinstance(one, Table)]
    if len(tables) < len(arguments):
        return values.within(arguments)
    return values.table({key: value for table in tables for key, value in table.items()})


def _put(values: Values, arguments: tuple[Abstract, ...], span: Span) -> Abstract:
    table, key, value = arguments
    if isinstance(table, Table) and isinstance(key, Constant):
        name = getattr(key.value, "name", key.value)
        if isinstance(name, str):
            return values.table({**dict(table.fields), name: value})
    return values.within(arguments)


def _identity(values: Values, arguments: tuple[Abstract, ...], span: Span) -> Abstract:
    return arguments[0]


def _add(values: Values, arguments: tuple[Abstract, ...], span: Span) -> Abstract:
    exact = [one.value for one in arguments if isinstance(one, Constant)]
    if len(exact) == len(arguments) and all(type(one) is int for one in exact):
        return values.constant(sum(exact))
    total = ZERO
    for one in arguments:
        total = add(total, count_of(one, span))
    return upper(values, total)


def _subtract(values: Values, arguments: tuple[Abstract, ...], span: Span) -> Abstract:
    exact = [one.value for one in arguments if isinstance(one, Constant)]
    if all(type(one) is int for one in exact) and len(arguments) == 2:
        if len(exact) == 2:
            return values.constant(exact[0] - exact[1])
        if isinstance(arguments[1], Constant) and exact[0] >= 0:
            return upper(values, count_of(arguments[0], span))
    return DATA


def _multiply(values: Values, arguments: tuple[Abstract, ...], span: Span) -> Abstract:
    if len(arguments) != 2:
        return DATA
    left, right = arguments
    if isinstance(right, Constant):
        left, right = right, left
    if not isinstance(left, Constant) or type(left.value) is not int:
        return DATA
    if isinstance(right, Constant):
        return values.constant(left.value * right.value) if type(right.value) is int else DATA
    if left.value < 0:
        return DATA
    return upper(values, multiply(count_of(right, span), number(left.value)))


def _divide(values: Values, arguments: tuple[Abstract, ...], span: Span) -> Abstract:
    """`(quotient a b)`: at most a, if b is positive."""
    if len(arguments) != 2:
        return DATA
    left, right = arguments
    if not isinstance(right, Constant) or type(right.value) is not int or right.value == 0:
        return DATA
    if isinstance(left, Constant) and type(left.value) is int:
        size = abs(left.value) // abs(right.value)
        return values.constant(size if (left.value < 0) == (right.value < 0) else -size)
    return upper(values, count_of(left, span)) if right.value > 0 else DATA


def _least(values: Values, arguments: tuple[Abstract, ...], span: Span) -> Abstract:
    bound = no_bound(NO_COUNT, span)
    for one in arguments:
        bound = shorter(bound, count_of(one, span))
    return upper(values, bound)


def _greatest(values: Values, arguments: tuple[Abstract, ...], span: Span) -> Abstract:
    bound = ZERO
    for one in arguments:
        bound = maximum(bound, count_of(one, span))
    return upper(values, bound)


def _split(values: Values, arguments: tuple[Abstract, ...], span: Span) -> Abstract:
    """`(string-split text separator)`: at most one piece more than there are characters."""
    text, separator = arguments[0], arguments[1] if len(arguments) > 1 else None
    if isinstance(text, Constant) and isinstance(text.value, str):
        between = separator.value if isinstance(separator, Constant) else None
        is_known = isinstance(between, str) and between != ""
        most = text.value.count(str(between)) if is_known else len(text.value)
        return values.list_of_size(number(most + 1), DATA)
    if isinstance(text, Free):
        return values.list_of_size(add(size_of(text, span), number(1)), DATA)
    return DATA


def _as_many(values: Values, arguments: tuple[Abstract, ...], span: Span) -> Abstract:
    """A list of lists made of the items: as long, or shorter."""
    return values.list_of_size(size_of(arguments[0], span), values.within(arguments[:1]))


def _count_first(values: Values, arguments: tuple[Abstract, ...], span: Span) -> Abstract:
    return values.list_of_size(count_of(arguments[0], span), DATA)


RESULTS: dict[str, Result] = {
    "list": _list,
    "reverse": _same,
    "distinct": _same,
    "first": _item,
    "car": _item,
    "last": _item,
    "nth": _item,
    "rest": _rest,
    "cdr": _rest,
    "cons": _cons,
    "append": _append,
    "take": _take,
    "drop": _drop,
    "zip": _zip,
    "range": _range,
    "keys": _keys,
    "values": _values,
    "length": _length,
    "string-length": _string_length,
    "string-split": _split,
    "+": _add,
    "-": _subtract,
    "*": _multiply,
    "quotient": _divide,
    "min": _least,
    "max": _greatest,
    "get": _get,
    "get-field": _get,
    "get-property": _get,
    "get-in": _get_in,
    "merge": _merge,
    "put": _put,
    "identity": _identity,
    **dict.fromkeys(["second", "third"], _item),
    "take-right": _take,
    **dict.fromkeys(["drop-right", "slice"], _same),
    "delete": lambda values, arguments, span: _same(values, arguments[1:], span),
    **dict.fromkeys(["chunk", "windows", "enumerate", "frequencies"], _as_many),
    **dict.fromkeys(["make-list", "iota"], _count_first),
    "entries": _values,
}

_DATA = frozenset(
    [
        *("str", "format", "equal?", "not", "procedure?", "task?", "list?", "index-of"),
        *("sum", "product", "mean", "median", "csv-string", "format-date", "parse-date"),
        "markdown-table",
    ]
)
"""Primitives whose result holds no function, even if an argument holds one."""
