"""The match of a SubtaskRequest: the task that takes it, and how it was found.

A request is matched by name, in any case and with any hyphens. Else only tasks that take its inputs
are candidates, of the requested subtype if there are any. A hint that is a task's name decides;
then words: the Jaccard index of the request (name, description, hints) and the task (name,
description, criteria), at least 0.1, ties by name. The only task of a subtype needs no words. A
request that no task takes goes to the only task of subtype `subtask`. The asking task itself is
found only by its name.
"""

from sexplang.tasks.failures import bad_input, fail_unmatched
from sexplang.tasks.plans.fields import letters
from sexplang.tasks.plans.proposal import Proposal
from sexplang.tasks.requests.definitions import signature_of
from sexplang.tasks.requests.subtask_request import (
    SubtaskRequest,
    check_programmed,
    fields_of,
    subtask_request,
)
from sexplang.tasks.start.call_settings import fill_inputs, fits
from sexplang.terms.task import Conversation, Match, error_of
from sexplang.terms.template import Template
from sexplang.terms.texts.words import roots
from sexplang.terms.values.value import Fault, Record, Value

THRESHOLD = 0.1
CANDIDATES = 5
_LONGEST = 200
"""The most characters of a request that its error repeats."""
DEFAULT = "subtask"
"""The subtype of a request that names none."""

Scored = list[tuple[float, Template]]


def match(
    tasks: tuple[Template, ...], request: Value, conversations: tuple[Conversation, ...]
) -> Match | Record:
    """Return the task for a request, or the error record that says why there is none."""
    read = check_programmed(subtask_request(request))
    try:
        if read.problems:
            raise report_malformed(read)
        named = reachable_tasks(tasks, conversations)
        if not named:
            raise fail_unmatched(_explain_no_match(read.fields, tasks, _name_of(conversations)), ())
        return _match(read.fields, named, _name_of(conversations))
    except Fault as fault:
        return error_of(fault)


def report_malformed(read: SubtaskRequest | Proposal) -> Fault:
    """Return the failure of a malformed request or plan."""
    if isinstance(read, Proposal):
        kind, hint = "subplan", 'write {reason: "TooLarge" subtasks: [{description: "…"}]}'
    else:
        kind, hint = "subtask request", 'write {description: "…" inputs: {…}}'
    return bad_input(f"a malformed {kind}: {read.complaint()}", hint, fields=tuple(read.problems))


def describe_substitute(name: Value, found: Value) -> str:
    """Return the note for a request that named no task and was taken by another. Empty if it was
    not."""
    if name is None or name == found:
        return ""
    return f"no task is called `{name}`; `{found}` took the request"


def name_request(error: Record, name: Value, found: str) -> Record:
    """Return the error of a task that did not begin. It mentions the request's name if another task
    took it."""
    said = describe_substitute(name, found)
    if not said:
        return error
    return Record(error.kind, {**error.fields, "message": f"{error.fields['message']} ({said})"})


def _name_of(conversations: tuple[Conversation, ...]) -> str | None:
    return conversations[-1].name if conversations else None


def _match(request: dict[str, Value], named: tuple[Template, ...], asks: str | None) -> Match:
    inputs, description = fields_of(request["inputs"]) or {}, request.get("description", "")

    def make_match(template: Template, by: str = "", ranked: Scored | None = None) -> Match:
        given = fill_inputs(template, inputs, description)
        return Match(template, given, _describe_match(by, template, ranked) if by else None)

    name = request.get("name")
    for template in named:
        if template.name == name:
            return make_match(template)
    alike = [each for each in named if name and letters(each.name) == letters(name)]
    if len(alike) == 1:
        return make_match(alike[0], "spelling")
    others = [each for each in named if each.name != asks]
    subtype = _subtype(request)
    narrowed = [each for each in others if each.subtype == subtype] or others
    takes = [each for each in narrowed if fits(each, fill_inputs(each, inputs, description))]
    ranked = _rank(request, takes)
    if len(takes) == 1 and takes[0].subtype == subtype:
        return make_match(takes[0], "subtype", ranked)
    if ranked and ranked[0][0] >= THRESHOLD:
        return make_match(
            ranked[0][1], "hint" if _is_hinted(request, ranked[0][1]) else "words", ranked
        )
    default = [each for each in takes if each.subtype == DEFAULT]
    if subtype is None and len(default) == 1:
        return make_match(default[0], "default", ranked)
    ranked = _rank(request, narrowed)
    raise fail_unmatched(_message(request, ranked), _list_scores(ranked))


def _subtype(request: dict[str, Value]) -> Value:
    """Return the subtype that narrows the choice. The documents had free text in `type`
    ("verification"); it counts as a subtype."""
    type_, subtype = request["type"], request.get("subtype")
    if subtype not in (None, DEFAULT):
        return subtype
    return type_ if type_ not in ("atomic", DEFAULT) else None


