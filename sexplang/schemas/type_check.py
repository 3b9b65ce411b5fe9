"""The check of data against a type, and the misfits by path.

A type is a JSON Schema, mostly one of the language's own: `type enum items properties required
anyOf` and references. Any other schema, or part of one, is checked by the library.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from typing import Any

from sexplang.schemas import checker
from sexplang.schemas.checker import Account, TooMuch, is_of, type_name
from sexplang.schemas.misfits import astray, choose_branch
from sexplang.schemas.schema import Misfit, fits, misfit
from sexplang.terms.classes.node import define, field
from sexplang.terms.schemas import References, Schema, below

_ABOUT = frozenset(("$defs", "title", "description"))
_WORDS = _ABOUT | {"type", "items", "properties", "required", "additionalProperties"}
_REFERENCE = _ABOUT | {"$ref"}
_UNION = _ABOUT | {"anyOf"}
_CHOICE = _ABOUT | {"enum"}
_REFERS = '"$ref"'
_WHOLE = "#/$defs/whole"
_CONTAINERS = frozenset((list, dict))
_ANY: Schema = {}
_NOTHING: Schema = {"not": {}}
_MOST = 5
_LONGEST = 1_000
"""The most characters of an expectation."""

MOST_STEPS = 250_000
"""The most parts of data that are checked against parts of a type, and choices that are compared.
"""


def show(data: Any) -> str:
    """Return data for a sentence."""
    if type(data) in (list, dict):
        return f"{'an array' if type(data) is list else 'an object'} of {len(data)}"
    words = json.dumps(data, ensure_ascii=False, default=str)
    return words if len(words) <= 60 else f"{words[:59]}…"


@define(eq=False)
class TypeCheck:
    """The check of data against one type. The result for a part of the data and a part of the type
    is computed once, even if unions repeat it."""

    schema: Schema
    whole: str = "the answer"
    """The words for the data."""
    path: str = ""
    """The path of the data."""
    describe: Callable[[Any], str] = show
    """A function to the words for a part of the data."""
    words: Mapping[str, str] = field(factory=dict)
    """The words for types of JSON that are called otherwise."""
    most: int = MOST_STEPS
    """The most steps."""
    kept: list[Any] = field(factory=list)
    """The parts of the data, kept alive so that their ids stay unique."""
    steps: int = 0
    checked: Account = field(factory=Account)
    """The account of the library's checks."""
    search: Account = field(factory=Account)
    """The account of the library's search for misfits."""
    _fits: dict[tuple[int, int], bool] = field(factory=dict)
    _references: References | None = None
    _documents: dict[int, Schema] = field(factory=dict)

    def is_plain(self, schema: Schema) -> bool:
        """Return whether a part of the type is in the words of the language's types."""
        words = schema.keys()
        if "anyOf" in words or "enum" in words:
            return words <= (_UNION if "anyOf" in words else _CHOICE)
        return (
            words <= _WORDS
            and isinstance(schema.get("type", ""), str)
            and isinstance(schema.get("items", _ANY), (dict, bool))
            and isinstance(schema.get("additionalProperties", False), bool)
        )

    def resolve(self, schema: Schema | bool) -> Schema:
        """Return the part that a reference leads to, or the part itself."""
        if isinstance(schema, bool):
            return _ANY if schema else _NOTHING
        while "$ref" in schema and schema.keys() <= _REFERENCE:
            if self._references is None:
                self._references = References(self.schema)
            found = self._references.at(schema["$ref"])
            if not isinstance(found, dict):
                break
            schema = found
        return schema

    def branches(self, schema: Schema) -> list[Schema]:
        """Return the branches of a union, or the part itself."""
        schema = self.resolve(schema)
        if "anyOf" not in schema or not schema.keys() <= _UNION:
            return [schema]
        return [each for branch in schema["anyOf"] for each in self.branches(branch)]

    def count_step(self, schema: Schema) -> bool:
        """Count a step, and one for each choice. Return whether steps are left."""
        self.steps += 1 + len(schema.get("enum", ()))
        return self.steps <= self.most

    def fits(self, data: Any, schema: Schema) -> bool:
        """Return whether data fit a part of the type as they stand."""
        if isinstance(schema, bool) or "$ref" in schema:
            schema = self.resolve(schema)
        if data.__class__ not in _CONTAINERS:
            return self.count_step(schema) and self._fit(data, schema)
        key = (id(data), id(schema))
        if key not in self._fits:
            if not self.count_step(schema):
                return False
            self.kept.append(data)
            self._fits[key] = self._fit(data, schema)
        return self._fits[key]

    def _fit(self, data: Any, schema: Schema) -> bool:
        if not self.is_plain(schema):
            return self.fits_schema(data, schema)
        if "anyOf" in schema:
            return any(self.fits(data, each) for each in schema["anyOf"])
        if "enum" in schema:
            return is_choice(data, schema)
        if not is_of(data, schema.get("type")):
            return False
        if type(data) is list:
            items = schema.get("items", _ANY)
            return all(self.fits(item, items) for item in data)
        if type(data) is not dict:
            return True
        properties = schema.get("properties", {})
        is_closed = schema.get("additionalProperties") is False
        return all(name in data for name in schema.get("required", ())) and all(
            self.fits(item, properties[name]) if name in properties else not is_closed
            for name, item in data.items()
        )

    def fits_schema(self, data: Any, schema: Schema) -> bool:
        """Return whether data fit a part by the library's check."""
        try:
            return fits(data, self._document(schema), self.checked)
        except TooMuch:
            return False

    def _document(self, part: Schema) -> Schema:
        """Return a part as a schema by itself, with the whole as a definition if it refers to
        some part of that."""
        if part is self.schema:
            return part
        if id(part) not in self._documents:
            if _REFERS in json.dumps(part):
                whole = below(self.schema, _WHOLE)
                self._documents[id(part)] = {**below(part, _WHOLE), "$defs": {"whole": whole}}
            else:
                self._documents[id(part)] = part
        return self._documents[id(part)]

    def unfit(self, data: Any) -> Misfit | None:
        """Return the misfit of data. None if they fit."""
        found = list(islice(self._unfit(data, self.schema, self.path), _MOST + 1))
        if self.steps > self.most or self.checked.left < 0:
            most = self.most if self.steps > self.most else checker.MOST_STEPS
            words = f"holding it to its type takes more than {most:,} steps"
            return Misfit(words, self._expectation(self.schema), type_name(data))
        if not found:
            return None
        shown = tuple(found[:_MOST]) + (("…",) if len(found) > _MOST else ())
        words = f"it does not fit: {'; '.join(shown)}"
        return Misfit(words, self._expectation(self.schema), type_name(data), shown)

    def _unfit(self, data: Any, schema: Schema, path: str) -> Iterator[str]:
        """Return the misfits, each with its path."""
        schema = self.resolve(schema)
        if self.fits(data, schema):
            return
        if not self.is_plain(schema):
            yield from self._by_schema(data, schema, path)
        elif "anyOf" in schema:
            branches = self.branches(schema)
            wrong = astray(data, [each for each in branches if _is_branch_of(data, each)])
            at = choose_branch(data, branches, _is_branch_of)
            if wrong is not None:
                name, known = wrong
                yield self._describe(_under(path, name), {"enum": known}, data[name])
            elif at is None:
                yield self._describe(path, schema, data)
            else:
                yield from self._unfit(data, branches[at], path)
        elif "enum" in schema or not is_of(data, schema.get("type")):
            yield self._describe(path, schema, data)
        elif type(data) is list:
            for index, item in enumerate(data):
                yield from self._unfit(item, schema.get("items", _ANY), f"{path}[{index}]")
        else:
            yield from self._unfit_fields(data, schema, path)

    def _unfit_fields(self, data: dict[str, Any], schema: Schema, path: str) -> Iterator[str]:
        properties = schema.get("properties", {})
        is_closed = schema.get("additionalProperties") is False
        for name in schema.get("required", ()):
            if name not in data:
                yield f"{_under(path, name)}: it is missing"
        for name, item in data.items():
            if name in properties:
                yield from self._unfit(item, properties[name], _under(path, name))
            elif is_closed:
                yield f"{_under(path, name)}: there is no such field"

    def _by_schema(self, data: Any, schema: Schema, path: str) -> list[str]:
        wrong = misfit(data, self._document(schema), self.search, self.search)
        if wrong is None:
            return []
        return [_below(path, each) for each in wrong.violations or (wrong.sentence,)]

    def _describe(self, path: str, schema: Schema, data: Any) -> str:
        return (
            f"{path or self.whole}: expected {self._expectation(schema)}, got {self.describe(data)}"
        )

    def _expectation(self, schema: Schema) -> str:
        schema = self.resolve(schema)
        if "enum" in schema:
            words = "one of " + ", ".join(self.describe(each) for each in schema["enum"])
        elif "anyOf" in schema:
            branches = self.branches(schema)
            words = " or ".join(
                dict.fromkeys(self._expectation(each) for each in branches if each is not schema)
            )
        else:
            words = str(schema.get("type", "any value"))
            words = self.words.get(words, words)
        return words if len(words) <= _LONGEST else f"{words[: _LONGEST - 1]}…"


def depth_of(data: Any) -> tuple[int, int]:
    """Return the number of values in data, and the number of levels."""
    count, depth, level = 1, 0, [data]
    while level:
        inner = [each for each in level if isinstance(each, (list, dict))]
        depth += 1
        level = [
            part for each in inner for part in (each.values() if isinstance(each, dict) else each)
        ]
        count += len(level)
    return count, depth


def is_choice(data: Any, schema: Schema) -> bool:
    """Return whether data are one of the choices. To Python, true equals 1."""
    listed = schema.get("enum", ())
    return any(data == each and type_name(data) == type_name(each) for each in listed)


def _is_branch_of(data: Any, branch: Schema) -> bool:
    return "type" in branch and is_of(data, branch["type"])


def _under(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


def _below(path: str, violation: str) -> str:
    """Return a violation of a part, with the path of the part."""
    if not path:
        return violation
    words = violation.removeprefix("the whole")
    return f"{path}{words}" if words.startswith((":", "[")) else f"{path}.{words}"
