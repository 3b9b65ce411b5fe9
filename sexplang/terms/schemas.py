"""The structure of a JSON Schema: its subschemas, references and cost bound.

Law: a schema with a bound is checked in time linear in the schema and the value. So a circle of
references that never descends into the value is refused, and so is a schema that is too large with
its references expanded.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Literal

from sexplang.terms.classes.node import define, field, frozen
from sexplang.terms.source import Span

Where = Literal["beside", "inside", "apart"]
"""The value that a subschema applies to: the same value, a value inside it, or none by itself."""

MOST_PARTS = 10_000
"""The number of subschemas and choices, with references expanded."""

DEEPEST = 128
"""The depth of nested subschemas."""

_NAMED: dict[str, Where] = {
    **dict.fromkeys(("properties", "patternProperties"), "inside"),
    **dict.fromkeys(("dependentSchemas", "dependencies"), "beside"),
    **dict.fromkeys(("$defs", "definitions"), "apart"),
}
_LISTED: dict[str, Where] = {
    **dict.fromkeys(("allOf", "anyOf", "oneOf"), "beside"),
    **dict.fromkeys(("prefixItems", "items"), "inside"),
}
_ALONE: dict[str, Where] = {
    **dict.fromkeys(("not", "if", "then", "else"), "beside"),
    **dict.fromkeys(("items", "additionalItems", "unevaluatedItems", "contains"), "inside"),
    **dict.fromkeys(("additionalProperties", "unevaluatedProperties", "propertyNames"), "inside"),
}
_DEEP = f"it is nested more than {DEEPEST} levels deep, with all that its references stand for"
_LARGE = f"it has more than {MOST_PARTS:,} parts, with all that its references stand for"
_ELSEWHERE = ("$dynamicRef", "$recursiveRef")

_WORDS = [*_NAMED.items(), *_LISTED.items(), *_ALONE.items()]

BESIDE = frozenset([word for word, where in _WORDS if where == "beside"])
"""The keywords with subschemas for the same value."""

SCHEMAS = frozenset(dict(_WORDS))
"""The keywords with subschemas."""

Path = tuple[str | int, ...]


class Unbounded(Exception):
    """The reason why a schema has no bound."""


def parts(schema: dict[str, Any]) -> Iterator[tuple[Where, Path, Any]]:
    """Yield the subschemas of a schema, each with its path."""
    for key, value in schema.items():
        if isinstance(value, dict) and key in _NAMED:
            for name, each in value.items():
                yield _NAMED[key], (key, name), each
        elif isinstance(value, (list, tuple)) and key in _LISTED:
            for at, each in enumerate(value):
                yield _LISTED[key], (key, at), each
        elif isinstance(value, dict) and key in _ALONE:
            yield _ALONE[key], (key,), value


Schema = dict[str, Any]


@frozen(eq=False)
class TypeSchema:
    """A type as a part of a JSON Schema, with the definitions that the part refers to as
    `#/$defs/NAME`."""

    part: Schema
    definitions: dict[str, Schema] = field(factory=dict)
    alone: Schema | None = None
    """The schema as it was written, for a type that stands alone."""

    @property
    def whole(self) -> Schema:
        """The type as a schema by itself."""
        if self.alone is not None:
            return self.alone
        if not self.definitions:
            return self.part
        reference = self.part.get("$ref")
        found = References({"$defs": self.definitions}).at(reference)
        return {**(found if isinstance(found, dict) else self.part), "$defs": self.definitions}


@frozen(eq=False)
class TypeDefinition:
    """A `define-type`. A table of the `closed` type has its fields alone, for a model that is asked
    for one; a table of the `open` type may have others."""

    name: str
    closed: TypeSchema
    open: TypeSchema
    span: Span
    doc: str = ""


def below(schema: Schema, path: str) -> Schema:
    """Return a schema whose references lead to its parts when it stands at a path of another:
    `#/$defs/x` becomes `#/$defs/NAME/$defs/x`."""
    made = {word: each for word, each in schema.items() if word not in ("$schema", "$id")}
    reference = made.get("$ref")
    if isinstance(reference, str) and (reference == "#" or reference.startswith("#/")):
        made["$ref"] = path + reference[1:]
    for _, at, part in list(parts(schema)):
        if not isinstance(part, dict):
            continue
        key = at[0]
        if len(at) == 1:
            made[str(key)] = below(part, path)
        else:
            if made[str(key)] is schema[str(key)]:
                held = made[str(key)]
                made[str(key)] = dict(held) if isinstance(held, dict) else list(held)
            made[str(key)][at[1]] = below(part, path)
    return made


@define(eq=False)
class References:
    """The targets of one schema's references."""

    root: Any
    _anchors: dict[str, Any] | None = None

    def at(self, reference: Any) -> Any:
        """Return the target of a reference, or None if there is none."""
        if not isinstance(reference, str) or not reference.startswith("#"):
            return None
        if reference != "#" and not reference.startswith("#/"):
            if self._anchors is None:
                self._anchors = dict(_anchors(self.root))
            return self._anchors.get(reference[1:])
        found = self.root
        for step in _unquote(reference).split("/")[1:]:
            name = step.replace("~1", "/").replace("~0", "~")
            if isinstance(found, dict):
                found = found.get(name)
            elif (
                isinstance(found, (list, tuple)) and _AT.fullmatch(name) and int(name) < len(found)
            ):
                found = found[int(name)]
            else:
                return None
        return found


