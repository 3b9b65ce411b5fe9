"""Checks of data against a schema, and the faults of a schema.

A schema is a word of the mini-language (`object`, `string[]`, …) or a JSON Schema.
"""

import json
import re
from itertools import islice
from typing import Any

from sexplang.schemas.checker import BAD, Account, TooMuch, check_of, is_of, type_name
from sexplang.schemas.misfits import misfits
from sexplang.terms.classes.node import frozen
from sexplang.terms.json.json_reader import NotJson
from sexplang.terms.json.strict import certain

_WORD = re.compile(r"(object|array|string|number|integer|boolean|any)?((?:\[\]){0,8})")
# Brackets alone stand for a list of anything.
_JSON_TYPES: dict[str, dict[str, Any]] = {
    "any": {},
    **{
        name: {"type": name}
        for name in ("object", "array", "string", "number", "integer", "boolean")
    },
}
WORDS = "object, array, string, number, integer or boolean, each also with [] for a list of them"

_MOST_TOLD = 5


@frozen
class Misfit:
    """The reason why data do not fit: a sentence, the expected and the actual type, the
    violations."""

    sentence: str
    expected: str
    actual: str
    violations: tuple[str, ...] = ()


def resolve(schema: str | dict[str, Any] | None) -> str | dict[str, Any] | None:
    """Return a JSON Schema in JSON text as data. Return any other schema unchanged."""
    if not isinstance(schema, str) or not schema.lstrip().startswith("{"):
        return schema
    try:
        data: dict[str, Any] = certain(schema.strip())
    except NotJson:
        return schema
    return data


def schema_problem(schema: str | dict[str, Any]) -> str | None:
    """Return the fault of a schema as a sentence. None for a good one."""
    schema = resolve(schema) or schema
    if isinstance(schema, str):
        if schema.lstrip().startswith("<"):
            return "an XSD is the schema of a reply that is XML"
        if schema.lstrip().startswith("{"):
            return _json_problem(schema)
        return None if _is_word(schema) else f"`{schema[:40]}` is not a schema"
    try:
        check_of(_text(schema))
    except BAD as error:
        return _describe_error(error)
    return None


_TYPES = "array, boolean, integer, null, number, object, string"


def _describe_error(error: Exception) -> str:
    """Describe the error of a schema, with its place."""
    words = str(error).split("\n", 1)[0][:200] or "this is not a JSON Schema"
    path = [str(key) for key in getattr(error, "instance_path", ())]
    if not path:
        return words
    if path[-1] == "type" and "anyOf" in words:
        words = f"{words.split(' is not valid', 1)[0]} is no type: write one of {_TYPES}"
    return f"at `{'.'.join(path)[:80]}`: {words}"


def fits(data: Any, schema: str | dict[str, Any] | None, account: Account) -> bool:
    """Return whether data fit a schema. Raises TooMuch."""
    if schema is None:
        return True
    if isinstance(schema, str):
        return _misfit_word(data, schema) is None
    try:
        return check_of(_text(schema)).fits(data, account)
    except BAD:
        # The check of the template has reported it. No reply can be measured by it.
        return False


def misfit(
    data: Any,
    schema: str | dict[str, Any] | None,
    account: Account | None = None,
    told: Account | None = None,
) -> Misfit | None:
    """Return the misfit of data and a good schema. None if they fit. The search for the violations
    is charged to `told`."""
    if isinstance(schema, str):
        return _misfit_word(data, schema)
    try:
        if schema is None or fits(data, schema, account or Account()):
            return None
        found = misfits(check_of(_text(schema)), data, told or Account())
        violations = list(map(str, islice(found, _MOST_TOLD + 1)))
    except TooMuch as why:
        return Misfit(str(why), "schema", type_name(data))
    except BAD:
        return Misfit("what it should fit is not a JSON Schema", "schema", type_name(data))
    violations[_MOST_TOLD:] = ["…"] * (len(violations) > _MOST_TOLD)
    expected = schema.get("type")
    return Misfit(
        f"it does not fit the schema: {'; '.join(violations)}",
        expected if isinstance(expected, str) else "schema",
        type_name(data),
        tuple(violations),
    )


def opening_brackets(schema: str | dict[str, Any] | None) -> str:
    """Return the brackets with which data of a schema can begin."""
    type_ = schema.get("type") if isinstance(schema, dict) else None
    word = type_ if isinstance(schema, dict) else schema
    if word == "object":
        return "{"
    if isinstance(word, str) and (word == "array" or word.endswith("]")):
        return "["
    return "{["


def _is_word(word: str) -> bool:
    return bool(word) and _WORD.fullmatch(word) is not None


def schema_of_word(word: str) -> dict[str, Any]:
    """Return the JSON Schema of a word of the mini-language. Empty if it admits anything."""
    match = _WORD.fullmatch(word)
    if match is None:
        return {}
    schema = _JSON_TYPES[match[1] or "any"]
    for _ in range(len(match[2]) // 2):
        schema = {"type": "array", "items": schema} if schema else {"type": "array"}
    return dict(schema)


def _misfit_word(data: Any, word: str) -> Misfit | None:
    wanted: dict[str, Any] = schema_of_word(word)
    level, where = [data], ""
    while True:
        expected = wanted.get("type")
        wrong = next((item for item in level if not is_of(item, expected)), _ALL_FIT)
        if wrong is not _ALL_FIT:
            actual = type_name(wrong)
            if not where:
                return Misfit(f"it must be {_a(word)}, and it is {_a(actual)}", word, actual)
            sentence = f"it must be {_a(word)}, and one of its items is {_a(actual)}"
            return Misfit(sentence, word, f"array with {_a(actual)}")
        if "items" not in wanted:
            return None
        wanted, where = wanted["items"], "items"
        level = [part for item in level for part in item]


_ALL_FIT = object()


def _a(word: str) -> str:
    if word.endswith("[]") and len(word) > 2:
        return f"an array (`{word}`)"
    if word == "[]":
        return "an array"
    return word if word == "null" else f"{'an' if word[0] in 'aio' else 'a'} {word}"


def _json_problem(text: str) -> str | None:
    try:
        certain(text)
    except NotJson as error:
        return f"this JSON Schema is not JSON: {error}"
    return None


def _text(schema: dict[str, Any]) -> str:
    return json.dumps(as_json(schema), sort_keys=True)


def as_json(schema: dict[str, Any]) -> dict[str, Any]:
    """Return the schema with lists in place of tuples."""
    plain: dict[str, Any] = json.loads(json.dumps(schema, allow_nan=False))
    return plain
