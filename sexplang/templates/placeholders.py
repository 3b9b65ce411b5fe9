"""Slots of a text to what their writer meant: a parameter, a call, or what only looks like one."""

import re
from collections.abc import Iterator
from typing import Literal

from sexplang.terms.classes.node import frozen
from sexplang.terms.template import NAME, slots_of

_NAME = re.compile(NAME)
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
    for slot in slots_of(text):
        if slot.inside is None:
            yield Placeholder("unclosed", slot.raw.split("\n", 1)[0])
        elif slot.name:
            yield Placeholder("name", slot.raw, slot.name)
        elif call := _CALL.fullmatch(slot.inside):
            yield Placeholder("call", slot.raw, _form(call[1], call[2]))
        else:
            yield Placeholder("bad", slot.raw)


def _form(name: str, arguments: str) -> str:
    """`f(x, k='v')` as the language writes it: `(f x k: "v")`."""
    words = [name]
    for match in _ARGUMENT.finditer(arguments):
        label, value = match[1], match[2].strip()
        if value.startswith("'"):
            value = f'"{value[1:-1]}"'
        words.append(f"{label}: {value}" if label else value)
    return f"({' '.join(words)})"
