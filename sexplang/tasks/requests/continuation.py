"""The request or the plan in a reply text that is a CONTINUATION result."""

import json
import re
from collections.abc import Mapping
from typing import Any, Literal, TypeAlias

from sexplang.tasks.plans.artifacts import body_of, object_in
from sexplang.tasks.plans.proposal import Proposal, proposal
from sexplang.tasks.requests.match import reachable_from
from sexplang.tasks.requests.subtask_request import (
    SubtaskRequest,
    fields_of,
    snake,
    subtask_request,
)
from sexplang.tasks.start.call_settings import fits
from sexplang.terms.classes.node import evolve
from sexplang.terms.json.json_reader import normalize_error
from sexplang.terms.json.strict import READABLE_DEPTH, is_deep, is_large, read_json, unfit
from sexplang.terms.template import OutputFormat, Template
from sexplang.terms.texts.thoughts import ahead
from sexplang.terms.values.value import Fault, Value


def continuation(
    text: str, offered: Mapping[str, str], format: OutputFormat
) -> SubtaskRequest | Proposal | None:
    """Return the request in a reply text that is a CONTINUATION result, or nearly one. None for any
    other text. An uncertain request has a problem: it must not become the answer of the task.

    A task that is offered plans and no subtasks proposes a plan of one subtask by a request.
    """
    if "{" not in text:
        return None
    said = text.lower()
    if not any(word in said for word in _WORDS):
        return None
    if len(text) > _MOST_SEARCHED:
        is_meant = '"CONTINUATION"' in text and '"status"' in text
        return _report_problems({"result": _TOO_LONG}, offered) if is_meant else None
    text = text[ahead(text)[1] :]
    twice: list[str] = []
    body = body_of(text)
    result = object_in(text, twice)
    if not result:
        # A list is an answer.
        return None if body.startswith("[") else _among_words(text, body, offered, format)
    kind = _kind(result, format)
    if kind is None:
        is_meant = "status" in twice and _MEANT.search(body) is not None
        return _report_problems({"status": _TWICE}, offered) if is_meant else None
    asking = result
    if kind == "bare":  # its other notes stay
        asking = {"notes": {**(fields_of(result.get("notes")) or {}), **result}}
    request = _request(asking, offered)
    problems = dict.fromkeys(twice, _TWICE)
    why = unfit(result)
    if why is not None:
        problems["notes"] = why
    if kind != "whole":
        request = _with_remark(request, _REMARK)
    return evolve(request, problems={**request.problems, **problems}) if problems else request


_WORDS = ("continuation", "subtask", "subplan")
"""Words of which every request contains one."""
_TWICE = "it occurs twice in one object: keep one"
_MEANT = re.compile(r"""\bstatus["']?\s*:\s*["']CONTINUATION\b""", re.IGNORECASE)
_HELD = re.compile(
    r"""["'](?:subtask_?request|subplan|evaluation_?request)["']\s*:""", re.IGNORECASE
)
_REMARK = "a request that is no CONTINUATION result was read as one"
_BESIDE = frozenset(("status", "content", "type", "artifacts", "notes"))
_MOST_TRIES = 20
_MOST_SEARCHED = 1_000_000
_TOO_LONG = f"it is longer than {_MOST_SEARCHED:,} characters: ask for less at once"

Kind: TypeAlias = Literal["whole", "nearly", "bare"]
"""The kind of a request: a CONTINUATION result; one with another status or none; its notes
alone."""


def _kind(result: Mapping[str, Value], format: OutputFormat) -> Kind | None:
    """Return the kind of an object that asks for something. None for any other object, such as an
    answer with a status of its own, or a schema with such a field."""
    status = result.get("status")
    fields = {snake(key): item for key, item in result.items()}
    notes = {snake(key): item for key, item in (fields_of(fields.get("notes")) or {}).items()}
    is_bare = any(_has_shape(fields.get(name), needed) for name, needed in _ASKS.items())
    if not (
        status is None or (isinstance(status, str) and status.strip().upper() == "CONTINUATION")
    ):
        return None
    is_own = not fields.keys().isdisjoint(_own_fields(format.schema))
    if status == "CONTINUATION":
        if not _HOLDS.isdisjoint(notes):
            return "whole"
        # The word is no answer, unless the task's schema has such a field.
        if is_own:
            return None
        return "bare" if is_bare else "whole"
    if is_own or not fields.keys() <= _BESIDE | _ASKS.keys():
        return None
    if any(_has_shape(notes.get(name), needed) for name, needed in _ASKS.items()):
        return "nearly"
    return "bare" if is_bare else None


