"""The parts of a JSON Schema that apply to each value in data.

Law: a value and a part meet once, however many ways of the schema lead there.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from sexplang.schemas.linear_patterns import pattern
from sexplang.terms.classes.node import define, field
from sexplang.terms.schemas import References, parts

Part = dict[str, Any]


@define(eq=False)
class SchemaParts:
    """The parts of one schema. `beside` holds the words whose subschemas apply to the same
    value."""

    references: References
    beside: frozenset[str]
    _known: dict[tuple[int, ...], tuple[Part, ...]] = field(factory=dict)
    _copies: dict[int, list[tuple[Part, int]]] = field(factory=dict)

    def about(self, first: Iterable[Any]) -> tuple[Part, ...]:
        """Return these parts and all others that apply to the same value."""
        given = [each for each in first if isinstance(each, dict)]
        key = tuple([id(each) for each in given])
        if key not in self._known:
            found: dict[int, Part] = {}
            while given:
                part = given.pop()
                if isinstance(part, dict) and id(part) not in found:
                    found[id(part)] = part
                    given += [each for _, path, each in parts(part) if path[0] in self.beside]
                    given.append(self.references.at(part.get("$ref")))
            self._known[key] = tuple(found.values())
        return self._known[key]

    def copies(self, part: Any) -> list[tuple[Part, int]]:
        """Return the parts that apply to the same value as a part, each with the number of ways to
        it."""
        if not isinstance(part, dict):
            return []
        if id(part) not in self._copies:
            found = {id(part): (part, 1)}
            beside = [each for _, path, each in parts(part) if path[0] in self.beside]
            for led in (*beside, self.references.at(part.get("$ref"))):
                for each, ways in self.copies(led):
                    found[id(each)] = each, found.get(id(each), (each, 0))[1] + ways
            self._copies[id(part)] = list(found.values())
        return self._copies[id(part)]

    def inside(self, about: Iterable[Part], data: Any) -> Iterator[tuple[Any, list[Any]]]:
        """Return the keys of a list or table, each with the parts that apply to its value."""
        if isinstance(data, list):
            for at in range(len(data)):
                yield at, [part for each in about for part in _of_item(each, at)]
        elif isinstance(data, dict):
            for key in data:
                yield key, [part for each in about for part in _of_field(each, key)]

    def each_inside(
        self, about: Iterable[tuple[Part, int]], data: Any
    ) -> Iterator[tuple[Any, list[tuple[Any, int]]]]:
        """Return the values and names in data, each with the parts that apply to it and their
        numbers."""
        named = [(part["propertyNames"], ways) for part, ways in about if "propertyNames" in part]
        is_list = isinstance(data, list)
        of: Callable[[Part, Any], Iterator[Any]] = _of_item if is_list else _of_field
        for key in range(len(data)) if is_list else data:
            yield data[key], [(each, ways) for part, ways in about for each in of(part, key)]
            if named and not is_list:
                yield key, named


def _of_item(part: Part, at: int) -> Iterator[Any]:
    first, items = part.get("prefixItems"), part.get("items")
    listed = first if isinstance(first, list) else items if isinstance(items, list) else []
    if at < len(listed):
        yield listed[at]
    else:
        yield part.get("additionalItems") if listed is items else items
    yield from [part[word] for word in ("contains", "unevaluatedItems") if word in part]


def _of_field(part: Part, key: str) -> Iterator[Any]:
    found = []
    fields, patterns = part.get("properties"), part.get("patternProperties")
    if isinstance(fields, dict) and key in fields:
        found.append(fields[key])
    if isinstance(patterns, dict):
        found += [each for text, each in patterns.items() if pattern(text).fits(key)]
    yield from found or [part.get("additionalProperties")]
    yield from [part["unevaluatedProperties"]] if "unevaluatedProperties" in part else ()