def _rank(request: dict[str, Value], templates: list[Template]) -> Scored:
    asked = roots(
        " ".join((request.get("name", ""), request.get("description", ""), *_hints(request)))
    )
    scored = [
        (1.0 if _is_hinted(request, each) else _similarity(asked, each), each) for each in templates
    ]
    return sorted(scored, key=lambda pair: (-pair[0], pair[1].name))


def _hints(request: dict[str, Value]) -> tuple[str, ...]:
    hints: tuple[str, ...] = request.get("template_hints") or ()
    return hints


def _is_hinted(request: dict[str, Value], template: Template) -> bool:
    return letters(template.name) in [letters(hint) for hint in _hints(request)]


def _similarity(asked: frozenset[str], template: Template) -> float:
    known = roots(f"{template.name} {template.own_description} {template.criteria}")
    union = len(asked | known)
    return len(asked & known) / union if union else 0.0


def _describe_match(by: str, template: Template, ranked: Scored | None) -> dict[str, Value]:
    """Describe how a task was found: `{by score others}`."""
    scores = {each.name: round(score, 3) for score, each in (ranked or [])[: CANDIDATES + 1]}
    others = tuple(
        [{"name": name, "score": score} for name, score in scores.items() if name != template.name]
    )
    return {"by": by, "score": scores.get(template.name), "others": others[:CANDIDATES]}


def _explain_no_match(
    request: dict[str, Value], tasks: tuple[Template, ...], asks: str | None
) -> str:
    """Describe why the asking task can have no task done."""
    clause = [name for each in tasks if each.name == asks for name in each.subtasks]
    if not clause:
        return _message(request, [])
    listed = ", ".join([f"`{name}`" for name in dict.fromkeys(clause)][:CANDIDATES])
    why = f"`{asks}` names {listed}, and no task can be asked for by such a name"
    return f"no task takes the request `{_wish_of(request)}`: {why}"


def _wish_of(request: dict[str, Value]) -> str:
    wanted: str = (request.get("name") or request["description"])[:_LONGEST]
    return wanted


def _message(request: dict[str, Value], ranked: Scored) -> str:
    wanted = _wish_of(request)
    if not ranked:
        return f"no task takes the request `{wanted}`: there is none that may be asked for"
    listed = ", ".join([f"`{signature_of(template)}`" for _, template in ranked[:CANDIDATES]])
    names = [f"`{name[:_LONGEST]}`" for name in fields_of(request["inputs"]) or ()]
    more = ", …" if len(names) > CANDIDATES else ""
    given = f" with the inputs {', '.join(names[:CANDIDATES])}{more}" if names else ""
    return f"no task takes the request `{wanted}`{given}; the nearest are {listed}"


def _list_scores(ranked: Scored) -> tuple[Value, ...]:
    return tuple(
        {"name": template.name, "subtype": template.subtype, "score": round(score, 3)}
        for score, template in ranked[:CANDIDATES]
    )


def candidates(tasks: tuple[Template, ...], asks: Template | None = None) -> tuple[Template, ...]:
    """Return the tasks of a template's clause `subtasks`, in its order, else all public tasks,
    those of its own file first. The template itself is among them only if its clause names it."""
    public = [each for each in tasks if each.is_public]
    if asks is None:
        return tuple(public)
    if asks.subtasks:
        by_name = {each.name: each for each in public}
        return tuple([by_name[name] for name in asks.subtasks if name in by_name])
    file = _file_of(asks)
    others = [each for each in public if each is not asks]
    others.sort(key=lambda each: file is None or _file_of(each) != file)
    return tuple(others)


def reachable_tasks(
    tasks: tuple[Template, ...], conversations: tuple[Conversation, ...]
) -> tuple[Template, ...]:
    """Return the tasks that a request in these conversations can name: the candidates of the
    innermost task, its tools, and itself. Of several private tasks of one name, the one with the
    fewest counts."""
    return reachable_from(tasks, conversations[-1].name if conversations else None)


def reachable_from(tasks: tuple[Template, ...], name: str | None) -> tuple[Template, ...]:
    """Return the reachable tasks of the innermost task's name."""
    asking = [each for each in tasks if each.name == name]
    found = candidates(tasks, asking[0] if asking else None)
    for other in asking[1:]:
        allowed = candidates(tasks, other)
        found = tuple([each for each in found if each in allowed])
    own = [each for each in asking if each.is_public and not each.subtasks]
    tools = [each for each in tasks if each.is_public and _is_tool(each, asking)]
    known = {each.name for each in found}
    return (*found, *[each for each in (*own, *tools) if each.name not in known])


def _is_tool(task: Template, asking: list[Template]) -> bool:
    return bool(asking) and all(task.name in each.allowed_tools for each in asking)


def _file_of(template: Template) -> str | None:
    return None if template.span is None else template.span.source.name
