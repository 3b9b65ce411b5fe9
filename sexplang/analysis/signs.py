"""Signs that a program may have a slip which gives a wrong value.

They are coarse and quick, and import little: a run without one does not load the slips.
"""

from collections.abc import Sequence
from typing import Any

from sexplang.analysis.own_nodes import nodes_in, own_units
from sexplang.terms import core
from sexplang.terms.program import Bind, Program
from sexplang.terms.values.value import Higher, Operation, Primitive, Task, symbol

TOTALS = frozenset(("acc", "accumulator", "accum", "memo"))
"""Names of parameters for what a fold gave so far."""

SHOWING = frozenset(("str", "print", "string-append", "log", "error"))
"""Functions that join or show texts, and fill nothing in."""

IDLE = frozenset(("sort", "sort-by", "group-by", "update"))
"""Functions with a function that are called only for their value."""

PLAIN = (core.Const, core.Local, core.Known, core.Lambda, core.MakeTable, core.Path)
"""The nodes without an effect."""

OPERATORS = frozenset(("+", "-", "*", "/", "<", ">", "=", "<=", ">=", "!="))
"""Functions that other languages write between their operands."""

PREDICATED = frozenset(
    [
        *("filter", "any?", "all?", "sort", "find", "find-index", "count", "partition"),
        *("take-while", "drop-while", "filter-table"),
    ]
)
"""Functions that ask a function for true or false."""

PAIRED = frozenset(("group-by", "frequencies"))
"""Functions that give a list of pairs, where other languages give a table."""

_RESULTS = {
    "number": (
        "length string-length string-count sum product mean median + - * / modulo remainder "
        "quotient abs min max round floor ceiling truncate exact inexact expt sqrt ln exp "
        "char->integer count now date-diff"
    ),
    "text": (
        "str string-append string-trim string-trim-left string-trim-right string-join substring "
        "string-upcase string-downcase string-capitalize string-replace string-reverse re-replace "
        "string-take string-drop string-take-right string-drop-right string-repeat string-ref "
        "string-pad-left string-pad-right format number->string symbol->string list->string "
        "integer->char json-string csv-string markdown-table iso-date iso-time format-date "
        "url-encode url-decode"
    ),
    "list": (
        "list append cons rest cdr keys values entries take drop take-right drop-right slice "
        "split-at distinct reverse range iota zip flatten enumerate frequencies chunk windows "
        "interpose delete make-list string-split string-lines string->list re-seq re-split "
        "csv-parse csv-rows map filter sort sort-by group-by flat-map filter-map map-indexed "
        "partition take-while drop-while par-map"
    ),
    "table": (
        "put put-in remove merge merge-with from-entries zipmap select-keys map-values map-keys "
        "filter-table index-by update update-in"
    ),
}

RESULT_KINDS = {name: kind for kind, names in _RESULTS.items() for name in names.split()}
"""The kind of what a function gives, by its name."""

_WATCHED = frozenset(
    [
        *("string-split", "string-replace", "string-contains?", "string-index", "string-count"),
        *("starts-with?", "ends-with?", "string-prefix?", "string-suffix?"),
        *("re-find", "re-matches", "re-seq", "re-split", "re-replace"),
    ]
)
"""Functions whose arguments may be swapped, or whose part may be meant as a pattern."""

_ASKING = frozenset(
    [
        *("<", ">", "=", "<=", ">=", "!=", "not", "get", "get-in", "assoc", "string->number"),
        *("index-of", "re-find", "re-matches", "identity", "string-index", "string-index-right"),
        *("get-field", "get-property", "json-parse", "first", "car", "last", "nth"),
    ]
)
"""Primitives whose value may be false or nil, besides those with a `?`."""


def has_signs(program: Program, nodes: list[Any]) -> bool:
    """Return whether a slip is possible. `nodes` are those of the program's own files."""
    empty: set[str] = set()
    for unit in own_units(program):
        last = len(unit.items) - 1 if unit.main else len(unit.items)
        for at, item in enumerate(unit.items):
            if not isinstance(item, Bind):
                if at < last and _is_idle(item):
                    return True
            elif _is_always_true(program, item.value):
                empty.add(item.name)
    for node in nodes:
        if type(node) is core.Let:
            pairs = zip(node.names, node.values, strict=False)
            empty.update([name for name, each in pairs if _is_always_true(program, each)])
    if any(_is_sign(program, node, empty) for node in nodes):
        return True
    if any(map(_gives_empty, nodes)) and any(map(_tests_name, nodes)):
        return True
    has_pairs = any(library_name(program, node) in PAIRED for node in nodes)
    return has_pairs and any(map(_reads_key, nodes))


