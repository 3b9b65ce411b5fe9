"""Kinds of abstract values, and the kinds that functions take."""

from typing import Any

from sexplang.analysis.domain.typed_values import schema_of
from sexplang.analysis.domain.values import (
    Abstract,
    Closure,
    Constant,
    Result,
    Resume,
    Table,
    Typed,
)
from sexplang.schemas.type_parts import kind_of_type
from sexplang.terms.core import CallPrimitive, Const
from sexplang.terms.values.value import Procedure, Symbol

Kinds = frozenset[str]

# An answer of unknown type may be any value but a function.
LIST: Kinds = frozenset(["list", "answer"])
TEXT: Kinds = frozenset(["text", "result", "answer"])
NUMBER: Kinds = frozenset(["number", "answer"])
TABLE: Kinds = frozenset(["table", "result", "answer"])
FUNCTION: Kinds = frozenset(["function"])
# A function without parameters. A call in its place is performed before the function that takes it.
THUNK: Kinds = frozenset(["function", "thunk"])
RESULT: Kinds = frozenset(["result"])
KEY: Kinds = frozenset(["text", "symbol", "answer"])
SAID: Kinds = frozenset(["text", "list", "answer"])
PLACE = KEY | NUMBER
HELD = TABLE | LIST | {"nil"}
ANY_KIND: Kinds = LIST | TEXT | NUMBER | TABLE | FUNCTION | KEY | {"nil", "boolean"}

WORDS: dict[Kinds, str] = {
    LIST: "a list",
    TEXT: "a text",
    NUMBER: "a number",
    TABLE: "a table",
    FUNCTION: "a function",
    THUNK: "a function",
    RESULT: "a TaskResult",
    KEY: "a string or a symbol as a key",
    SAID: "a TaskResult and words",
    PLACE: "a key or an index",
    HELD: "a table or a list",
}

NAMES = {
    "answer": "the answer of a task",
    "boolean": "a boolean",
    "data": "plain data",
    "function": "a function",
    "list": "a list",
    "nil": "nil",
    "number": "a number",
    "result": "a TaskResult",
    "symbol": "a symbol",
    "table": "a table",
    "text": "a text",
}

TAKES: dict[str, tuple[Kinds, ...]] = {
    **dict.fromkeys(["car", "first", "cdr", "rest", "last", "length", "reverse"], (LIST,)),
    **dict.fromkeys(["flatten", "distinct"], (LIST,)),
    **dict.fromkeys(["nth", "take", "drop"], (LIST, NUMBER)),
    **dict.fromkeys(["member?", "assoc", "cons"], (ANY_KIND, LIST)),
    "index-of": (LIST, ANY_KIND),
    **dict.fromkeys(["string-length", "string-trim", "string-upcase", "string-downcase"], (TEXT,)),
    **dict.fromkeys(["string-split", "string-contains?"], (TEXT, TEXT)),
    "string-join": (LIST, TEXT),
    "string-replace": (TEXT, TEXT, TEXT),
    "substring": (TEXT, NUMBER, NUMBER),
    "get": (HELD, PLACE, ANY_KIND),
    "get-field": (HELD, PLACE),
    "get-in": (HELD, LIST, ANY_KIND),
    "put": (TABLE, KEY, ANY_KIND),
    **dict.fromkeys(["remove", "has-key?"], (TABLE, KEY)),
    **dict.fromkeys(["keys", "values"], (TABLE,)),
    **dict.fromkeys(["map", "for-each"], (FUNCTION, LIST, LIST, LIST)),
    **dict.fromkeys(["filter", "any?", "all?", "sort-by", "group-by"], (FUNCTION, LIST)),
    "sort": (LIST, FUNCTION),
    **dict.fromkeys(["fold", "reduce"], (FUNCTION, ANY_KIND, LIST)),
    "apply": (FUNCTION,),
    "continue": (RESULT, SAID),
    "update": (TABLE, KEY, FUNCTION),
    **dict.fromkeys(["second", "third", "sum", "product", "mean", "median"], (LIST,)),
    **dict.fromkeys(["enumerate", "frequencies"], (LIST,)),
    **dict.fromkeys(["take-right", "drop-right", "split-at", "chunk", "windows"], (LIST, NUMBER)),
    "slice": (LIST, NUMBER, NUMBER),
    **dict.fromkeys(["delete", "interpose"], (ANY_KIND, LIST)),
    "entries": (TABLE,),
    "from-entries": (LIST,),
    "zipmap": (LIST, LIST),
    "select-keys": (TABLE, LIST),
    "put-in": (HELD, LIST, ANY_KIND),
    **dict.fromkeys(["string-index", "string-count", "starts-with?", "ends-with?"], (TEXT, TEXT)),
    **dict.fromkeys(["string-index-right", "string-prefix?", "string-suffix?"], (TEXT, TEXT)),
    **dict.fromkeys(["string-take", "string-drop", "string-ref", "string-repeat"], (TEXT, NUMBER)),
    **dict.fromkeys(["string-pad-left", "string-pad-right"], (TEXT, NUMBER, TEXT)),
    **dict.fromkeys(["string-lines", "string->list", "string-reverse"], (TEXT,)),
    **dict.fromkeys(["re-find", "re-matches", "re-seq", "re-split"], (TEXT, TEXT)),
    "re-replace": (TEXT, TEXT, TEXT),
    **dict.fromkeys(["csv-parse", "csv-rows"], (TEXT, TEXT)),
    **dict.fromkeys(["exp", "ln", "log2", "log10", "sin", "cos", "tan"], (NUMBER,)),
    **dict.fromkeys(["asin", "acos"], (NUMBER,)),
    "atan": (NUMBER, NUMBER),
    **dict.fromkeys(["vector-dot", "vector-cosine"], (LIST, LIST)),
    "vector-nearest": (NUMBER, LIST, LIST),
}
"""The kinds that primitives and prelude functions take, by position."""

