"""What a conversation has been given: to the notes of its result, and of the error that ends it.

One function says it for every way out: a result and an error have the same notes by the same names.
"""

from sexplang.tasks.continuation import continuation
from sexplang.tasks.plans.artifacts import Artifacts, together
from sexplang.tasks.plans.keeping import Planning, answered, delivering, is_plan
from sexplang.tasks.plans.proposal import Proposal, proposal
from sexplang.tasks.replies import Reply
from sexplang.tasks.request import fields_of
from sexplang.tasks.session import HandlerSession
from sexplang.terms.node import evolve
from sexplang.terms.text import plain
from sexplang.terms.value import Fault, Record, Value


def given(session: HandlerSession, more: Artifacts = ()) -> dict[str, Value]:
    """`{subtasks artifacts subplans}`, each where there is any: the results of its subtasks, what
    it has delivered, with `more`, and what answered its plans."""
    planning = session.planning or Planning()
    artifacts = together(planning.artifacts, more)
    notes = {"subtasks": planning.subtasks, "artifacts": artifacts, "subplans": planning.accepted}
    return {name: found for name, found in notes.items() if found}


def with_given(error: Record, notes: dict[str, Value]) -> Record:
    """The error whose `details.partial_results` hold these, in place of what it had by their
    names."""
    if not notes:
        return error
    details = fields_of(error.fields.get("details")) or {}
    before = details.get("partial_results")
    partial = {**before, **notes} if isinstance(before, dict) else notes
    details = {**details, "partial_results": partial}
    return Record(error.kind, {**error.fields, "details": details})


def kept(result: Record) -> Record:
    """A result as it is kept: what a failed one had been given stands in its notes alone, and not
    in its error too. So each of many failures inside of each other is there once."""
    notes = fields_of(result.fields.get("notes")) or {}
    error = notes.get("error")
    details = fields_of(error.fields.get("details")) if isinstance(error, Record) else None
    if not isinstance(error, Record) or not details or "partial_results" not in details:
        return result
    rest = {name: item for name, item in details.items() if name != "partial_results"}
    error = Record(error.kind, {**error.fields, "details": rest})
    fields = {**result.fields, "notes": {**notes, "error": error}}
    return Record(result.kind, fields, result.answer)


def with_subtasks(session: HandlerSession, replies: tuple[Value, ...]) -> HandlerSession:
    """The session that keeps what subtasks gave among what answered it: whatever answers a request
    for one, and whatever a task gave to a tool."""
    is_asked = session.waits in ("subtask", "subplan")
    found = [each for each in replies if is_asked or _is_result(each)]
    known = [
        kept(each) if isinstance(each, Record) else each
        for each in found
        if not is_plan(each) and _is_data(each)
    ]
    if not known:
        return session
    planning = session.planning or Planning()
    return evolve(session, planning=evolve(planning, subtasks=(*planning.subtasks, *known)))


def with_replies(session: HandlerSession, replies: tuple[Value, ...]) -> HandlerSession:
    """The session that ends at these replies, with what they gave it."""
    session = with_subtasks(session, replies)
    planning = session.planning
    if session.waits != "subplan" or planning is None:
        return session
    said = answered(planning, replies[0])
    return session if said is None else evolve(session, planning=said.planning)


def delivered(session: HandlerSession, reply: Reply) -> Planning | None:
    """What it keeps of its plans, with what a reply delivers that ends it."""
    offered, planning = session.setup.offered, session.planning
    uses = [use for use in reply.uses if offered.get(use.name) == "propose_subplan"]
    found = [proposal(use.input) for use in uses]
    asked = continuation(session.said + reply.text, offered, session.setup.format)
    if isinstance(asked, Proposal) and "propose_subplan" in offered.values():
        found.append(asked)
    for read in found:
        planning = delivering(planning, read)
    return planning


def _is_result(value: Value) -> bool:
    return isinstance(value, Record) and value.kind == "TaskResult"


def _is_data(value: Value) -> bool:
    try:
        plain(value)
    except Fault:  # there is a function in it; the model is told so
        return False
    return True
