"""Text to its placeholders: `{{name}}`, `{{name.path[0]}}`, and what only looks like one.

`{{{{` writes two braces as they are and begins nothing.
"""

import re
from collections.abc import Iterator
from typing import Literal

from sexplang.terms.node import frozen

NAME = r"[^\W\d][\w-]*"

_NAME = re.compile(NAME)
# `{{{x}}}` is a brace, a placeholder and a brace: hence the look-ahead of the last branch. The
# tasks room reads the same marks when it fills them.
_MARK = re.compile(r"\{\{\{\{|\{\{([^{}]*)\}\}|\{\{(?!\{)")
_PATH = re.compile(rf"\s*({NAME})(?:\.[\w-]+|\[\d+\])*\s*")
_CALL = re.compile(rf"\s*({NAME}(?:[.:]{NAME})*)\s*\((.*)\)\s*", re.DOTALL)
_ARGUMENT = re.compile(r"""\s*(?:(\w+)\s*=(?!=)\s*)?("[^"]*"|'[^']*'|[^,"']+)\s*(?:,|$)""")

Kind = Literal["name", "call", "unclosed", "bad"]


@frozen
class Placeholder:
    """`raw` as written; `name` is the parameter of a name, the program's form of a call."""

    kind: Kind
    raw: str
    name: str = ""


def is_name(text: str) -> bool:
    """Whether a parameter may be called `text`."""
    return _NAME.fullmatch(text) is not None


def placeholders(text: str) -> Iterator[Placeholder]:
    """All placeholders of `text`, in order."""
    for mark in _MARK.finditer(text) if "{{" in text else ():
        if mark[0] == "{{{{":
            continue
        if mark[1] is None:
            yield Placeholder("unclosed", text[mark.start() : mark.start() + 40].split("\n", 1)[0])
        else:
            yield _placeholder(mark[0], mark[1])


def _placeholder(raw: str, inside: str) -> Placeholder:
    path = _PATH.fullmatch(inside)
    if path:
        return Placeholder("name", raw, path[1])
    call = _CALL.fullmatch(inside)
    if call:
        return Placeholder("call", raw, _form(call[1], call[2]))
    return Placeholder("bad", raw)


def _form(name: str, arguments: str) -> str:
    """`f(x, k='v')` as the language writes it: `(f x k: "v")`."""
    words = [name]
    for match in _ARGUMENT.finditer(arguments):
        label, value = match[1], match[2].strip()
        if value.startswith("'"):
            value = f'"{value[1:-1]}"'
        words.append(f"{label}: {value}" if label else value)
    return f"({' '.join(words)})"