def _own_fields(schema: Any) -> set[str]:
    """Return the fields of an answer by its JSON Schema, in any branch of a union."""
    found: set[str] = set()
    work, seen = [schema], set()
    while work:
        each = work.pop()
        if isinstance(each, dict) and id(each) not in seen:
            seen.add(id(each))
            found |= (fields_of(each.get("properties")) or {}).keys()
            for name in _BRANCHES:
                branches = each.get(name)
                work += branches if isinstance(branches, (tuple, list)) else (branches,)
            work.append(_resolve_reference(schema, each.get("$ref")))
    return found


_BRANCHES = ("anyOf", "oneOf", "allOf", "if", "then", "else")


def _resolve_reference(schema: Any, reference: Value) -> Any:
    """Return the part of a schema that a local reference leads to. Else None."""
    if not isinstance(reference, str) or not reference.startswith("#"):
        return None
    part = schema
    for name in reference.lstrip("#/").split("/") if len(reference) > 1 else ():
        part = part.get(name) if isinstance(part, dict) else None
    return part


_ASKS = {
    "subtask_request": frozenset(("description", "name")),
    "subplan": frozenset(("description", "name", "subtasks")),
}
"""The notes that ask for something, and the fields of which one must be present."""
_HOLDS = frozenset((*_ASKS, "evaluation_request"))
"""The notes of a CONTINUATION result that ask for something."""


def bare_request(text: str, tasks: tuple[Template, ...], asks: str) -> SubtaskRequest | None:
    """Return the request that a whole text is, without a CONTINUATION. It must name a task that the
    asking task may have done, with inputs that fit, and have no unknown field."""
    if '"name"' not in text or '"inputs"' not in text:
        return None
    twice: list[str] = []
    fields = object_in(text, twice)
    name, inputs = fields.get("name"), fields.get("inputs")
    if twice or not isinstance(inputs, dict) or not inputs or unfit(fields) is not None:
        return None
    if not any(task.name == name and fits(task, inputs) for task in reachable_from(tasks, asks)):
        return None
    request = subtask_request(fields)
    if request.problems or request.unknown:
        return None
    return evolve(request, remarks=(*request.remarks, _REMARK))


def _has_shape(value: Value, needed: frozenset[str]) -> bool:
    return not needed.isdisjoint(map(snake, fields_of(value) or ()))


def _among_words(
    text: str, body: str, offered: Mapping[str, str], format: OutputFormat
) -> SubtaskRequest | Proposal | None:
    """Return the request in a text that is not a JSON object. It is certain if it is the only one,
    has its status, and stands on lines of its own with one paragraph on one side only. A longer
    text may show an example."""
    # Words may mention a status. Only an object that holds a request is one.
    objects = [(made, {**made, "status": None}, place) for made, place in _objects(text)]
    found = [(made, *place) for made, asks, place in objects if _kind(asks, format) is not None]
    if not found:
        return _read_broken(text, body, offered)
    made, start, end = found[0]
    if len(found) == 1 and _kind(made, format) is None:  # an answer with its own status
        return None
    sides = _strip_fence(text[:start], text[end:])
    is_certain = len(found) == 1 and isinstance(made.get("status"), str)
    if not (is_certain and _stands_apart(*sides)):
        problem = "it stands among other words: write its JSON alone, or answer without it"
        return _report_problems({"result": problem}, offered)
    request = continuation(text[start:end], offered, format)
    return request and _with_remark(request, "the words around a CONTINUATION result were left out")


def _strip_fence(before: str, behind: str) -> tuple[str, str]:
    """Return the text on both sides of a request, without its code fence."""
    ahead, fence, tag = before.rpartition("```")
    rest = behind.lstrip()
    if fence and rest.startswith("```") and tag.strip().replace("-", "").isalnum() | tag.isspace():
        return ahead, rest[3:]
    return before, behind


def _stands_apart(before: str, behind: str) -> bool:
    """Return whether one side is blank, and the other is one paragraph on lines of its own."""
    if before and not before.isspace():
        words, is_apart = before, before.rstrip(" \t").endswith("\n")
        if behind and not behind.isspace():
            return False
    else:
        words, is_apart = behind, behind.lstrip(" \t").startswith("\n")
    return is_apart and all(line and not line.isspace() for line in words.strip().split("\n"))