LIBRARY: dict[str, dict[str, Kinds]] = {
    **{
        name: {kind: THUNK}
        for kind, names in (
            ("f", "retry vote hedge once with-fallback with-log with-cache with-suggestions"),
            ("f", "with-cells run-cells with-state run-state"),
        )
        for name in names.split()
    },
    "with-matcher": {"matcher": FUNCTION, "f": THUNK},
    "par-map": {"f": FUNCTION, "xs": LIST},
    **{
        name: {kind: FUNCTION, last: LIST if last == "xs" else TABLE}
        for kind, last, names in (
            ("p", "xs", "find find-index count partition take-while drop-while"),
            ("f", "xs", "flat-map filter-map map-indexed min-by max-by fold-right index-by"),
            ("f", "t", "map-values map-keys"),
        )
        for name in names.split()
    },
    "filter-table": {"p": FUNCTION, "t": TABLE},
    "update-in": {"path": LIST, "f": FUNCTION},
    "best-of": {"f": THUNK, "score": FUNCTION},
    "with-approval": {"allow": FUNCTION, "f": THUNK},
    "director-evaluator-loop": dict.fromkeys(
        ["director", "executor", "evaluator", "controller"], FUNCTION
    ),
    "iterative-loop": dict.fromkeys(["executor", "controller"], FUNCTION),
    "spawn-subagent": {"task": TEXT},
    "run-parallel-subagents": {"tasks": LIST},
}
"""The kinds that functions of the library take, by parameter name."""


def kind_of(node: Any, value: Abstract) -> str | None:
    """Return the certain kind of an argument, or None if there may be several."""
    if isinstance(value, Constant):
        return _kind_of_literal(value.value)
    if isinstance(value, (Closure, Resume)):
        return "function"
    if isinstance(value, Table):
        is_result = {"status", "notes", "usage"} <= {name for name, _ in value.fields}
        return "result" if is_result else "table"  # an attempt's result reads like a table
    if isinstance(value, Result):
        return "result"
    if isinstance(value, Typed):
        kind = kind_of_type(schema_of(value.source), value.pointer)
        return "text" if kind == "string" else kind or ("answer" if value.task else None)
    # A list that is only known by its size may be no list.
    is_list = isinstance(node, CallPrimitive) and node.primitive.name == "list"
    if is_list or (isinstance(node, Const) and isinstance(node.value, tuple)):
        return "list"
    return None


def _kind_of_literal(value: Any) -> str | None:
    if value is None:
        return "nil"
    for kind, classes in _CLASSES:
        if isinstance(value, classes):
            return kind
    return None


_CLASSES: tuple[tuple[str, Any], ...] = (
    ("boolean", bool),
    ("number", (int, float)),
    ("text", str),
    ("symbol", Symbol),
    ("function", Procedure),
)
