"""The answer of a reply with a known type, and its misfits by path.

A value with one possible meaning is converted with a note: a choice in other letters, yes for true,
a missing wrapper. A field that the type does not have is left out.
"""

import json
import re
from collections.abc import Callable
from decimal import Decimal
from typing import Any

from sexplang.schemas.applicable_parts import Part, SchemaParts
from sexplang.schemas.schema import Misfit
from sexplang.schemas.type_check import TypeCheck, is_choice, show
from sexplang.terms.classes.node import define, field
from sexplang.terms.json.strict import is_whole
from sexplang.terms.model.payload import WRAPPER
from sexplang.terms.schemas import References
from sexplang.terms.texts.thoughts import ahead

Note = Callable[[str], None]
Schema = dict[str, Any]

_MARKS = " \t\r\n\"'`*_.,;:()[]“”‘’«»"
"""Characters that may stand around a word. A ! before it may be a no, and a ? behind it is a
question."""


def wrap_schema(schema: Schema) -> Schema:
    """Return the schema for a model: that of an object, if possible."""
    if schema.get("type") == "object" or _refers_to_the_whole(schema):
        return schema
    inner = {word: each for word, each in schema.items() if word != "$defs"}
    wrapped = {
        "type": "object",
        "properties": {WRAPPER: inner},
        "required": [WRAPPER],
        "additionalProperties": False,
    }
    return {**wrapped, "$defs": schema["$defs"]} if "$defs" in schema else wrapped


_REFERENCE = re.compile(r'"\$ref": "(?!#/\$defs/)')


def _refers_to_the_whole(schema: Schema) -> bool:
    """Return whether a reference leads to another part than a definition: it would be lost in a
    wrapper."""
    written = json.dumps(schema)
    return _REFERENCE.search(written) is not None


def bare(text: str, schema: Schema, note: Note) -> tuple[Any] | None:
    """Return the answer of a text without JSON, if it can only have one meaning. Else None."""
    branches = TypeCheck(schema).branches(schema)
    found = _choices(text, branches)
    if len(found) == 1:
        if found[0] != text.strip():
            note(f"took {show(text.strip())} for {show(found[0])}")
        return (found[0],)
    begins = text.lstrip()[:1]
    if _takes_text(branches) and not found and begins not in ("", "{", "[", '"', "`"):
        return (text.strip(),)
    return None


def may_be_text(text: str, schema: Schema) -> bool:
    """Return whether a text may be a text answer as it stands."""
    if text[ahead(text)[1] :].lstrip()[:1] in _BEGINS:
        return False
    return _takes_text(TypeCheck(schema).branches(schema))


_BEGINS = frozenset(("", "{", "[", '"', "`", "'", "“"))
"""The beginnings of a reply that is no bare text."""


def _takes_text(branches: list[Schema]) -> bool:
    return any(each.get("type") == "string" for each in branches)


_TRUTHS = {"yes": True, "true": True, "no": False, "false": False}


def _choices(text: str, branches: list[Schema]) -> list[Any]:
    """Return the choices and booleans that a text means. A choice in the same letters wins."""
    word, exact = _word(text), (text.strip(), _bare_word(text) or text.strip())
    found: list[Any] = []
    for branch in branches:
        listed = branch.get("enum", ()) if branch.keys() <= {"type", "enum"} else ()
        texts = [each for each in listed if isinstance(each, str)]
        found += [each for each in texts if each in exact or _word(each) == word != ""]
        if branch == {"type": "boolean"} and word in _TRUTHS:
            found.append(_TRUTHS[word])
    return next(([each] for each in exact if each in found), found)


def _word(text: str) -> str:
    return _bare_word(text).casefold()


def _bare_word(text: str) -> str:
    return text.rstrip(f"{_MARKS}!").lstrip(_MARKS)


