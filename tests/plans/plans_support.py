"""Programs that propose plans, played by hand: who answers what, what hangs, what was told."""

import json
from pathlib import Path
from typing import Any

from attrs import define, field

import sexplang
from sexplang.api.performer_table import whole_reply
from sexplang.api.python_values import value
from sexplang.machine import Done, Failed, Limits, Suspended, state_of
from sexplang.runtime import Refusal

TEMPLATES = """<templates>
<task name="chief" type="atomic"><description>Manage a project</description>
  <params><param name="goal" type="string"/></params><instructions>Goal: {{goal}}</instructions>
  <allowed_tools><tool>propose_subplan</tool></allowed_tools></task>
<task name="lead" type="atomic"><description>Lead a part of it</description>
  <params><param name="part" type="string"/></params><instructions>Part: {{part}}</instructions>
  <allowed_tools><tool>propose_subplan</tool></allowed_tools></task>
<task name="clerk" type="atomic"><description>Look one thing up</description>
  <params><param name="what" type="string"/></params>
  <instructions>Find {{what}}</instructions></task>
</templates>"""


def proposing(*subtasks: Any, reason: str = "TooLarge", **more: Any) -> dict[str, Any]:
    """A reply that proposes a plan; a text is a subtask for the clerk, called by it."""
    listed = [clerk(each) if isinstance(each, str) else each for each in subtasks]
    plan = {"reason": reason, "subtasks": listed, **more}
    return {"tool_use": {"name": "propose_subplan", "input": plan}}


def clerk(what: str, *after: int, **more: Any) -> dict[str, Any]:
    """A subtask for the clerk."""
    return {"name": "clerk", "description": what, "depends_on_subtasks": list(after), **more}


def lead(part: str, *after: int, **more: Any) -> dict[str, Any]:
    """A subtask for somebody who may propose plans too."""
    return {"name": "lead", "description": part, "depends_on_subtasks": list(after), **more}


@define
class Played:
    """What happened: the value, or the error that ended the program."""

    value: Any = None
    error: Any = None
    told: list[Any] = field(factory=list)
    """The tool results that models got, as data where they are JSON, oldest first."""
    states: list[str] = field(factory=list)
    prompts: list[str] = field(factory=list)
    """The first texts of all model calls, in the order in which they were made."""
    widest: int = 0
    """The most model calls that were open at a time."""
    withdrawn: int = 0
    asked: list[Any] = field(factory=list)
    """All other requests: operation and arguments."""


def play(
    tmp_path: Path,
    program: str,
    says: Any,
    *,
    hangs: Any = (),
    answers: Any = None,
    pick: Any = None,
    latest: Any = None,
    templates: str = TEMPLATES,
    **options: Any,
) -> Played:
    """Runs a program. `says(task, prompt, turn, told)` is the model's reply; a prompt that holds a
    word of `hangs` is never answered; when nothing else is open a deadline passes, the innermost
    or that which `latest` chooses. `pick` chooses among the requests that can be answered."""
    (tmp_path / "tasks.xml").write_text(templates)
    file = tmp_path / "program.sexp"
    imports = '(import "tasks.xml")\n(import std/subplans)\n(import std/plan-tree)'
    file.write_text(f"{imports}\n{program}")
    played = Played()
    outcome = sexplang.start(
        sexplang.build(file), limits=options.pop("limits", Limits()), **options
    )
    while isinstance(outcome, Suspended):
        played.withdrawn += len(outcome.withdrawn)
        models = [each for each in outcome.requests if each.operation == "model"]
        played.widest = max(played.widest, len(models))
        for each in state_of(outcome).opened:
            _note(played, each)
        ready = [each for each in outcome.requests if not _hangs(each, hangs)]
        if not ready:
            ready = [each for each in outcome.requests if each.operation == "timer"]
            assert ready, "everything hangs and no deadline is there"
            ready = [latest(ready)] if latest is not None else ready[-1:]
        # What the host answers at once comes before what models take their time for.
        ready = [each for each in ready if each.operation != "model"] or ready
        request = ready[0] if pick is None else pick(ready)
        reply = _reply(request, says, answers)
        outcome = _answered(outcome, request, reply)
    played.withdrawn += len(outcome.withdrawn)
    if isinstance(outcome, Done):
        played.value = sexplang.result(outcome)
    else:
        assert isinstance(outcome, Failed)
        played.error = outcome
    return played


def _answered(outcome: Suspended, request: Any, reply: Any) -> Any:
    """A model's reply may be written as in a scripted file."""
    if request.operation != "model":
        return outcome.resume(request.id, reply)
    try:
        return outcome.resume(request.id, whole_reply(value(reply), request))
    except Refusal as refusal:
        return outcome.fail(request.id, refusal.error)


def _hangs(request: Any, hangs: Any) -> bool:
    if request.operation == "timer":
        return True
    return request.operation == "model" and any(word in _prompt(request) for word in hangs)


def _prompt(request: Any) -> str:
    text: str = request.arguments[0]["messages"][0]["content"][0]["text"]
    return text


def _note(played: Played, request: Any) -> None:
    if request.operation == "progress":
        played.states.append(request.arguments[0])
    elif request.operation != "model":
        played.asked.append((request.operation, *request.arguments))
    else:
        played.prompts.append(_prompt(request))
        for block in request.arguments[0]["messages"][-1]["content"]:
            if block["type"] == "tool_result":
                played.told.append(_data(block["content"]))


def _data(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


def _reply(request: Any, says: Any, answers: Any) -> Any:
    if request.operation == "model":
        payload = request.arguments[0]
        messages = payload["messages"]
        turn = sum(each["role"] == "assistant" for each in messages)
        last = messages[-1]["content"][0]
        return says(payload["task"], _prompt(request), turn, _data(last.get("content") or ""))
    return answers(request.operation, *request.arguments) if answers is not None else None
