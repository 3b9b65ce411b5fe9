"""A SubtaskRequest and the templates there are to the template that takes it.

By name, else by subtype if exactly one template has it, else by words: the Jaccard index of the
words of the request (name, description, hints) and of the template (name, description,
criteria), at least 0.1, ties by name. A hint that is a template's name counts as 1. A request that
asks for no subtype and finds nothing is taken by the only template of subtype `subtask`.
"""

from sexplang.tasks.failures import bad_input, nobody
from sexplang.tasks.plans.proposal import Proposal
from sexplang.tasks.request import SubtaskRequest, programmed, subtask_request
from sexplang.terms.task import error_of
from sexplang.terms.template import Template
from sexplang.terms.value import Fault, Record, Value
from sexplang.terms.words import roots

THRESHOLD = 0.1
CANDIDATES = 5
DEFAULT = "subtask"
"""The subtype that a request has where it names none."""


def match(request: Value, templates: tuple[Template, ...]) -> Template | Record:
    """The template for a request, or the error record that says why there is none."""
    read = programmed(subtask_request(request))
    try:
        if read.problems:
            raise malformed(read)
        return _match(read.fields, templates)
    except Fault as fault:
        return error_of(fault)


def malformed(read: SubtaskRequest | Proposal) -> Fault:
    """The failure of a request, or of a plan, that is none."""
    if isinstance(read, Proposal):
        kind, hint = "subplan", 'write {reason: "TooLarge" subtasks: [{description: "…"}]}'
    else:
        kind, hint = "subtask request", 'write {description: "…" inputs: {…}}'
    return bad_input(f"a malformed {kind}: {read.complaint()}", hint, fields=tuple(read.problems))


def taken_by(name: Value, found: Value) -> str:
    """What is said where a request names a task that is not there, and another one takes it."""
    if name is None or name == found:
        return ""
    return f"no task is called `{name}`; `{found}` took the request"


def asked_for(error: Record, name: Value, found: str) -> Record:
    """The error of a task that did not begin; it says so where the request named another one."""
    said = taken_by(name, found)
    if not said:
        return error
    return Record(error.kind, {**error.fields, "message": f"{error.fields['message']} ({said})"})


def _match(request: dict[str, Value], templates: tuple[Template, ...]) -> Template:
    name = request.get("name")
    for template in templates:
        if template.name == name:
            return template
    # `type` was free text in the documents ("verification"): then it says what a subtype says.
    subtype = request.get("subtype") or (request["type"] if request["type"] != "atomic" else None)
    fitting = tuple(template for template in templates if template.subtype == subtype)
    if len(fitting) == 1:
        return fitting[0]
    ranked = sorted(
        ((_score(request, template), template) for template in fitting or templates),
        key=lambda scored: (-scored[0], scored[1].name),
    )
    if ranked and ranked[0][0] >= THRESHOLD:
        return ranked[0][1]
    default = [template for template in templates if template.subtype == DEFAULT]
    if subtype is None and len(default) == 1:
        return default[0]
    raise nobody(_message(request, ranked), _listed(ranked))


def _score(request: dict[str, Value], template: Template) -> float:
    hints = request.get("template_hints") or ()
    if template.name in hints:
        return 1.0
    asked = roots(" ".join((request.get("name", ""), request.get("description", ""), *hints)))
    known = roots(f"{template.name} {template.description} {template.criteria}")
    union = len(asked | known)
    return len(asked & known) / union if union else 0.0


def _message(request: dict[str, Value], ranked: list[tuple[float, Template]]) -> str:
    wanted = request.get("name") or request.get("description")
    if not ranked:
        return f"no task takes the request `{wanted}`: this program has no templates"
    names = ", ".join(f"`{template.name}`" for _, template in ranked[:CANDIDATES])
    return f"no task takes the request `{wanted}`; the nearest are {names}"


def _listed(ranked: list[tuple[float, Template]]) -> tuple[Value, ...]:
    return tuple(
        {"name": template.name, "subtype": template.subtype, "score": round(score, 3)}
        for score, template in ranked[:CANDIDATES]
    )