def library_name(program: Program, node: Any) -> str:
    """Return the name of the function of the library that a node calls; empty for any other."""
    if type(node) is core.CallPrimitive:
        return node.primitive.name
    if type(node) is core.Call and type(node.callee) is core.Const:
        value = node.callee.value
        return value.name if isinstance(value, Higher) else ""
    index = -1
    if type(node) is core.CallKnown:
        index = node.function
    elif type(node) is core.Call and type(node.callee) is core.Known:
        index = node.callee.function
    if index < 0:
        return ""
    function = program.functions[index]
    is_library = function.span is not None and function.span.source.name.startswith("std/")
    return function.name if is_library else ""


def is_empty(value: Any) -> bool:
    """Return whether other languages take a value for false, and this one does not."""
    return value is not None and value is not False and value in (0, "", (), {})


def _is_always_true(program: Program, node: Any) -> bool:
    """Return whether a node is a value that other languages may take for false."""
    kind = type(node)
    if kind is core.Const:
        return is_empty(node.value)
    return kind is core.MakeTable or library_name(program, node) in RESULT_KINDS


def is_function(value: Any) -> bool:
    """Return whether a constant is a function of the library."""
    return isinstance(value, (Primitive, Higher))


def operator_between(before: Any, node: Any, after: Any) -> bool:
    """Return whether a node is an operator as a value, and its neighbours are no functions."""
    if type(node) is not core.Const or getattr(node.value, "name", "") not in OPERATORS:
        return False
    sides = [one.value if type(one) is core.Const else None for one in (before, after)]
    return is_function(node.value) and not any(is_function(one) for one in sides)


def has_pair(value: Any) -> bool:
    """Return whether a constant has a list of two values with a dot between; program text has it,
    too, for parameters."""
    work = [value] if type(value) is tuple else []
    found = False
    while work:
        items = work.pop()
        if items and getattr(items[0], "name", "") in ("define", "lambda", "define-syntax"):
            return False
        found = found or (len(items) == 3 and items[1] is _DOT)
        work += [each for each in items if type(each) is tuple]
    return found


_DOT = symbol(".")


def _is_sign(program: Program, node: Any, empty: set[str]) -> bool:
    kind = type(node)
    if kind is core.CallPrimitive:
        return _is_odd_call(program, node, node.primitive.name, empty)
    is_call = kind is core.CallKnown or kind is core.Call
    if is_call and library_name(program, node) in PREDICATED and _asks_value(program, node):
        return True
    if kind is core.Call:
        value = node.callee.value if type(node.callee) is core.Const else None
        return isinstance(value, (Operation, Higher, Task)) and _is_odd_use(program, node, value)
    if kind is core.If:
        return _is_odd_test(program, node.test, empty)
    if kind is core.And or kind is core.Or:
        return any(_is_odd_test(program, each, empty) for each in node.items[:-1])
    if kind is core.Clause:
        return node.operation == "error" and _names_itself(node)
    if kind is core.Const:
        return _is_odd_constant(node.value)
    if kind is core.Seq:
        return any(_is_idle(each) for each in node.items[:-1])
    if kind is core.Par or kind is core.Race:
        return len(node.branches) == 1
    if kind is core.Path:
        return any(field[-1:] in ("?", "!") for field in node.fields)
    return kind is core.Repeat and type(node.body) is core.Lambda


def _asks_value(program: Program, node: Any) -> bool:
    """Return whether a function that is asked for true or false may give a number, a text or a
    list."""
    for given in node.arguments[:2]:
        kind = type(given)
        if kind is core.Const:
            if getattr(given.value, "name", "") in _ASKED_ITEMS:
                return True
        elif kind is core.Lambda or kind is core.Known:
            body = program.functions[given.function].body
            while type(body) in (core.Let, core.Seq, core.If):
                body = body.body if type(body) is core.Let else _last_of(body)
            if type(body) is core.Const:
                if body.value not in (True, False, None):
                    return True
            elif type(body) is core.Local or library_name(program, body) in RESULT_KINDS:
                return True
    return False


_ASKED_ITEMS = frozenset((*RESULT_KINDS, "identity"))


def _last_of(node: Any) -> Any:
    return node.items[-1] if type(node) is core.Seq else node.then


def _names_itself(clause: core.Clause) -> bool:
    """Return whether the caught name is given to a function, or is the clause's value."""
    name = clause.params[0]
    for node in nodes_in([clause.body]):
        given = node.arguments if type(node) is core.CallPrimitive else ()
        if any(type(each) is core.Local and each.name == name for each in given):
            return True
    last = clause.body
    while type(last) in (core.Let, core.Seq, core.If):
        last = last.body if type(last) is core.Let else _last_of(last)
    return type(last) is core.Local and last.name == name


