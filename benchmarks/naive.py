"""Program text to a value, the naive way: what most people write first.

A recursive walker of nested lists in the manner of the published lis.py: environments are dicts
with an outer one, every form is looked at again each time it is evaluated, nothing is analysed
beforehand, and tail calls use Python's stack. It understands as much of the language as the
benchmarks' programs use, and it gives the same values: `put` copies its dict.
"""

import json
import operator
import re
from collections.abc import Callable
from functools import reduce
from typing import Any

_TOKEN = re.compile(r'\s*(?:;[^\n]*)?([()\[\]{}\']|"(?:\\.|[^"\\])*"|[^\s()\[\]{}\'";]+)?')
_CLOSING = {"(": ")", "[": "]", "{": "}"}


class Symbol(str):
    """A name in a program; strings are text."""


def tokenize(text: str) -> list[str]:
    return [token for token in _TOKEN.findall(text) if token]


def parse(text: str) -> list[Any]:
    """All forms of a program."""
    tokens = tokenize(text)
    forms = []
    while tokens:
        forms.append(_form(tokens))
    return forms


def _form(tokens: list[str]) -> Any:
    token = tokens.pop(0)
    if token == "'":
        return [Symbol("quote"), _form(tokens)]
    if token not in _CLOSING:
        return _atom(token)
    items = [] if token == "(" else [Symbol("list" if token == "[" else "table")]
    while tokens[0] != _CLOSING[token]:
        items.append(_form(tokens))
    tokens.pop(0)
    return items


def _atom(token: str) -> Any:
    if token[0] == '"':
        return json.loads(token)
    if token in _WORDS:
        return _WORDS[token]
    if token[-1] == ":":
        return token[:-1]
    for number in (int, float):
        try:
            return number(token)
        except ValueError:
            continue
    return Symbol(token)


_WORDS = {"true": True, "false": False, "nil": None}


class Env(dict[str, Any]):
    """Names and values, and where to look further."""

    def __init__(self, names: Any = (), values: Any = (), outer: "Env | None" = None) -> None:
        self.update(zip(names, values, strict=True))
        self.outer = outer

    def find(self, name: str) -> "Env":
        if name in self:
            return self
        if self.outer is None:
            raise NameError(name)
        return self.outer.find(name)


class Procedure:
    """A lambda and where it was made."""

    def __init__(self, params: list[str], body: Any, env: Env) -> None:
        self.params, self.body, self.env = params, body, env

    def __call__(self, *arguments: Any) -> Any:
        return evaluate(self.body, Env(self.params, arguments, self.env))


def evaluate(form: Any, env: Env) -> Any:
    """The value of a form in an environment."""
    if isinstance(form, Symbol):
        return env.find(form)[form]
    if not isinstance(form, list):
        return form
    head, *operands = form
    if head == "quote":
        return operands[0]
    if head == "if":
        test, then, otherwise = operands
        return evaluate(then if evaluate(test, env) else otherwise, env)
    if head == "define":
        return _define(operands, env)
    if head == "lambda":
        params, *body = operands
        return Procedure(params, _body(body), env)
    if head == "let":
        bindings, *body = operands
        names = [name for name, _ in bindings]
        values = [evaluate(value, env) for _, value in bindings]
        return evaluate(_body(body), Env(names, values, env))
    if head == "begin":
        return [evaluate(item, env) for item in operands][-1]
    function = evaluate(head, env)
    arguments = [evaluate(operand, env) for operand in operands]
    return function(*arguments)


def _define(operands: list[Any], env: Env) -> None:
    head, *body = operands
    if isinstance(head, list):
        env[head[0]] = Procedure(head[1:], _body(body), env)
    else:
        env[head] = evaluate(body[0], env)


def _body(forms: list[Any]) -> Any:
    return forms[0] if len(forms) == 1 else [Symbol("begin"), *forms]


def standard() -> Env:
    """The names that the benchmarks' programs use."""
    env = Env()
    env.update(_STANDARD)
    return env


def run(text: str, env: Env | None = None) -> Any:
    """The value of the last form."""
    env = standard() if env is None else env
    value = None
    for form in parse(text):
        value = evaluate(form, env)
    return value


def _text(*values: Any) -> str:
    return "".join("" if value is None else str(value) for value in values)


_STANDARD: dict[str, Callable[..., Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "modulo": operator.mod,
    "=": operator.eq,
    "<": operator.lt,
    ">": operator.gt,
    "not": operator.not_,
    "list": lambda *items: list(items),
    "table": lambda *items: dict(zip(items[::2], items[1::2], strict=True)),
    "cons": lambda item, items: [item, *items],
    "append": lambda *lists: [item for items in lists for item in items],
    "car": lambda items: items[0],
    "cdr": lambda items: items[1:],
    "nth": lambda items, at: items[at],
    "length": len,
    "null?": lambda value: value is None or value == [],
    "range": lambda *bounds: list(range(*bounds)),
    "map": lambda function, items: list(map(function, items)),
    "filter": lambda keep, items: list(filter(keep, items)),
    "fold": lambda function, start, items: reduce(function, items, start),
    "get": lambda table, key: table.get(key),
    "values": lambda table: list(table.values()),
    "put": lambda table, key, value: {**table, key: value},
    "str": _text,
    "string-append": lambda *parts: "".join(parts),
    "string-length": len,
    "string=?": operator.eq,
    "string-join": lambda parts, between: between.join(parts),
    "string-split": lambda text, between: text.split(between),
    "string-upcase": str.upper,
    "string-contains?": lambda text, part: part in text,
    "number->string": str,
}
