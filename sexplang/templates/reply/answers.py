"""The answer of a reply with a known type, and its misfits by path.

A value with one possible meaning is converted with a note: a choice in other letters, yes for true,
a missing wrapper. A field that the type does not have is left out.
"""

import json
from collections.abc import Callable, Iterator
from decimal import Decimal
from itertools import islice
from typing import Any

from sexplang.templates.json_schema import checker
from sexplang.templates.json_schema.applicable_parts import Part, Speaking
from sexplang.templates.json_schema.checker import Account, TooMuch, is_of, type_name
from sexplang.templates.json_schema.misfits import astray, choose_branch
from sexplang.templates.json_schema.schema import Misfit, fits, misfit
from sexplang.terms.classes.node import define, field
from sexplang.terms.json.strict import is_whole
from sexplang.terms.schemas import References
from sexplang.terms.texts.thoughts import ahead

Note = Callable[[str], None]
Schema = dict[str, Any]

WRAPPER = "answer"
"""The field that holds an answer which is no object. Providers enforce schemas of objects."""

_PLAIN = frozenset(("type", "enum", "items", "properties", "required", "anyOf"))
_PLAIN |= {"additionalProperties"}
_MARKS = " \t\r\n\"'`*_.,;:()[]“”‘’«»"
"""Characters that may stand around a word. A ! before it may be a no, and a ? behind it is a
question."""
_MOST = 5
_LONGEST = 1_000
"""The most characters of an expectation."""

MOST_STEPS = 250_000
"""The most parts of a reply that are checked against parts of a type, and choices that are
compared."""


def wrap_schema(schema: Schema) -> Schema:
    """Return the schema for a model: that of an object, if possible."""
    if schema.get("type") == "object" or "$ref" in json.dumps(schema):
        return schema
    return {
        "type": "object",
        "properties": {WRAPPER: schema},
        "required": [WRAPPER],
        "additionalProperties": False,
    }


def bare(text: str, schema: Schema, note: Note) -> tuple[Any] | None:
    """Return the answer of a text without JSON, if it can only have one meaning. Else None."""
    found = _choices(text, schema)
    if len(found) == 1:
        if found[0] != text.strip():
            note(f"took {_show(text.strip())} for {_show(found[0])}")
        return (found[0],)
    begins = text.lstrip()[:1]
    if _takes_text(schema) and not found and begins not in ("", "{", "[", '"', "`"):
        return (text.strip(),)
    return None


def may_be_text(text: str, schema: Schema) -> bool:
    """Return whether a text may be a text answer as it stands."""
    return _takes_text(schema) and text[ahead(text)[1] :].lstrip()[:1] not in _BEGINS


_BEGINS = frozenset(("", "{", "[", '"', "`", "'", "“"))
"""The beginnings of a reply that is no bare text."""


def _takes_text(schema: Schema) -> bool:
    return any(each.get("type") == "string" for each in _branches(schema))


def _branches(schema: Schema) -> list[Schema]:
    """Return the branches of a union, or the schema itself."""
    if not schema.keys() <= {"anyOf"} or not schema:
        return [schema]
    return [each for branch in schema["anyOf"] for each in _branches(branch)]


_TRUTHS = {"yes": True, "true": True, "no": False, "false": False}