_AT = re.compile("[0-9]{1,6}")
_QUOTED = re.compile("(?:%[0-9a-fA-F]{2})+")


def _unquote(reference: str) -> str:
    """Decode a percent-encoded path: `%20` is a space."""
    return _QUOTED.sub(
        lambda found: bytes.fromhex(found[0].replace("%", "")).decode("utf-8", "replace"), reference
    )


def _anchors(root: Any) -> Iterator[tuple[str, Any]]:
    work = [root]
    while work:
        schema = work.pop()
        if isinstance(schema, dict):
            if isinstance(schema.get("$anchor"), str):
                yield schema["$anchor"], schema
            work += [each for _, _, each in parts(schema)]


@frozen(eq=False)
class Bound:
    """The bound of a schema: its parts, their number with references expanded, and the number of
    occurrences of each, by id."""

    parts: tuple[dict[str, Any], ...]
    count: int
    copies: dict[int, int]
    own: dict[int, int]
    """The own size of each, by id: one, the values of its choices, and its work for each name of a
    field."""


def bound_of(schema: Any) -> Bound:
    """Return the bound of a schema. A circle through the value is expanded once. Raises
    Unbounded."""
    graph = _Graph(schema, References(schema))
    graph.read()
    _, backs, circle = in_order(graph.beside, graph.ways)
    if backs:
        raise Unbounded(f"its references lead in a circle: {graph.circle(circle)}")
    order, backs, _ = in_order(graph.every, graph.ways)
    own = {at: _own_of(part) for at, part in graph.parts.items()}
    counts: dict[int, int] = {}
    depths: dict[int, int] = {}
    for at in order:
        every = graph.every(at)
        inner = [to for to in every if (at, to) not in backs]
        found = len(every) - len(inner) + sum([counts[to] for to in inner])
        counts[at] = min(own[at] + found, MOST_PARTS + 1)
        depths[at] = 1 + max([depths[to] for to in inner], default=0)
        if depths[at] > DEEPEST:
            raise Unbounded(_DEEP)
    # The results at the entry of a circle are cached, once for each value.
    count = counts.get(id(schema), 1) + sum([counts[to] for to in {to for _, to in backs}])
    if count > MOST_PARTS:
        raise Unbounded(_LARGE)
    copies = dict.fromkeys(order, 0) | dict.fromkeys([id(schema), *[to for _, to in backs]], 1)
    for at in reversed(order):
        for to in graph.every(at):
            copies[to] += 0 if (at, to) in backs else copies[at]
    return Bound(tuple(graph.parts.values()), count, copies, own)


_EACH_LOOKED_AT = ("dependentRequired", "dependencies", "patternProperties")