def _objects(text: str) -> list[tuple[dict[str, Value], tuple[int, int]]]:
    """Return the JSON objects of a text with their positions, as long as braces belong to them. An
    object inside broken JSON is a part of it."""
    found = []
    decoder = json.JSONDecoder()
    at = text.find("{")
    if is_large(text) or is_deep(text[at:], READABLE_DEPTH):
        at = -1
    for _ in range(_MOST_TRIES):
        if at < 0:
            break
        try:
            made, end = decoder.raw_decode(text, at)
            found.append((made, (at, end)))
        except (ValueError, RecursionError):
            end = text.find("}", at)
            if end < 0 or "{" in text[at + 1 : end]:
                break
        at = text.find("{", end)
    return found


def _read_broken(
    text: str, body: str, offered: Mapping[str, str]
) -> SubtaskRequest | Proposal | None:
    """Return the problem of a CONTINUATION result that cannot be read. None if the text is not
    one."""
    is_alone = body.startswith("{")
    if not _MEANT.search(text) or not (is_alone or _HELD.search(text)):
        return None
    start = text.find("{")
    try:
        read_json(body if is_alone else text[start:], [])
    except json.JSONDecodeError as error:
        if error.msg == "Extra data" and is_alone:  # another object with words behind it
            return None
        problem = f"it is not JSON: {normalize_error(error)}; write one JSON object alone"
        return _report_problems({"result": problem}, offered)
    except (ValueError, RecursionError, Fault):
        pass
    problem = "it is no data: it is too large, nested too deep, or a number in it is too long"
    return _report_problems({"result": problem}, offered)


def _with_remark(request: SubtaskRequest | Proposal, remark: str) -> SubtaskRequest | Proposal:
    """Return the request with one more note."""
    if isinstance(request, Proposal):
        return evolve(request, warnings=(*request.warnings, remark))
    return evolve(request, remarks=(*request.remarks, remark))


def _report_problems(
    problems: dict[str, str], offered: Mapping[str, str]
) -> SubtaskRequest | Proposal:
    return Proposal({}, problems) if _plans_only(offered) else SubtaskRequest({}, problems)


def _plans_only(offered: Mapping[str, str]) -> bool:
    tools = offered.values()
    return "propose_subplan" in tools and "spawn_subtask" not in tools


def _request(result: Mapping[str, Value], offered: Mapping[str, str]) -> SubtaskRequest | Proposal:
    notes = fields_of(result.get("notes")) or {}
    notes = {snake(key): item for key, item in notes.items()}
    if all(_has_shape(notes.get(name), needed) for name, needed in _ASKS.items()):
        return _report_problems(
            {"notes": "they hold a subplan and a subtask_request: keep one"}, offered
        )
    if "subplan" in notes:
        return _proposal(notes["subplan"], notes)
    if "subtask_request" in notes:
        if _plans_only(offered):
            return _proposal({"subtasks": (notes["subtask_request"],)}, notes)
        return subtask_request(notes["subtask_request"])
    if "evaluation_request" in notes:
        return _evaluation(notes["evaluation_request"])
    if _plans_only(offered):
        return proposal(None)
    problem = "write a table with description and inputs"
    return SubtaskRequest({}, {"notes.subtask_request": problem})


def _proposal(given: Value, notes: dict[str, Value]) -> Proposal:
    """Return a plan with the artifacts that stand beside it."""
    fields = fields_of(given)
    if fields is None or notes.get("artifacts") is None:
        return proposal(given)
    return proposal({**fields, "artifacts": notes["artifacts"]})


def _evaluation(value: Value) -> SubtaskRequest:
    """Return the older `evaluation_request {type criteria target}` as a subtask of subtype
    evaluator."""
    old = fields_of(value)
    if old is None:
        return SubtaskRequest({}, {"notes.evaluation_request": "write notes.subtask_request"})
    criteria = old.get("criteria")
    listed = criteria if isinstance(criteria, (tuple, list)) else (criteria,)
    words = " ".join(item for item in listed if isinstance(item, str))
    request: dict[str, Value] = {
        "description": f"evaluate {words}".strip(),
        "subtype": "evaluator",
        "inputs": {key: item for key, item in old.items() if key != "type"},
    }
    made = subtask_request(request)
    remark = "notes.evaluation_request is the older form; write notes.subtask_request"
    return evolve(made, remarks=(remark,))
