"""The assertions of an XSD 1.1: which of them can be checked in bounded time.

Taken are comparisons of what can be counted, summed or measured along plain paths. What may go
through the elements of a reply again and again (`for`, `some`, ranges, predicates, `//`, patterns)
is refused.
"""

import re

from sexplang.templates.xsd.xsd_patterns import BadXsd

MOST = 1_000
"""Characters of all assertions of a schema; `MOST_COMPARED` of its comparisons."""

MOST_COMPARED = 20

_NAME = r"[^\W\d][\w.-]*"
_TOKEN = re.compile(
    rf"""\s*(?:(?P<name>{_NAME}(?::{_NAME})?)|(?P<value>\$value\b)
    | (?P<number>\d+(?:\.\d+)?)|(?P<string>'[^']*'|"[^"]*")
    | (?P<mark>!=|<=|>=|[@/=<>()+*,.-]))\s*""",
    re.VERBOSE,
)
_FUNCTIONS = frozenset(
    (
        *("not", "count", "sum", "min", "max", "avg", "exists", "empty", "string", "number", "if"),
        *("string-length", "normalize-space", "contains", "starts-with", "ends-with"),
        *("true", "false", "boolean", "abs", "round", "floor", "ceiling"),
    )
)
_COMPARISONS = frozenset(["=", "!=", "<", "<=", ">", ">=", "eq", "ne", "lt", "le", "gt", "ge"])
_OPERATORS = frozenset(["and", "or", "div", "mod", "idiv", "then", "else"]) | _COMPARISONS


def check_assertions(tests: list[str]) -> None:
    """Raises BadXsd where one of the tests, or all together, may take too long."""
    if sum(map(len, tests)) > MOST:
        raise BadXsd(f"its assertions have more than {MOST} characters")
    if sum(_comparisons(test) for test in tests) > MOST_COMPARED:
        raise BadXsd(f"its assertions make more than {MOST_COMPARED} comparisons")


def _comparisons(test: str) -> int:
    tokens = _tokens(test)
    compared = 0
    complete = False  # whether an operand stands before
    for at, (kind, text) in enumerate(tokens):
        following = tokens[at + 1][1] if at + 1 < len(tokens) else ""
        if kind == "name":
            known = _OPERATORS if complete else _FUNCTIONS if following == "(" else None
            if known is not None and text not in known:
                raise _refuse(test, text)
            compared += complete and text in _COMPARISONS
            complete = not complete and following != "("
        elif kind == "mark":
            if text == following and text in "./":
                raise _refuse(test, text * 2)
            compared += text in _COMPARISONS
            complete = text in (")", ".") or (text == "*" and not complete)
        else:
            complete = True
    return compared


def _tokens(test: str) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    at = 0
    while at < len(test):
        match = _TOKEN.match(test, at)
        if match is None:
            raise _refuse(test, test[at])
        kind = match.lastgroup or ""
        found.append((kind, match[kind]))
        at = match.end()
    return found


def _refuse(test: str, what: str) -> BadXsd:
    return BadXsd(f"the assertion `{test[:60]}` uses `{what}`, which is not taken here")