def _own_of(part: dict[str, Any]) -> int:
    said = [part[word] for word in _EACH_LOOKED_AT if word in part]
    listed = sum([len(each) for each in said if isinstance(each, (dict, list, tuple))])
    return 1 + listed + _values_in(part.get("enum"))


def _values_in(choices: Any) -> int:
    """Return the number of values in choices, nested ones included."""
    found, work = 0, [choices]
    while work and found <= MOST_PARTS:
        inside = work.pop()
        if isinstance(inside, (dict, list, tuple)):
            found += len(inside)
            work += inside.values() if isinstance(inside, dict) else inside
    return found


@define(eq=False)
class _Graph:
    """The graph of subschemas by id, and the edges between them."""

    root: Any
    references: References
    parts: dict[int, dict[str, Any]] = field(factory=dict)
    ways: dict[int, list[tuple[Where, int]]] = field(factory=dict)
    names: dict[tuple[int, int], str] = field(factory=dict)
    """The reference of each edge."""

    def read(self) -> None:
        work: list[tuple[Any, int]] = [(self.root, 1)]
        while work:
            schema, depth = work.pop()
            if not isinstance(schema, dict) or id(schema) in self.ways:
                continue
            if depth > DEEPEST:
                raise Unbounded(_DEEP)
            if len(self.ways) == MOST_PARTS:
                raise Unbounded(_LARGE)
            self._check(schema)
            self.parts[id(schema)] = schema
            ways = self.ways[id(schema)] = []
            for where, _, part in parts(schema):
                work.append((part, depth + 1))
                if isinstance(part, dict) and where != "apart":
                    ways.append((where, id(part)))
            if "$ref" in schema:
                work.append((self._resolve(schema, schema["$ref"]), 1))

    def _check(self, schema: dict[str, Any]) -> None:
        for key in _ELSEWHERE:
            if key in schema:
                raise Unbounded(f"`{key}` is not taken here: write `$ref`")
        own = schema.get("$id")
        if schema is not self.root and isinstance(own, str) and not own.startswith("#"):
            raise Unbounded(
                f"a part of it has the `$id` `{own[:60]}`: a part is called by `#/$defs/NAME`"
            )

    def _resolve(self, schema: dict[str, Any], reference: Any) -> Any:
        target = self.references.at(reference)
        if isinstance(target, dict):
            self.ways[id(schema)].append(("beside", id(target)))
            self.names[id(schema), id(target)] = reference
        elif not isinstance(target, bool):
            raise Unbounded(_leads_nowhere(reference))
        return target

    def beside(self, at: int) -> list[int]:
        return [to for where, to in self.ways[at] if where == "beside"]

    def every(self, at: int) -> list[int]:
        return [to for _, to in self.ways[at]]

    def circle(self, path: list[int]) -> str:
        steps = zip(path, [*path[1:], path[0]], strict=True)
        names = [self.names[step] for step in steps if step in self.names]
        return " → ".join([f"`{name[:60]}`" for name in [*names[:8], names[0]]])


def _leads_nowhere(reference: Any) -> str:
    said = f"`{str(reference)[:80]}`"
    if isinstance(reference, str) and reference.startswith("#"):
        return f"{said} refers to nothing in it"
    return f"{said} refers to another document; a part of this one is `#/$defs/NAME`"


def in_order(
    ways: Callable[[int], list[int]], starts: Iterable[int]
) -> tuple[list[int], set[tuple[int, int]], list[int]]:
    """Return the nodes in topological order, the back edges, and the first circle that one of these
    closes."""
    order: list[int] = []
    backs: set[tuple[int, int]] = set()
    circle: list[int] = []
    is_open: dict[int, bool] = {}
    for start in starts:
        work = [] if start in is_open else [(start, iter(ways(start)))]
        is_open.setdefault(start, True)
        while work:
            at, rest = work[-1]
            to = next(rest, None)
            if to is None:
                work.pop()
                is_open[at] = False
                order.append(at)
            elif to not in is_open:
                is_open[to] = True
                work.append((to, iter(ways(to))))
            elif is_open[to]:
                backs.add((at, to))
                path = [] if circle else [each for each, _ in work]
                circle = circle or path[path.index(to) :]
    return order, backs, circle