def _reads_key(node: Any) -> bool:
    return type(node) is core.CallPrimitive and node.primitive.name in ("get", "has-key?", "keys")


def _begins_with_name(text: str) -> bool:
    """Return whether a name and a brace begin the text behind a brace."""
    return "}" in text and text.lstrip()[:1].isalpha()


def _is_odd_constant(value: Any) -> bool:
    if has_pair(value):
        return True
    work = [value]
    while work:
        each = work.pop()
        if type(each) is str:
            if "{" in each and any(map(_begins_with_name, each.split("{")[1:])):
                return True
        elif type(each) is dict:
            work += each.values()
        elif type(each) is tuple:
            if _has_operator(each):
                return True
            work += each
    return False


def _is_odd_call(program: Program, node: core.CallPrimitive, name: str, empty: set[str]) -> bool:
    constants = [each.value for each in node.arguments if type(each) is core.Const]
    if name == "not":
        return any(_is_odd_test(program, each, empty) for each in node.arguments)
    if name in SHOWING or name == "format":
        return any(_has_marks(each) or is_function(each) for each in constants)
    if name == "string-join":
        return len(node.arguments) == 1
    if name == "list":
        return _has_operator(constants)
    if name in ("get", "has-key?", "put"):
        is_path = any(isinstance(each, str) and "." in each for each in constants)
        if is_path or type(node.arguments[-1]) is core.Lambda:
            return True
    if name in _WATCHED:
        return any(isinstance(each, str) for each in constants)
    is_number = [isinstance(each, int) and each < 0 for each in constants]
    return any(is_number) and name in ("get", "nth", "equal?", "=", "!=")


def _is_odd_use(program: Program, node: core.Call, value: Any) -> bool:
    name, given = value.name, node.arguments
    functions = [program.functions[each.function] for each in given if type(each) is core.Lambda]
    if name == "sort":
        return len(given) == 2 and type(given[1]) in (core.Lambda, core.Const)
    if name in ("fold", "reduce"):
        has_total = any(each.name in TOTALS for one in functions for each in one.params[1:])
        return has_total or any(type(each) is core.Const and each.value == () for each in given[2:])
    if name == "for-each":
        return any(type(one.body) in (core.Let, core.Seq, core.CallPrimitive) for one in functions)
    if name in SHOWING or isinstance(value, Task):
        values = [each.value for each in given if type(each) is core.Const]
        is_number = name == "log" and any(type(each) in (int, float) for each in values[:1])
        return is_number or any(_has_marks(each) or is_function(each) for each in values)
    return False


def _gives_empty(node: Any) -> bool:
    """Return whether a call of the program's own function has an argument, or a field of one, that
    other languages take for false."""
    kind = type(node)
    if kind is not core.CallKnown and (
        kind is not core.Call or type(node.callee) is not core.Known
    ):
        return False
    values = [each.value for each in node.arguments if type(each) is core.Const]
    values += [one for each in values if type(each) is dict for one in each.values()]
    return any(is_empty(each) for each in values)


def _tests_name(node: Any) -> bool:
    """Return whether the truth of a name or a field decides."""
    kind = type(node)
    if kind is core.If:
        return type(node.test) in _NAMED
    if kind is core.And or kind is core.Or:
        return any(type(each) in _NAMED for each in node.items[:-1])
    is_not = kind is core.CallPrimitive and node.primitive.name == "not"
    return is_not and any(type(each) in _NAMED for each in node.arguments)


_NAMED = (core.Local, core.Path)


def _has_operator(values: Sequence[Any]) -> bool:
    return any(is_function(each) and each.name in OPERATORS for each in values)


def _has_marks(value: Any) -> bool:
    return isinstance(value, str) and any(mark in value for mark in "{%~")


def _is_odd_test(program: Program, node: Any, empty: set[str]) -> bool:
    kind = type(node)
    if kind is core.Const:
        return is_empty(node.value) or is_function(node.value)
    if kind is core.Local:
        return node.name in empty
    if kind is not core.CallPrimitive:
        return library_name(program, node) in RESULT_KINDS
    name = node.primitive.name
    return name[-1] != "?" and name not in _ASKING


def _is_idle(node: Any) -> bool:
    """Return whether a node before the last may be there for its value."""
    if type(node) is core.If:
        return _is_idle(node.then) or _is_idle(node.otherwise)
    if type(node) is core.Call and type(node.callee) is core.Const:
        value = node.callee.value
        return isinstance(value, Task) or (isinstance(value, Higher) and value.name in IDLE)
    if isinstance(node, core.Const):
        return node.value is not None
    return isinstance(node, (*PLAIN, core.CallPrimitive))