def _choices(text: str, schema: Schema) -> list[Any]:
    """Return the choices and booleans that a text means. A choice in the same letters wins."""
    word, exact = _word(text), (text.strip(), _bare_word(text) or text.strip())
    found: list[Any] = []
    for branch in _branches(schema):
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

    kept: list[Any] = field(factory=list)
    """The parts of the reply, kept alive so that their ids stay unique."""
    fits_: dict[tuple[int, int], bool] = field(factory=dict)
    made_: dict[tuple[int, int], tuple[Any, tuple[str, ...]]] = field(factory=dict)
    steps: int = 0
    checked: Account = field(factory=Account)
    """The account of the library's checks."""
    note: Account = field(factory=Account)
    """The account of the library's search for misfits."""

    def unwrap(self, data: Any, schema: Schema, note: Note) -> Any:
        """Return the content of the wrapper, if there is one."""
        if wrap_schema(schema) is schema or type(data) is not dict or WRAPPER not in data:
            return data
        if len(data) > 1:
            if self._is_of_schema(data, schema):
                return data
            note(f"left out {_list_names([key for key in data if key != WRAPPER])}")
        return data[WRAPPER]

    def _count_step(self, schema: Schema) -> bool:
        """Count a step, and one for each choice. Return whether steps are left."""
        self.steps += 1 + len(schema.get("enum", ()))
        return self.steps <= MOST_STEPS

    def fit(self, data: Any, schema: Schema) -> tuple[Any, tuple[str, ...]]:
        """Return the data as the type means them, and the notes."""
        key = (id(data), id(schema))
        if key not in self.made_:
            if not self._count_step(schema):
                return data, ()
            self.kept.append(data)
            notes: list[str] = []
            self.made_[key] = self._fit(data, schema, notes.append), tuple(notes)
        return self.made_[key]

    def _fit(self, data: Any, schema: Schema, note: Note) -> Any:
        if not schema.keys() <= _PLAIN:
            return data
        if "anyOf" in schema:
            return self._of_branches(data, schema, note)
        if isinstance(data, str) and not _is_choice(data, schema):
            found = _choices(data, schema)
            if len(found) == 1:
                note(f"took {_show(data)} for {_show(found[0])}")
                return found[0]
        if type(data) is list and "items" in schema:
            return [self._part(item, schema["items"], note) for item in data]
        if type(data) is dict and "properties" in schema:
            return self._fields(data, schema, note)
        return data

    def _part(self, data: Any, schema: Schema, note: Note) -> Any:
        made, notes = self.fit(data, schema)
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
        if self.fits(data, schema):
            return data
        found: list[tuple[Any, tuple[str, ...]]] = []
        for branch in _branches(schema):
            made, notes = self.fit(data, branch)
            if self.fits(made, branch) and made not in [each for each, _ in found]:
                found.append((made, notes))
        if len(found) != 1:
            return data
        for each in found[0][1]:
            note(each)
        return found[0][0]

    def fits(self, data: Any, schema: Schema) -> bool:
        """Return whether data fit as they stand, without extra fields."""
        key = (id(data), id(schema))
        if key not in self.fits_:
            if not self._count_step(schema):
                return False
            self.kept.append(data)
            self.fits_[key] = self._fits(data, schema)
        return self.fits_[key]

    def _fits(self, data: Any, schema: Schema) -> bool:
        if not schema.keys() <= _PLAIN:
            return self._is_of_schema(data, schema)
        if "anyOf" in schema:
            return any(self.fits(data, each) for each in schema["anyOf"])
        if "enum" in schema:
            return _is_choice(data, schema)
        if not is_of(data, schema.get("type")):
            return False
        if type(data) is list:
            items = schema.get("items", {})
            return all(self.fits(item, items) for item in data)
        if type(data) is not dict:
            return True
        properties = schema.get("properties", {})
        is_closed = schema.get("additionalProperties") is False
        return all(name in data for name in schema.get("required", ())) and all(
            self.fits(item, properties[name]) if name in properties else not is_closed
            for name, item in data.items()
        )

    def _is_of_schema(self, data: Any, schema: Schema) -> bool:
        try:
            return fits(data, schema, self.checked)
        except TooMuch:
            return False

    def unfit(self, data: Any, schema: Schema) -> Misfit | None:
        """Return the misfit of fitted data. None if they fit."""
        found = list(islice(self._unfit(data, schema, ""), _MOST + 1))
        if self.steps > MOST_STEPS or self.checked.left < 0:
            most = MOST_STEPS if self.steps > MOST_STEPS else checker.MOST_STEPS
            words = f"holding it to its type takes more than {most:,} steps"
            return Misfit(words, _expectation(schema), type_name(data))
        if not found:
            return None
        shown = tuple(found[:_MOST]) + (("…",) if len(found) > _MOST else ())
        words = f"it does not fit: {'; '.join(shown)}"
        return Misfit(words, _expectation(schema), type_name(data), shown)

    def _unfit(self, data: Any, schema: Schema, path: str) -> Iterator[str]:
        """Return the misfits, each with its path."""
        if self.fits(data, schema):
            return
        if not schema.keys() <= _PLAIN:
            yield from self._by_schema(data, schema, path)
        elif "anyOf" in schema:
            branches = _branches(schema)
            wrong = astray(data, [each for each in branches if _is_branch_of(data, each)])
            at = choose_branch(data, branches, _is_branch_of)
            if wrong is not None:
                name, known = wrong
                yield _describe(_under(path, name), {"enum": known}, data[name])
            elif at is None:
                yield _describe(path, schema, data)
            else:
                yield from self._unfit(data, branches[at], path)
        elif "enum" in schema or not is_of(data, schema.get("type")):
            yield _describe(path, schema, data)
        elif type(data) is list:
            for at, item in enumerate(data):
                yield from self._unfit(item, schema["items"], _under(path, str(at)))
        else:
            for name in schema.get("required", ()):
                if name not in data:
                    yield f"{_under(path, name)}: it is missing"
            for name, item in data.items():
                if name in schema.get("properties", {}):
                    yield from self._unfit(item, schema["properties"][name], _under(path, name))

    def _by_schema(self, data: Any, schema: Schema, path: str) -> list[str]:
        wrong = misfit(data, schema, self.note, self.note)
        if wrong is None:
            return []
        violations = wrong.violations or (wrong.sentence,)
        return [f"{path}: {each}" if path else each for each in violations]


def _is_branch_of(data: Any, branch: Schema) -> bool:
    return "type" in branch and is_of(data, branch["type"])


def _is_choice(data: Any, schema: Schema) -> bool:
    listed = schema.get("enum", ())
    return any(data == each and type_name(data) == type_name(each) for each in listed)


def _describe(path: str, schema: Schema, data: Any) -> str:
    return f"{path or 'the answer'}: expected {_expectation(schema)}, got {_show(data)}"


def _expectation(schema: Schema) -> str:
    if "enum" in schema:
        words = "one of " + ", ".join(_show(each) for each in schema["enum"])
    elif "anyOf" in schema:
        words = " or ".join(dict.fromkeys(_expectation(each) for each in _branches(schema)))
    else:
        words = str(schema.get("type", "any value"))
    return words if len(words) <= _LONGEST else f"{words[: _LONGEST - 1]}…"


def _show(data: Any) -> str:
    if type(data) in (list, dict):
        return f"{'an array' if type(data) is list else 'an object'} of {len(data)}"
    words = json.dumps(data, ensure_ascii=False, default=str)
    return words if len(words) <= 60 else f"{words[:59]}…"


def _under(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


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
    return _at(data, [schema], Speaking(References(schema), _BESIDE))


def _has_fractions(data: Any) -> bool:
    if isinstance(data, dict):
        data = list(data.values())
    if isinstance(data, list):
        return any(map(_has_fractions, data))
    return isinstance(data, (float, Decimal))


def _at(data: Any, parts: list[Any], speaking: Speaking) -> Any:
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
