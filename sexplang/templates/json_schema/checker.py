"""A JSON Schema that has a bound → whether data fit it.

Law: checking is linear in the data and in the parts of the schema, and gives up by name where both
together are too much.
"""

import json
import math
from collections.abc import Iterator
from decimal import Decimal
from functools import lru_cache
from typing import Any

from sexplang.templates.json_schema.applicable_parts import Part, Speaking
from sexplang.templates.json_schema.linear_patterns import (
    BadPattern,
    bytes_of,
    check_patterns,
    pattern,
)
from sexplang.terms.classes.node import define, field
from sexplang.terms.json.strict import MAX_DEPTH, is_deep
from sexplang.terms.schema.schemas import BESIDE, SCHEMAS, Bound, References, Unbounded, bound_of

MOST_STEPS = 10_000_000
"""Each part of a schema at a value is a step; each state of a pattern at a byte is two. The library
does some five million of the first in a second, and ten times as many of the second."""


class TooMuch(Exception):
    """Says that a check would take too many steps."""


@define
class Account:
    """Steps that are left."""

    left: float = MOST_STEPS

    def spend(self, steps: float) -> None:
        """Raises TooMuch."""
        self.left -= steps
        if self.left < 0:
            raise TooMuch(f"checking it against its schema takes more than {MOST_STEPS:,} steps")


def type_name(data: Any) -> str:
    """The JSON type of plain data."""
    if data is None:
        return "null"
    if isinstance(data, bool):
        return "boolean"
    if isinstance(data, (int, float, Decimal)):
        return "number"
    if isinstance(data, str):
        return "string"
    return "object" if isinstance(data, dict) else "array"


def is_of(data: Any, type_: Any) -> bool:
    """Whether data are of a type, where one is said."""
    if type_ == "integer":
        return type_name(data) == "number" and _is_whole(data)
    return type_ is None or type_name(data) == type_


def _is_whole(number: Any) -> bool:
    return bool(number == number and abs(number) != float("inf") and number == int(number))


LONGEST = 100_000
"""Characters of a schema: it is in every prompt."""

_MOST_COUNTED = 300_000
"""How many may be looked at one by one to count them; such a look is as good as these steps:"""
_OF_COUNTED = 10

_NOT_OWN = SCHEMAS | {"$ref", "$defs", "$id", "$anchor", "$schema", "required", "dependentRequired"}
"""What a part says by other parts, or by names that are looked for here."""

BAD = (Unbounded, BadPattern, ValueError, TypeError, RecursionError)
"""What is raised of a schema that is none."""


