"""The bids for a subtask, and the forecast whether the best one can begin.

Fitness is from 0 to 1: the share of the required capabilities in the task's words, and the
similarity to the description. Cost is in tokens: all turns with their longest replies. A task that
is hinted at by name fits wholly, and so does a task that the request's name finds.

Law: the forecast matches a node as `stdlib/subplans.sexp` and `stdlib/subtask.sexp` will match it,
and begins its task up to its first request, which is not made.
"""

from collections.abc import Callable
from typing import TypeAlias

from sexplang.tasks.plans.judgement import Foreseen
from sexplang.tasks.prompt.window import tokens_in
from sexplang.tasks.requests.match import (
    CANDIDATES,
    THRESHOLD,
    describe_substitute,
    match,
    reachable_tasks,
)
from sexplang.tasks.requests.subtask_request import fields_of
from sexplang.tasks.start.call_settings import fill_inputs, fits
from sexplang.tasks.start.opening_request import Prepared
from sexplang.terms.plan import Standing
from sexplang.terms.task import Broke, Conversation, Match, Session, Want
from sexplang.terms.template import Template
from sexplang.terms.texts.words import roots
from sexplang.terms.values.value import Record, Value

USUAL = 4096
"""The output tokens of a turn if the template sets no limit."""


def bids(
    prepared: Callable[[Template], Prepared],
    tasks: tuple[Template, ...],
    node: Value,
    conversations: tuple[Conversation, ...],
) -> tuple[Value, ...]:
    """Return `[{task fitness cost decomposes} …]`, the best first: by fitness, cost, name. If some
    tasks take the inputs, only they bid. The asking task does not bid."""
    subtask = fields_of(node) or {}
    if subtask.get("name"):
        named = match(tasks, _request(subtask), conversations)
        if isinstance(named, Record):
            return ()
        return (_bid(1.0, _cost(prepared(named.template)), named.template),)
    asks = conversations[-1].name if conversations else None
    others = [each for each in reachable_tasks(tasks, conversations) if each.name != asks]
    inputs, description = fields_of(subtask.get("inputs")) or {}, subtask.get("description") or ""
    takes = [each for each in others if fits(each, fill_inputs(each, inputs, description))]
    scored = [(_fitness(subtask, template), template) for template in takes or others]
    fitting = [(fit, _cost(prepared(each)), each) for fit, each in scored if fit >= THRESHOLD]
    fitting.sort(key=lambda bid: (-bid[0], bid[1], bid[2].name))
    return tuple([_bid(fit, cost, each) for fit, cost, each in fitting[:CANDIDATES]])


def _request(subtask: dict[str, Value]) -> dict[str, Value]:
    """Return the request of a subtask with a name."""
    hints = (*(subtask.get("required_capabilities") or ()), *(subtask.get("template_hints") or ()))
    given = {key: subtask.get(key) for key in ("name", "description", "inputs")}
    return {**given, "template_hints": hints}


def _bid(fitness: float, cost: int, template: Template) -> dict[str, Value]:
    return {
        "task": template.name,
        "fitness": round(fitness, 3),
        "cost": cost,
        "decomposes": "propose_subplan" in template.allowed_tools,
    }


def _fitness(subtask: dict[str, Value], template: Template) -> float:
    hints = subtask.get("template_hints") or ()
    if template.name in hints:
        return 1.0
    tools = " ".join(template.allowed_tools)
    said = f"{template.name} {template.description} {template.criteria} {template.subtype}"
    known, skills = roots(said), roots(f"{said} {tools}")
    asked = roots(" ".join((subtask.get("description") or "", *hints)))
    union = asked | known
    alike = len(asked & known) / len(union) if union else 0.0
    capabilities = [roots(each) for each in subtask.get("required_capabilities") or ()]
    if not capabilities:
        return alike
    met = sum([each <= skills for each in capabilities]) / len(capabilities)
    return (met + alike) / 2


def _cost(prepared: Prepared) -> int:
    template = prepared.template
    prompt = tokens_in(template.instructions) + tokens_in(template.system) + prepared.tool_tokens
    most = prepared.payload.get("max_tokens", USUAL)
    cost: int = prepared.setup.max_turns * (prompt + most)
    return cost


Matched: TypeAlias = Callable[[Value, tuple[Conversation, ...]], Match | Record]
Bid: TypeAlias = Callable[[Value, tuple[Conversation, ...]], tuple[Value, ...]]
Begin: TypeAlias = Callable[
    [Template, dict[str, Value], dict[str, Value], tuple[Conversation, ...]],
    tuple[Conversation, Session, Want],
]


def foresee(
    matched: Matched,
    bid: Bid,
    begin: Begin,
    node: dict[str, Value],
    max_depth: Value,
    around: Standing,
) -> Foreseen:
    """Return why a node would fail before its first request, and the note about its task. Both are
    empty if there is nothing to say."""
    if not around.is_ours:
        return "", ""
    winner = fields_of(next(iter(bid(node, around.conversations)), None)) or {}
    request = {
        "name": node["name"] or winner.get("task"),
        "description": node["description"],
        "inputs": node["inputs"],
        "template_hints": (*node["required_capabilities"], *node["template_hints"]),
    }
    found = matched(request, around.conversations)
    if isinstance(found, Record):
        return found.fields["message"], ""
    overrides = {"subtype": "subtask", "file_paths": node["file_paths"], "max_depth": max_depth}
    _, _, want = begin(found.template, found.inputs, overrides, around.conversations)
    if isinstance(want, Broke):
        return _why(want.error.fields, found.template), ""
    return "", describe_substitute(node["name"], found.template.name)


def _why(error: dict[str, Value], template: Template) -> str:
    """Describe the error. Inputs that do not fit are described in JSON's words."""
    details = error["details"]
    problems = [f"`{name}` is missing" for name in details.get("missing", ())]
    problems += [f"`{name}` is unknown" for name in details.get("unknown", ())]
    problems += [
        f"`{each['name']}` is {_KINDS.get(each['actual'], each['actual'])}, not {each['expected']}"
        for each in details.get("invalid", ())
    ]
    if not problems or "unknown" not in details:
        message: str = error["message"]
        return message
    takes = ", ".join(
        [f"`{param.name}` ({param.type}{_optional(param.required)})" for param in template.params]
    )
    return (
        f"its inputs do not fit task `{template.name}`: {', '.join(problems)}; the task takes "
        f"{takes or 'no inputs'}"
    )


_KINDS = {"nil": "null"}


def _optional(is_required: bool) -> str:
    return "" if is_required else ", optional"
