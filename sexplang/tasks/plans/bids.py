"""The bids for a subtask: how well each task fits, and its estimated cost.

Fitness is from 0 to 1: the share of the required capabilities in the task's words, and the
similarity to the description. Cost is in tokens: all turns with their longest replies. A task that
is hinted at by name fits wholly, and so does a task that the request's name finds.
"""

from collections.abc import Callable

from sexplang.tasks.prompt.window import tokens_in
from sexplang.tasks.requests.match import CANDIDATES, THRESHOLD, match, reachable_tasks
from sexplang.tasks.requests.subtask_request import fields_of
from sexplang.tasks.start.parameters import fill_inputs, fits
from sexplang.tasks.start.preparation import Prepared
from sexplang.terms.task import Conversation
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
