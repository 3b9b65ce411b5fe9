"""The worst shapes of schemas, and of replies under them."""

import json
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from benchmarks.growth import Routine
from benchmarks.measure import opcodes
from sexplang.schemas.checker import Account, Check, check_of
from sexplang.schemas.linear_patterns import pattern
from sexplang.schemas.misfits import misfits
from sexplang.schemas.schema import schema_problem
from sexplang.templates import read_reply
from sexplang.templates.reply.answers import AnswerFitter, with_integers
from sexplang.terms.schemas import Unbounded, bound_of
from sexplang.terms.template import OutputFormat

Given = tuple[dict[str, Any], Any]


def doubling(levels: int, word: str = "allOf") -> dict[str, Any]:
    """Each level is two of the next."""
    named = {
        f"d{at}": {word: [{"$ref": f"#/$defs/d{at + 1}"}, {"$ref": f"#/$defs/d{at + 1}"}]}
        for at in range(levels)
    }
    return {"$defs": {**named, f"d{levels}": {"type": "string"}}, "items": {"$ref": "#/$defs/d0"}}


def circle(n: int) -> dict[str, Any]:
    """References from each to all that come behind it, and back to the first."""
    named = {
        f"d{at}": {"anyOf": [{"$ref": f"#/$defs/d{to}"} for to in range(at + 1, min(at + 9, n))]}
        for at in range(n)
    }
    named[f"d{n - 1}"] = {"$ref": "#/$defs/d0"}
    return {"$defs": named, "$ref": "#/$defs/d0"}


def _deep(levels: int, data: Any) -> Any:
    for _ in range(levels):
        data = {"x": data}
    return data


