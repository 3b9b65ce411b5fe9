"""The check of data against a JSON Schema, with a bound on its cost.

Law: a check is linear in the data and in the parts of the schema. It gives up by name if both
together are too much.
"""

import json
import math
from collections.abc import Iterator
from decimal import Decimal
from functools import lru_cache
from typing import Any

from sexplang.schemas.applicable_parts import Part, SchemaParts
from sexplang.schemas.linear_patterns import (
    BadPattern,
    bytes_of,
    check_patterns,
    pattern,
)
from sexplang.terms.classes.node import define, field
from sexplang.terms.json.strict import MAX_DEPTH, is_deep
from sexplang.terms.schemas import BESIDE, SCHEMAS, Bound, References, Unbounded, bound_of

MOST_STEPS = 10_000_000
"""The steps of the checks of one reply. A part of a schema at a value is one step, a state of a
pattern at a byte is two. The library does some five million steps a second of the first kind, and
ten times as many of the second."""


class TooMuch(Exception):
    """The failure of a check that would take too many steps."""


@define
class Account:
    """The steps that are left for the checks of a reply."""

    left: float = MOST_STEPS

    def spend(self, steps: float) -> None:
        """Take steps from the account. Raises TooMuch."""
        self.left -= steps
        if self.left < 0:
            raise TooMuch(f"checking it against its schema takes more than {MOST_STEPS:,} steps")


def type_name(data: Any) -> str:
    """Return the JSON type of plain data."""
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
    """Return whether data have the type. None admits any."""
    if type_ == "integer":
        return type_name(data) == "number" and _is_whole(data)
    return type_ is None or type_name(data) == type_


def _is_whole(number: Any) -> bool:
    return bool(number == number and abs(number) != float("inf") and number == int(number))


LONGEST = 100_000
"""The most characters of a schema. It is in every prompt."""

_MOST_COUNTED = 300_000
"""The most parts that are counted one by one; `_OF_COUNTED` are the steps of such a count."""
_OF_COUNTED = 10

_NOT_OWN = SCHEMAS | {"$ref", "$defs", "$id", "$anchor", "$schema", "required", "dependentRequired"}
"""The words of a part that refer to other parts, or to names that are looked up here."""

BAD = (Unbounded, BadPattern, ValueError, TypeError, RecursionError)
"""The exceptions of a schema that is invalid."""


@define(eq=False)
class Check:
    """The check of one schema. Raises one of `BAD` for an invalid schema."""

    schema: Part
    references: References = field(init=False)
    bound: Bound = field(init=False)
    cost: int = field(init=False)
    """The cost of all patterns at one byte. A pattern counts as often as it occurs in the schema
    with all references written out."""
    _speaking: SchemaParts = field(init=False)
    _whole: Any = field(init=False)
    _made: dict[str, Any] = field(factory=dict)
    """The validators of parts, by reference."""
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
        self._speaking = SchemaParts(self.references, BESIDE)
        self._whole = validator(self.schema)

    def fits(self, data: Any, account: Account) -> bool:
        """Return whether data fit. Raises TooMuch."""
        account.spend(self.steps(data, self.schema, account.left, account.left))
        found: bool = self._whole.is_valid(data)
        return found

    def steps(self, data: Any, part: Any, rough: float, most: float) -> float:
        """Return the worst cost of a check of a part: a rough bound up to `rough`, else a count."""
        values, size = _size(data)
        steps = self.bound.count * values + self.cost * size
        return steps if steps <= rough else self._count_cost(data, part, most)

    def _count_cost(self, data: Any, schema: Any, most: float) -> float:
        """Count the cost by the parts that apply to each value. Stops if it is too much."""
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
                    # The results for a value are remembered, so a circle of references counts once.
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
        """Return whether data fit the part of the schema at a reference."""
        if isinstance(part, bool):
            return part
        if reference not in self._made:
            self._made[reference] = self._part(reference)
        found: bool = self._made[reference].is_valid(data)
        return found

    def own(self, part: Part) -> Any:
        """Return the validator of a part without its subparts. None if it says nothing else."""
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
        """Return a part as a schema of the same draft."""
        draft = self.schema.get("$schema")
        return part if draft is None else {"$schema": draft, **part}


@lru_cache(maxsize=256)
def check_of(text: str) -> Check:
    """Return the check of a schema in JSON text. Raises one of `BAD`."""
    if len(text) > LONGEST:
        raise ValueError(f"it has more than {LONGEST:,} characters")
    if is_deep(text):
        raise ValueError(f"it is nested more than {MAX_DEPTH} levels deep")
    return Check(json.loads(text))


def validator(schema: Part, registry: Any = None) -> Any:
    """Return the library's validator of a bounded schema. Formats (`date`, `email` …) are checked;
    each takes linear time."""
    import jsonschema_rs

    return jsonschema_rs.validator_for(
        schema,
        offline=True,
        registry=registry,
        pattern_options=jsonschema_rs.RegexOptions(),
        validate_formats=True,
    )


def _patterns(part: Part) -> Iterator[str]:
    """Return the patterns of a part itself."""
    if isinstance(part.get("pattern"), str):
        yield part["pattern"]
    named = part.get("patternProperties")
    yield from named if isinstance(named, dict) else ()


def _steps(part: Part, value: Any) -> int:
    """Return the cost of a part's patterns at a value."""
    steps = 0
    if isinstance(value, str) and "pattern" in part:
        steps += pattern(part["pattern"]).cost * bytes_of(value)
    if isinstance(value, dict) and value and "patternProperties" in part:
        cost = sum([pattern(each).cost for each in part["patternProperties"]])
        steps += cost * sum(map(bytes_of, value))
    return steps


def _size(data: Any) -> tuple[int, int]:
    """Return the number of values in data, and the bytes of their texts and names."""
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
