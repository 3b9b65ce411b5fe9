"""A JSON Schema that has a bound → whether data fit it.

Law: checking is linear in the data and in the parts of the schema, and gives up by name where both
together are too much.
"""

import json
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from sexplang.templates.jsontext import MAX_DEPTH, is_deep
from sexplang.templates.patterns import BadPattern, checked, pattern
from sexplang.templates.speaking import Part, Speaking
from sexplang.terms.node import define, field
from sexplang.terms.schemas import BESIDE, SCHEMAS, References, Unbounded, bound_of

MOST_STEPS = 10_000_000
"""What one check may take: for each value all parts of the schema, for each character all patterns.
The library does some five million in a second."""

LONGEST = 100_000
"""Characters of a schema: it is in every prompt."""

_MOST_COUNTED = 300_000
"""How many may be counted one by one, where that many would be too many."""

_NOT_OWN = SCHEMAS | {"$ref", "$defs", "$id", "$anchor", "$schema", "required", "dependentRequired"}
"""What a part says by other parts, or by names that are looked for here."""

_OF_CHARACTER = 4
"""Steps of a pattern of cost 1 for a character, at worst."""


BAD = (Unbounded, BadPattern, ValueError, TypeError, RecursionError)
"""What is raised of a schema that is none."""


class TooMuch(Exception):
    """Says that a check would take too many steps."""


@define(eq=False)
class Check:
    """What is held to one schema. Raises one of `BAD` where it is none."""

    schema: Part
    references: References = field(init=False)
    parts: int = field(init=False)
    """Those of the schema, with everything written out."""
    again: float = field(init=False)
    """How often each part of the schema stands there then, on average."""
    cost: int = field(init=False)
    """Of its patterns, for each character."""
    _whole: Any = field(init=False)
    _made: dict[str, Any] = field(factory=dict)
    """The validators of its parts, by reference."""
    _own: dict[int, Any] = field(factory=dict)
    _registry: Any = None

    def __attrs_post_init__(self) -> None:
        bound = bound_of(self.schema)
        self.parts = bound.count
        self.again = max(1.0, bound.count / max(1, len(bound.parts)))
        self.cost = checked([text for part in bound.parts for text in _patterns(part)])
        self.references = References(self.schema)
        self._whole = validator(self.schema)

    def fits(self, data: Any) -> bool:
        """Raises TooMuch."""
        values, characters = _size(data)
        if self.parts * values + _OF_CHARACTER * self.cost * characters > MOST_STEPS:
            self._count(data)
        found: bool = self._whole.is_valid(data)
        return found

    def _count(self, data: Any) -> None:
        """Counts by the parts that speak about each value. Raises TooMuch."""
        speaking = Speaking(self.references, BESIDE)
        steps, counted = 0.0, 0
        work: list[tuple[Any, list[Any]]] = [(data, [self.schema])]
        while work:
            value, found = work.pop()
            about = speaking.about(found)
            counted += 1 + len(about)
            steps += self.again * sum([_steps(part, value) for part in about])
            if steps > MOST_STEPS or counted > _MOST_COUNTED:
                raise TooMuch(
                    f"checking it against its schema takes more than {MOST_STEPS:,} steps"
                )
            work += [(value[key], each) for key, each in speaking.inside(about, value)]

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
    steps = 1 + len(part.get("enum", ()))
    if isinstance(value, str) and "pattern" in part:
        steps += _OF_CHARACTER * pattern(part["pattern"]).cost * len(value)
    if isinstance(value, dict) and "patternProperties" in part:
        characters = sum(map(len, value))
        cost = sum([pattern(each).cost for each in part["patternProperties"]])
        steps += _OF_CHARACTER * cost * characters
    return steps


def _size(data: Any) -> tuple[int, int]:
    """How many values data have, and how many characters."""
    values = characters = 0
    work = [data]
    while work and values <= MOST_STEPS:
        each = work.pop()
        values += 1
        if isinstance(each, str):
            characters += len(each)
        elif isinstance(each, dict):
            characters += sum(map(len, each))
            work.extend(each.values())
        elif isinstance(each, list):
            work.extend(each)
    return values, characters