def _tree(n: int, leaf: Any) -> Any:
    return [_deep(60, leaf)] * (n // 60 + 1)


def _fields(n: int, word: str = "a") -> dict[str, Any]:
    return {f"{word}{at}": 1.5 for at in range(n)}


NODE = {
    "anyOf": [
        {"type": "integer"},
        {"type": "object", "properties": {"x": {"$ref": "#/$defs/n"}, "y": {}}},
        {"type": "object", "properties": {"x": {"$ref": "#/$defs/n"}, "z": {}}},
    ]
}
TREE = {"$defs": {"n": NODE}, "items": {"$ref": "#/$defs/n"}}

REPLIES: dict[str, Callable[[int], Given]] = {
    "all items wrong": lambda n: ({"items": {"type": "string"}}, [1] * n),
    "the last item wrong": lambda n: ({"items": {"type": "string"}}, ["a"] * n + [1]),
    "a union of itself, wrong": lambda n: (TREE, _tree(n, "leaf")),
    "a union of itself, right": lambda n: (TREE, _tree(n, 1.0)),
    "ten levels of two ways": lambda n: (doubling(10, "anyOf"), [1] * (n // 20)),
    "fields too many": lambda n: ({"additionalProperties": False}, _fields(n)),
    "names of fields": lambda n: (
        {"patternProperties": {"(a|a)*b": {"type": "integer"}}},
        _fields(n, "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"),
    ),
    "one long name": lambda n: ({"patternProperties": {"(a|a)*b": {}}}, {"a" * n: 1.5}),
    "a pattern of many ways": lambda n: ({"pattern": "(x+x+)+y"}, "x" * n),
    "a pattern of many states": lambda n: ({"pattern": "a[ab]{300}c"}, "ab" * n),
    "repetitions in repetitions": lambda n: ({"pattern": "^(a{1,60}){1,60}$"}, "a" * n + "b"),
    "a pattern in many copies": lambda n: (
        {**doubling(6), "$defs": {**doubling(6)["$defs"], "d6": {"pattern": "^(a{1,9}){1,9}$"}}},
        ["a" * 99] * (n // 99),
    ),
    "names that are asked for": lambda n: (
        {"items": {"dependentRequired": {f"a{at}": [] for at in range(100)}}},
        [{}] * n,
    ),
    "all items different": lambda n: ({"uniqueItems": True}, [{"a": at} for at in range(n)]),
    "what is excluded": lambda n: ({"items": {"not": {"type": "integer"}}}, [1] * n),
    "integers": lambda n: ({"items": {"anyOf": [{"type": "integer"}, {}]}}, [1.0] * n),
}

SCHEMAS: dict[str, Callable[[int], Any]] = {
    "choices": lambda n: {"enum": list(range(n))},
    "branches": lambda n: {"anyOf": [{"properties": {"k": {"const": at}}} for at in range(n)]},
    "fields": lambda n: {"properties": {f"a{at}": {"type": "integer"} for at in range(n)}},
    "fields that are wanted": lambda n: {"required": [f"a{at}" for at in range(n)]},
    "references to one": lambda n: {
        "properties": {f"a{at}": {"$ref": "#/$defs/t"} for at in range(n)},
        "$defs": {"t": {"type": "string"}},
    },
    "two ways at each level": doubling,
    "circles": circle,
    "patterns": lambda n: {"anyOf": [{"pattern": f"^{at}$"} for at in range(n // 8)]},
    "anchors": lambda n: {
        "$defs": {f"d{at}": {"$anchor": f"d{at}", "items": {"$ref": "#d0"}} for at in range(n)}
    },
    "long references": lambda n: {"properties": {"x" * n: {"$ref": f"#/properties/{'x' * n}/y"}}},
    "texts": lambda n: {"title": "x" * n},
    "nested": lambda n: json.loads('{"items":' * min(n // 8, 900) + "{}" + "}" * min(n // 8, 900)),
}

PATTERNS: dict[str, Callable[[int], str]] = {
    "optional letters": lambda n: "a?" * n + "a" * n,
    "repetitions": lambda n: "(x{1,9}){1,9}" * n,
    "groups": lambda n: "(" * n + ")" * n,
    "open groups": lambda n: "(?=" * n,
    "sets": lambda n: "[a-" * n,
    "backslashes": lambda n: "\\" * (2 * n + 1),
    "classes": lambda n: "\\p{L}" * n,
    "repetitions in repetitions": lambda n: "(" * n + "a" + "{1,9})" * n,
    "letters": lambda n: "(?i)" + "k" * n,
    "choices": lambda n: "|".join(["ab"] * n),
}


def _read(given: tuple[str, OutputFormat]) -> None:
    check_of.cache_clear()
    read_reply(*given)


def _told(given: Given) -> int:
    """What is told of a reply that does not fit; the library's own work is no opcode."""
    schema, data = given
    check = Check(schema)
    return opcodes(lambda: [*zip(range(6), misfits(check, data, Account()), strict=False)])


def _bounded(schema: Any) -> int:
    def work() -> None:
        with suppress(Unbounded):
            bound_of(schema)

    return opcodes(work)


def _problem(schema: Any) -> None:
    check_of.cache_clear()
    pattern.cache_clear()
    schema_problem(schema)


def _compiled(text: str) -> None:
    pattern.cache_clear()
    schema_problem({"pattern": text})


def _typed(n: int) -> Given:
    branches = [{"enum": [f"a{at}"]} for at in range(20)]
    return {"type": "array", "items": {"anyOf": branches}}, [f"b{at}" for at in range(n)]


ROUTINES = (
    *(
        Routine(
            f"schema, reply: {name}",
            lambda n, make=make: (  # type: ignore[misc]
                json.dumps(make(n)[1]),
                OutputFormat("json", make(n)[0]),
            ),
            _read,
        )
        for name, make in REPLIES.items()
    ),
    *(
        Routine(f"schema, misfits: {name}", REPLIES[name], _told, 600)
        for name in ("all items wrong", "the last item wrong", "a union of itself, wrong",
                     "ten levels of two ways", "fields too many", "what is excluded")
    ),
    *(Routine(f"schema, bound: {name}", make, _bounded, 500) for name, make in SCHEMAS.items()),
    *(Routine(f"schema, read: {name}", make, _problem, 1_000) for name, make in SCHEMAS.items()),
    *(Routine(f"schema, pattern: {name}", make, _compiled, 500) for name, make in PATTERNS.items()),
    Routine(
        "schema, integers: of a union", REPLIES["a union of itself, right"],
        lambda given: opcodes(lambda: with_integers(given[1], given[0])), 600,
    ),
    Routine(
        "schema, type: choices", _typed,
        lambda given: opcodes(lambda: AnswerFitter(given[0]).unfit(given[1])), 100,
    ),
)  # fmt: skip