@define(eq=False)
class Check:
    """What is held to one schema. Raises one of `BAD` where it is none."""

    schema: Part
    references: References = field(init=False)
    bound: Bound = field(init=False)
    cost: int = field(init=False)
    """Of its patterns for each byte, each as often as it stands there when all is written out."""
    _speaking: Speaking = field(init=False)
    _whole: Any = field(init=False)
    _made: dict[str, Any] = field(factory=dict)
    """The validators of its parts, by reference."""
    _own: dict[int, Any] = field(factory=dict)
    _registry: Any = None

    def __attrs_post_init__(self) -> None:
        self.bound = bound_of(self.schema)
        check_patterns([text for part in self.bound.parts for text in _patterns(part)])
        self.cost = sum(
            self.bound.copies[id(part)] * pattern(text).cost
            for part in self.bound.parts
            for text in _patterns(part)
        )
        self.references = References(self.schema)
        self._speaking = Speaking(self.references, BESIDE)
        self._whole = validator(self.schema)

    def fits(self, data: Any, account: Account) -> bool:
        """Raises TooMuch."""
        account.spend(self.steps(data, self.schema, account.left, account.left))
        found: bool = self._whole.is_valid(data)
        return found

    def steps(self, data: Any, part: Any, rough: float, most: float) -> float:
        """What a check of a part takes at worst: roughly up to so many steps, else counted."""
        values, size = _size(data)
        steps = self.bound.count * values + self.cost * size
        return steps if steps <= rough else self._count_cost(data, part, most)

    def _count_cost(self, data: Any, schema: Any, most: float) -> float:
        """By the parts that speak about each value, up to where it is too much."""
        steps = counted = 0
        work: list[tuple[Any, list[tuple[Any, int]]]] = [(data, [(schema, 1)])]
        while work:
            value, given = work.pop()
            about: dict[int, tuple[Part, int]] = {}
            for part, times in given:
                copies = self._speaking.copies(part)
                counted += 1 + len(copies)
                for each, copied in copies:
                    found = about.get(id(each), (each, 0))[1] + times * copied
                    # In a circle, what was found of a value is remembered.
                    about[id(each)] = each, min(found, self.bound.copies[id(each)])
            inside = len(value) if isinstance(value, (list, dict)) else 0
            counted += len(about) * inside
            steps += sum(
                [
                    times * (inside + self.bound.own[id(each)] + _steps(each, value))
                    for each, times in about.values()
                ]
            )
            if steps > most or counted > _MOST_COUNTED:
                return math.inf
            if inside:
                work += self._speaking.each_inside(about.values(), value)
        return steps + _OF_COUNTED * counted

    def fits_part(self, data: Any, part: Any, reference: str) -> bool:
        """Whether data fit the part of the schema that a reference leads to."""
        if isinstance(part, bool):
            return part
        if reference not in self._made:
            self._made[reference] = self._part(reference)
        found: bool = self._made[reference].is_valid(data)
        return found

    def own(self, part: Part) -> Any:
        """The validator of what a part says without other parts; None where that is nothing."""
        if id(part) not in self._own:
            said = {word: each for word, each in part.items() if word not in _NOT_OWN}
            self._own[id(part)] = validator(self._like(said)) if said else None
        return self._own[id(part)]

    def _part(self, reference: str) -> Any:
        import jsonschema_rs

        if self._registry is None:
            self._registry = jsonschema_rs.Registry([("schema:", self.schema)])
        return validator(self._like({"$ref": f"schema:{reference}"}), self._registry)

    def _like(self, part: Part) -> Part:
        """A part as a schema of the same draft."""
        draft = self.schema.get("$schema")
        return part if draft is None else {"$schema": draft, **part}


@lru_cache(maxsize=256)
def check_of(text: str) -> Check:
    """The check of a schema that is written as JSON. Raises one of `BAD`."""
    if len(text) > LONGEST:
        raise ValueError(f"it has more than {LONGEST:,} characters")
    if is_deep(text):
        raise ValueError(f"it is nested more than {MAX_DEPTH} levels deep")
    return Check(json.loads(text))


def validator(schema: Part, registry: Any = None) -> Any:
    """The library's validator of a schema that has a bound."""
    import jsonschema_rs

    return jsonschema_rs.validator_for(
        schema, offline=True, registry=registry, pattern_options=jsonschema_rs.RegexOptions()
    )


def _patterns(part: Part) -> Iterator[str]:
    """The patterns that a part has by itself."""
    if isinstance(part.get("pattern"), str):
        yield part["pattern"]
    named = part.get("patternProperties")
    yield from named if isinstance(named, dict) else ()


def _steps(part: Part, value: Any) -> int:
    """Of the patterns of a part."""
    steps = 0
    if isinstance(value, str) and "pattern" in part:
        steps += pattern(part["pattern"]).cost * bytes_of(value)
    if isinstance(value, dict) and value and "patternProperties" in part:
        cost = sum([pattern(each).cost for each in part["patternProperties"]])
        steps += cost * sum(map(bytes_of, value))
    return steps


def _size(data: Any) -> tuple[int, int]:
    """How many values data have, and how many bytes their texts and names."""
    values = size = 0
    work = [data]
    while work and values <= MOST_STEPS:
        each = work.pop()
        values += 1
        if isinstance(each, str):
            size += bytes_of(each)
        elif isinstance(each, dict):
            size += sum(map(bytes_of, each))
            work.extend(each.values())
        elif isinstance(each, list):
            work.extend(each)
    return values, size
