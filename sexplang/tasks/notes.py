"""What a conversation has been given: to the notes of its result, and of the error that ends it.

One function says it for every way out: a result and an error have the same notes by the same names.
"""

from sexplang.tasks.plans.artifacts import Artifacts, together
from sexplang.tasks.plans.ledger import Planning, is_plan, read_answer, strip_error, with_artifacts
from sexplang.tasks.plans.proposal import Proposal, proposal
from sexplang.tasks.requests.continuation import continuation
from sexplang.tasks.requests.subtask_request import fields_of
from sexplang.tasks.session import NOTHING, Block, HandlerSession
from sexplang.tasks.turns.replies import Reply
from sexplang.terms.classes.node import evolve
from sexplang.terms.task import Cut
from sexplang.terms.values.abbreviation import MOST, part
from sexplang.terms.values.text import plain
from sexplang.terms.values.value import Fault, Record, Value


def notes_of(session: HandlerSession, more: Artifacts = ()) -> dict[str, Value]:
    """`{subtasks artifacts subplans}`, each where there is any: the results of its subtasks, what
    it has delivered, with `more`, and what answered its plans."""
    planning = session.planning or Planning()
    artifacts = together(planning.artifacts, more)
    notes = {"subtasks": planning.subtasks, "artifacts": artifacts, "subplans": planning.accepted}
    return {name: found for name, found in notes.items() if found}


def notes_in(cut: Cut) -> dict[str, Value]:
    """What the outermost conversation of those that are cut off has been given; in it, as
    `unfinished`, what the next one has said and been given, and so on inward. What stands beside
    each other and has ended is `finished`."""
    notes = _notes_of_branches(cut)
    inner: HandlerSession | None = None
    for session in cut.sessions:
        own = notes_of(session)
        if inner is not None:
            notes = {"unfinished": _about(inner, notes)}
        elif "subplans" in own and "subplans" in notes:
            notes = {**notes, "subplans": (*own["subplans"], *notes["subplans"])}
        inner, notes = session, {**own, **notes}
    return {name: found for name, found in notes.items() if found}


def _about(session: HandlerSession, notes: dict[str, Value]) -> tuple[Value, ...]:
    """A task that is not done, as what is around it tells of it; nothing where it has nothing."""
    turns = texts_so_far(session)
    content = turns[-1] if turns else ""
    about = {"task": session.setup.task, "content": content, **with_said(notes, turns, content)}
    return (about,) if content or notes else ()


def _notes_of_branches(cut: Cut) -> dict[str, Value]:
    """What the branches have that are cut off."""
    unfinished: list[Value] = []
    finished = [part(each) for each in cut.done if each is not None and _is_data(each)][-MOST:]
    plans: tuple[Value, ...] = ()
    for inner in cut.inside:
        notes = notes_in(inner)
        if inner.sessions:
            unfinished += _about(inner.sessions[-1], notes)
            continue
        unfinished += notes.get("unfinished", ())
        finished += notes.get("finished", ())
        plans += notes.get("subplans", ())
    if cut.is_plan and (finished or unfinished):
        plan = {"accepted": True, "results": tuple(finished), "unfinished": tuple(unfinished)}
        return {"subplans": (*plans, plan)}
    return {"unfinished": tuple(unfinished), "finished": tuple(finished), "subplans": plans}


def with_given(error: Record, notes: dict[str, Value]) -> Record:
    """The error whose `details.partial_results` hold these, in place of what it had by their
    names."""
    if not notes:
        return error
    details = fields_of(error.fields.get("details")) or {}
    before = details.get("partial_results")
    partial: Value = notes
    if isinstance(before, dict):
        partial = {**before, **notes}
    elif isinstance(before, tuple):  # of a sequence or a list, which tells of each step
        partial = (*before, {"notes": notes})
    details = {**details, "partial_results": partial}
    return Record(error.kind, {**error.fields, "details": details})


def with_subtasks(session: HandlerSession, replies: tuple[Value, ...]) -> HandlerSession:
    """The session that keeps what subtasks gave among what answered it: whatever answers a request
    for one, and whatever a task gave to a tool."""
    is_asked = session.waits in ("subtask", "subplan")
    found = [each for each in replies if is_asked or _is_result(each)]
    known = [strip_error(each) for each in found if not is_plan(each) and _is_data(each)]
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
    said = read_answer(planning, replies[0])
    return session if said is None else evolve(session, planning=said.planning)


def collect_deliveries(session: HandlerSession, reply: Reply) -> Planning | None:
    """What it keeps of its plans, with what a reply delivers that ends it."""
    offered, planning = session.setup.offered, session.planning
    uses = [use for use in reply.uses if offered.get(use.name) == "propose_subplan"]
    found = [proposal(use.input) for use in uses]
    asked = continuation(session.said + reply.text, offered, session.setup.format)
    if isinstance(asked, Proposal) and "propose_subplan" in offered.values():
        found.append(asked)
    for read in found:
        planning = with_artifacts(planning, read)
    return planning


def texts_so_far(session: HandlerSession) -> list[str]:
    """What the model has said in its turns, as far as that is there, the last if only in part."""
    found = []
    for message in session.messages[session.setup.earlier + 1 :]:
        blocks = blocks_of(message) if message["role"] == "assistant" else ()
        text = "".join([block["text"] for block in blocks if block.get("type") == "text"])
        if text and text != NOTHING:
            found.append(text)
    return [*found, session.said] if session.said else found


def with_said(notes: dict[str, Value], turns: list[str], content: Value) -> dict[str, Value]:
    """The notes with what was said before its `content`."""
    before = turns[:-1] if turns and turns[-1] == content else turns
    return {"said": tuple([part(each) for each in before[-MOST:]]), **notes} if before else notes


def blocks_of(message: Block) -> list[Block]:
    content = message["content"]
    return [fields_of(block) or {} for block in content] if isinstance(content, tuple) else []


def _is_result(value: Value) -> bool:
    return isinstance(value, Record) and value.kind == "TaskResult"


def _is_data(value: Value) -> bool:
    try:
        plain(value)
    except Fault:  # there is a function in it; the model is told so
        return False
    return True
