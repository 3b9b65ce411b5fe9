"""JSON values, and what models write for them when they do not mind."""

import json
import re
from collections.abc import Callable, Collection
from random import Random
from typing import Any

# What has a meaning in JSON, in what looks like it, and around it.
_CHARACTERS = "aaabbb   {}[]:,'\"“”/*#\\\n\té`-1"

SLIPS = (
    *("comma", "comment", "single", "curly", "bare key", "constant", "number", "break"),
    *("no comma", "no closer", "twice", "fence", "words", "halves"),
)
"""What has one reading; but for "no closer", a text that ends before its last bracket."""

_MAY_CROSS = re.compile(r"”|“\s*[]},:]")
"""What may end a string in curly quotes, as another slip has it."""


class Sloppy:
    """Writes JSON with some slips, each at some of the places where it can be made."""

    def __init__(self, slips: Collection[str], chance: Random) -> None:
        self.slips, self.chance = slips, chance

    def slips_into(self, slip: str, share: float = 0.4) -> bool:
        return slip in self.slips and self.chance.random() < share

    def document(self, value: Any) -> str:
        said = self.value(value)
        if self.slips_into("no closer", 1):
            said = said[:-1]
        if self.slips_into("fence", 1):
            said = f"```json\n{said}\n```"
        if self.slips_into("words", 1):
            said = f"Here it is:\n\n{said}\n\nI hope that this helps."
        return said

    def value(self, value: Any) -> str:
        if isinstance(value, dict):
            return self.within("{", [self.pair(*pair) for pair in value.items()], "}")
        if isinstance(value, list):
            return self.within("[", [self.value(item) for item in value], "]")
        if isinstance(value, str):
            return self.string(value)
        said = json.dumps(value)
        if isinstance(value, (bool, type(None))):
            return str(value) if self.slips_into("constant") else said
        if self.slips_into("number") and value > 0:
            return f"+{said}"
        return said

    def within(self, opener: str, items: list[str], closer: str) -> str:
        if items and self.slips_into("twice"):
            items = [*items, items[-1]] if opener == "{" else items
        said = opener
        for at, item in enumerate(items):
            between = "\n" if at and self.slips_into("no comma") else ",\n " if at else ""
            said += between + (f" // {at}\n" if self.slips_into("comment") else "") + item
        return said + ("," if items and self.slips_into("comma") else "") + closer

    def pair(self, key: str, value: Any) -> str:
        if key.isidentifier() and self.slips_into("bare key"):
            return f"{key}: {self.value(value)}"
        return f"{self.string(key)}: {self.value(value)}"

    def string(self, value: str) -> str:
        said = json.dumps(value, ensure_ascii=self.slips_into("halves"))
        if self.slips_into("break"):
            said = said.replace("\\\\", "\0").replace("\\n", "\n").replace("\0", "\\\\")
        if self.slips_into("single") and "'" not in value:
            return f"'{said[1:-1]}'"
        if self.slips_into("curly") and not _MAY_CROSS.search(value):
            return f"“{said[1:-1]}”"
        return said


def document(random: Random) -> Any:
    """A list or a table, with something in it."""
    while True:
        value = _value(random, 0)
        if value and isinstance(value, (list, dict)):
            return value


def _value(random: Random, depth: int) -> Any:
    some = range(random.randint(0, 4))
    form = random.randrange(8 if depth < 4 else 6)
    if form == 6:
        return [_value(random, depth + 1) for _ in some]
    if form == 7:
        return {_words(random): _value(random, depth + 1) for _ in some}
    scalars = [None, random.random() < 0.5, random.randint(-999, 999), random.uniform(-99, 99)]
    return [*scalars, _words(random), _words(random)][form]


def _words(random: Random) -> str:
    if random.random() < 0.3:
        return random.choice(["name", "kind_of", "n1", "true", "a b"])
    return "".join(random.choices(_CHARACTERS, k=random.randint(0, 8)))


def _changed(random: Random) -> str:
    return json.dumps(document(random))


def _cut(value: Any, random: Random) -> str:
    said = json.dumps(value, indent=random.choice([None, 2]))
    return said[: random.randrange(1, len(said))]


def _quoted(value: Any, random: Random) -> str:
    """A quote in the middle of a string, which may end there."""
    return json.dumps(["so: \0, x", value]).replace("\\u0000", '"')


def _twice(value: Any, random: Random) -> str:
    return f'{{"a": 1, "b": {json.dumps(value)}, "a": 2}}'


LOST: dict[str, Callable[[Any, Random], str]] = {
    "cut anywhere": _cut,
    "several values": lambda value, random: f"{json.dumps(value)}\nor: [{_changed(random)}]",
    "several fences": lambda value, random: (
        f"```json\n{json.dumps(value)}\n```\nor:\n```json\n[{_changed(random)}]\n```"
    ),
    "a thought without end": lambda value, random: f"<think>So {json.dumps(value)}",
    "quote in a string": _quoted,
    "key with two values": _twice,
    "left out": lambda value, random: f"[{json.dumps(value)}, ...]",
    "left out, in a comment": lambda value, random: f"[{json.dumps(value)}, // ... 3 more\n]",
    "brackets exchanged": lambda value, random: f'[{{"a": {json.dumps(value)}]}}',
}
"""What nobody knows: to be asked again."""
