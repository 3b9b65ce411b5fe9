"""The artifacts of a subtask, `[{name type path|text}]`, and the missing ones."""

import re

from sexplang.tasks.requests.subtask_request import fields_of
from sexplang.terms.json.strict import read_json
from sexplang.terms.values.value import Fault, Record, Value

_FENCE = "```"
_LANGUAGE = re.compile(r"[\w-]*+")

Artifacts = tuple[dict[str, Value], ...]


def artifacts_of(value: Value) -> Artifacts | None:
    """Return a list of artifacts with all their fields. None if the value is not one."""
    found = fitting_artifacts(value)
    return found if isinstance(value, (tuple, list)) and len(found) == len(value) else None


def fitting_artifacts(value: Value) -> Artifacts:
    """Return the items of a list that are artifacts with all their fields."""
    items = value if isinstance(value, (tuple, list)) else ()
    return tuple([each for each in map(_artifact, items) if each is not None])


def _artifact(item: Value) -> dict[str, Value] | None:
    fields = fields_of(item) or {}
    name, text, path = fields.get("name"), fields.get("text"), fields.get("path")
    kind = fields.get("type") or "text"
    if not isinstance(name, str) or not name or not isinstance(kind, str):
        return None
    if isinstance(path, str) and path:
        return {"name": name, "type": kind, "path": path}
    if isinstance(text, str):
        return {"name": name, "type": kind, "text": text}
    return None


def object_in(text: str, twice: list[str] | None = None) -> dict[str, Value]:
    """Return the JSON object that a whole text is, fenced or not. Empty if it is none. Duplicate
    keys are added to `twice`."""
    body = body_of(text)
    if not body.startswith("{"):
        return {}
    try:
        return fields_of(read_json(body, [] if twice is None else twice)) or {}
    except (ValueError, RecursionError, Fault):
        return {}


def body_of(text: str) -> str:
    """Return a text without the white space and the code fence around it."""
    body = text.strip()
    if len(body) < 2 * len(_FENCE) or not (body.startswith(_FENCE) and body.endswith(_FENCE)):
        return body
    language = _LANGUAGE.match(body, len(_FENCE), len(body) - len(_FENCE))
    assert language is not None
    return body[language.end() : -len(_FENCE)].strip()


def merge(known: Artifacts, more: Artifacts) -> Artifacts:
    """Return the artifacts of both, each name once. A later one replaces an earlier one."""
    return tuple({each["name"]: each for each in (*known, *more)}.values())


def read_artifacts(result: Value) -> tuple[Artifacts, str | None]:
    """Return the artifacts of a result, from its notes, data or JSON text, and the content that
    stands beside them in such a text."""
    fields = fields_of(result) or {}
    notes = fields_of(fields.get("notes")) or {}
    found = artifacts_of(notes.get("artifacts")) or ()
    parsed = fields_of(fields.get("parsed_content"))
    found = merge(found, artifacts_of((parsed or {}).get("artifacts")) or ())
    content = fields.get("content")
    if parsed is not None or not isinstance(result, Record) or not isinstance(content, str):
        return found, None
    said = object_in(content)
    inner = {**(fields_of(said.get("notes")) or {}), **said}
    more = artifacts_of(inner.get("artifacts"))
    if more is None:
        return found, None
    words = said.get("content")
    return merge(found, more), words if isinstance(words, str) else None


def outputs(node: Value, result: Value) -> dict[str, Value]:
    """Return the outputs of a plan's node, `{artifacts content missing}`. `missing` names the
    expected outputs that are absent. `content` is nil if the result's own content holds."""
    fields = fields_of(node) or {}
    artifacts, content = read_artifacts(result)
    missing: list[Value] = []
    if not fields.get("allow_no_op"):
        types = {each["type"] for each in artifacts}
        paths = {each.get("path") for each in artifacts} | {each["name"] for each in artifacts}
        missing += [f"artifact of type `{kind}`" for kind in _texts(fields, "outputs") - types]
        missing += [f"file `{path}`" for path in _texts(fields, "files") - paths]
    return {"artifacts": artifacts, "content": content, "missing": tuple(sorted(missing, key=str))}


def _texts(fields: dict[str, Value], name: str) -> set[Value]:
    value = fields.get(name)
    return set(value) if isinstance(value, tuple) else set()
