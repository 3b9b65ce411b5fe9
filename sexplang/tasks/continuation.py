"""A reply text that is a CONTINUATION result to the request or the proposal that it holds."""

import json
import re
from collections.abc import Mapping

from sexplang.tasks.json_text import read_json, unfit
from sexplang.tasks.plans.artifacts import body_of, object_in
from sexplang.tasks.plans.proposal import Proposal, proposal
from sexplang.tasks.request import SubtaskRequest, fields_of, snake, subtask_request
from sexplang.terms.node import evolve
from sexplang.terms.value import Fault, Value


def continuation(text: str, offered: Mapping[str, str]) -> SubtaskRequest | Proposal | None:
    """The request in a reply text that is a CONTINUATION result, fenced or not; else None.

    A task that is offered plans and no subtasks proposes a plan of one by a request.
    """
    if "CONTINUATION" not in text:
        return None
    twice: list[str] = []
    result = object_in(text, twice)
    if result.get("status") != "CONTINUATION":
        flaw = _flaw(body_of(text), result, twice)
        return None if flaw is None else _malformed(flaw, offered)
    request = _request(result, offered)
    problems = dict.fromkeys(twice, "it stands twice in one object: keep one")
    why = unfit(result)
    if why is not None:
        problems["notes"] = why
    return evolve(request, problems={**request.problems, **problems}) if problems else request


_MEANT = re.compile(r"""\bstatus["']?\s*:\s*["']CONTINUATION\b""")


def _flaw(body: str, result: Mapping[str, Value], twice: list[str]) -> dict[str, str] | None:
    """What is wrong with a text that is no CONTINUATION result and was meant to be one; None if it
    was not: whoever asked for an answer is not to be given it as one."""
    if not body.startswith("{") or not _MEANT.search(body):
        return None
    if result:
        return {"status": "it stands twice in one object: keep one"} if "status" in twice else None
    try:
        read_json(body, [])
    except json.JSONDecodeError as error:
        if error.msg == "Extra data":  # words behind it make it no whole text
            return None
        return {"result": f"it is not JSON: {error}; write one JSON object alone"}
    except (ValueError, RecursionError, Fault):
        pass
    return {"result": "it is no data: it is nested too deep, or a number in it is too long"}


def _malformed(problems: dict[str, str], offered: Mapping[str, str]) -> SubtaskRequest | Proposal:
    return Proposal({}, problems) if _plans_only(offered) else SubtaskRequest({}, problems)


def _plans_only(offered: Mapping[str, str]) -> bool:
    tools = offered.values()
    return "propose_subplan" in tools and "spawn_subtask" not in tools


def _request(result: Mapping[str, Value], offered: Mapping[str, str]) -> SubtaskRequest | Proposal:
    notes = fields_of(result.get("notes")) or {}
    notes = {snake(key): item for key, item in notes.items()}
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
    """A plan, with the artifacts that stand beside it: a part of the work is done already."""
    fields = fields_of(given)
    if fields is None or notes.get("artifacts") is None:
        return proposal(given)
    return proposal({**fields, "artifacts": notes["artifacts"]})


def _evaluation(value: Value) -> SubtaskRequest:
    """The older `evaluation_request {type criteria target}` as a subtask of subtype evaluator."""
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
