"""A subtask and the templates there are to bids: how well each fits, and what it may cost.

Fitness is from 0 to 1: the share of the required capabilities that the template's words have, and
how alike its words are to the description's. Cost is in tokens: all its turns with all they may
write. Who is hinted at by name fits wholly, and so does whoever a request for a subtask finds by
the name that is given.
"""

from collections.abc import Callable

from sexplang.tasks.matching import CANDIDATES, THRESHOLD, match
from sexplang.tasks.prepare import Prepared
from sexplang.tasks.request import fields_of
from sexplang.tasks.window import tokens_in
from sexplang.terms.template import Template
from sexplang.terms.value import Value
from sexplang.terms.words import roots


def bids(
    prepared: Callable[[Template], Prepared], node: Value, templates: tuple[Template, ...]
) -> tuple[Value, ...]:
    """`[{task fitness cost param decomposes} …]`, the best first: the fittest, of these the
    cheapest, then by name. `param` takes the description where a subtask has no inputs."""
    subtask = fields_of(node) or {}
    if subtask.get("name"):
        named = _named(subtask, templates)
        return () if named is None else (_bid(1.0, _cost(prepared(named)), named),)
    scored = [(_fitness(subtask, template), template) for template in templates]
    fitting = [(fit, _cost(prepared(each)), each) for fit, each in scored if fit >= THRESHOLD]
    fitting.sort(key=lambda bid: (-bid[0], bid[1], bid[2].name))
    return tuple([_bid(fit, cost, each) for fit, cost, each in fitting[:CANDIDATES]])


def _named(subtask: dict[str, Value], templates: tuple[Template, ...]) -> Template | None:
    """Who gets the request that is made of a subtask with a name."""
    hints = (*(subtask.get("required_capabilities") or ()), *(subtask.get("template_hints") or ()))
    request = {
        **{key: subtask.get(key) for key in ("name", "description")},
        "template_hints": hints,
    }
    found = match(request, templates)
    return found if isinstance(found, Template) else None


def _bid(fitness: float, cost: int, template: Template) -> dict[str, Value]:
    return {
        "task": template.name,
        "fitness": round(fitness, 3),
        "cost": cost,
        "param": _param(template),
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
    most = prepared.payload["max_tokens"]
    cost: int = prepared.setup.max_turns * (prompt + most)
    return cost


def _param(template: Template) -> str | None:
    needed = [param for param in template.params if param.required]
    if len(needed) == 1 and needed[0].type in ("any", "string"):
        return needed[0].name
    return None