@define(eq=False)
class AnswerFitter:
    """The fit of one reply to its type. The result for a part of the reply and a part of the type
    is computed once, even if unions repeat it."""

    schema: Schema
    check: TypeCheck = field(init=False)
    made_: dict[tuple[int, int], tuple[Any, tuple[str, ...]]] = field(factory=dict)

    def __attrs_post_init__(self) -> None:
        self.check = TypeCheck(self.schema)

    def unwrap(self, data: Any, note: Note) -> Any:
        """Return the content of the wrapper, if there is one."""
        if type(data) is not dict or WRAPPER not in data or wrap_schema(self.schema) is self.schema:
            return data
        if len(data) > 1:
            if self.check.fits_schema(data, self.schema):
                return data
            note(f"left out {_list_names([key for key in data if key != WRAPPER])}")
        return data[WRAPPER]

    def fit(self, data: Any) -> tuple[Any, tuple[str, ...]]:
        """Return the data as the type means them, and the notes."""
        return self._fit(data, self.schema)

    def unfit(self, data: Any) -> Misfit | None:
        """Return the misfit of fitted data. None if they fit."""
        return self.check.unfit(data)

    def _fit(self, data: Any, schema: Schema) -> tuple[Any, tuple[str, ...]]:
        schema = self.check.resolve(schema)
        key = (id(data), id(schema))
        if key not in self.made_:
            if not self.check.count_step(schema):
                return data, ()
            self.check.kept.append(data)
            notes: list[str] = []
            self.made_[key] = self._make(data, schema, notes.append), tuple(notes)
        return self.made_[key]

    def _make(self, data: Any, schema: Schema, note: Note) -> Any:
        if not self.check.is_plain(schema):
            return data
        if "anyOf" in schema:
            return self._of_branches(data, schema, note)
        if isinstance(data, str) and not is_choice(data, schema):
            found = _choices(data, [schema])
            if len(found) == 1:
                note(f"took {show(data)} for {show(found[0])}")
                return found[0]
        if type(data) is list and "items" in schema:
            return [self._part(item, schema["items"], note) for item in data]
        if type(data) is dict and "properties" in schema:
            return self._fields(data, schema, note)
        return data

    def _part(self, data: Any, schema: Schema, note: Note) -> Any:
        made, notes = self._fit(data, schema)
        for each in notes:
            note(each)
        return made

    def _fields(self, data: dict[str, Any], schema: Schema, note: Note) -> dict[str, Any]:
        properties = schema["properties"]
        is_closed = schema.get("additionalProperties") is False
        extra = [name for name in data if name not in properties] if is_closed else []
        if extra:
            note(f"left out {_list_names(extra)}")
        return {
            name: self._part(item, properties[name], note) if name in properties else item
            for name, item in data.items()
            if not (is_closed and name not in properties)
        }

    def _of_branches(self, data: Any, schema: Schema, note: Note) -> Any:
        """Return the data as they stand if they fit, else as the only branch that they fit."""
        if self.check.fits(data, schema):
            return data
        found: list[tuple[Any, tuple[str, ...]]] = []
        for branch in self.check.branches(schema):
            made, notes = self._fit(data, branch)
            if self.check.fits(made, branch) and made not in [each for each, _ in found]:
                found.append((made, notes))
        if len(found) != 1:
            return data
        for each in found[0][1]:
            note(each)
        return found[0][0]


def _list_names(names: list[str]) -> str:
    shown = ", ".join(f"`{name[:40]}`" for name in names[:5])
    more = ", …" if len(names) > 5 else ""
    return f"the field{'s' if len(names) > 1 else ''} {shown}{more}"


_BESIDE = frozenset(("allOf", "anyOf", "oneOf", "then", "else"))


def with_integers(data: Any, schema: str | dict[str, Any] | None) -> Any:
    """Return data that fit a JSON Schema with integers in its integer places: `3.0` and `1e2` are
    the integers that they stand for, at full precision."""
    if not isinstance(schema, dict) or not _has_fractions(data):
        return data
    return _at(data, [schema], SchemaParts(References(schema), _BESIDE))


def _has_fractions(data: Any) -> bool:
    if isinstance(data, dict):
        data = list(data.values())
    if isinstance(data, list):
        return any(map(_has_fractions, data))
    return isinstance(data, (float, Decimal))


def _at(data: Any, parts: list[Any], speaking: SchemaParts) -> Any:
    """Return data with integers, by the parts of the schema that apply to them."""
    about = speaking.about(parts)
    if not about:
        return data
    if isinstance(data, (float, Decimal)):
        return _number(data) if any(map(_asks, about)) else data
    inside = speaking.inside(about, data)
    if isinstance(data, list):
        return [_at(data[at], found, speaking) for at, found in inside]
    if isinstance(data, dict):
        return {key: _at(data[key], found, speaking) for key, found in inside}
    return data


def _asks(part: Part) -> bool:
    """Return whether a part demands an integer."""
    type_ = part.get("type")
    listed = type_ if isinstance(type_, list) else [type_]
    return "integer" in listed and "number" not in listed


def _number(data: float | Decimal) -> float | Decimal | int:
    # A float is here only if its shortest digits are those of the text.
    number = data if isinstance(data, Decimal) else Decimal(repr(data))
    return int(number) if is_whole(number) else data
