"""How a conversation ends before it is done: with what it has said, taken and read by then."""

import json

from sexplang.tasks.notes import (
    blocks_of,
    collect_deliveries,
    notes_in,
    texts_so_far,
    with_given,
    with_replies,
    with_said,
)
from sexplang.tasks.prompt.window import count_reply
from sexplang.tasks.requests.subtask_request import fields_of
from sexplang.tasks.session import NOTHING_LEFT_OUT, Block, HandlerSession
from sexplang.tasks.turns.replies import Reply, model_reply, usage_of
from sexplang.tasks.turns.tool_results import sum_usage
from sexplang.terms.classes.node import evolve
from sexplang.terms.task import Cut, Session
from sexplang.terms.values.value import Fault, Record, Value


def add_partial_notes(error: Record, session: HandlerSession, replies: tuple[Value, ...]) -> Record:
    """The error that ends a conversation of itself: what broke it is in no session any more, and
    was paid for."""
    if session.waits == "compact":
        return _with_partial_notes(error, Cut((session,)), (0, 0))
    if session.waits != "model":
        return _with_partial_notes(
            error, Cut((with_replies(session, replies),)), sum_usage(replies)
        )
    reply = _turn(replies[0])
    if reply is not None:
        session = evolve(
            session,
            taken=count_reply(session, reply)[0],
            turns=session.turns + 1,
            planning=collect_deliveries(session, reply),
        )
    return _with_partial_notes(error, Cut((session,)), usage_of(replies[0]))


def cut_short(error: Record, sessions: tuple[Session, ...], cut: Cut | None = None) -> Record:
    """The error that ends conversations from outside, innermost first: its content is what the
    outermost has said. It tells what all that is `cut` off have been given, and accounts for it;
    where it is the error of none of them, they stand beside it."""
    if not sessions:
        beside = Cut(inside=(cut or Cut(),))
        usage = _in_all(dict(fields_of(error.fields.get("details")) or {}), beside)
        error = Record(error.kind, {**error.fields, "details": usage})
        return with_given(error, notes_in(beside))
    said, first = error.fields.get("content"), sessions[0]
    if isinstance(said, str) and first.waits == "model":  # of a reply that was not whole
        error = Record(error.kind, {**error.fields, "content": first.said + said})
    return _with_partial_notes(error, cut or Cut(sessions), (0, 0), sessions)


def in_task(error: Record, task: str) -> Record:
    """The error of a task that did not begin."""
    details = {"task": task, **error.fields["details"]}
    return Record(error.kind, {**error.fields, "details": details})


def metrics(session: HandlerSession) -> dict[str, Value]:
    """ResourceMetrics: turns, and tokens of the context window, with their limits."""
    now, peak = session.taken
    return {
        "turns": {"used": session.turns, "limit": session.setup.max_turns},
        "context": {"used": now, "limit": session.setup.window, "peak_usage": peak},
    }


def _with_partial_notes(
    error: Record, cut: Cut, last: tuple[int, int], own: tuple[HandlerSession, ...] = ()
) -> Record:
    """The error of a cut's conversations, or of its `own` among them; `last` is what the replies
    took with which it ends."""
    sessions = own or cut.sessions
    # What cancels a node of a plan is no failure of whoever works for it.
    failed = sessions[-1 if error.fields["reason"] == "cancelled" else 0]
    details = {
        "task": failed.setup.task,
        **(fields_of(error.fields.get("details")) or {}),
        **metrics(sessions[-1]),
    }
    if sessions[-1].warnings:
        details["warnings"] = sessions[-1].warnings
    if sessions[-1].repairs:  # why the model was asked again
        details.setdefault("repairs", sessions[-1].repairs)
    details = _in_all(_with_usage(details, *last), cut)
    sources = [source for session in reversed(sessions) for source in sources_of(session)]
    if sources:
        details["sources"] = tuple(dict.fromkeys(sources))
    content, turns = error.fields.get("content"), texts_so_far(sessions[-1])
    content = content or (turns[-1] if turns else content)
    error = Record(error.kind, {**error.fields, "details": details, "content": content})
    return with_given(error, with_said(notes_in(cut), turns, content))


def _in_all(details: dict[str, Value], cut: Cut) -> dict[str, Value]:
    """The details with what all that is cut off took."""
    taken, given = sum_usage(cut.done)
    for session in cut.sessions:
        taken += session.usage[0] + session.children[0]
        given += session.usage[1] + session.children[1]
    for inner in cut.inside:
        details = _in_all(details, inner)
    return _with_usage(details, taken, given)


def _with_usage(details: dict[str, Value], taken: int, given: int) -> dict[str, Value]:
    """The details, which may tell already what a child took, or a reply that was cut."""
    before = usage_of({"usage": details.get("usage")})
    usage = {"input_tokens": before[0] + taken, "output_tokens": before[1] + given}
    return {**details, "usage": usage} if any(usage.values()) else details


def _turn(reply: Value) -> Reply | None:
    """A turn of the model, if it is one."""
    try:
        return model_reply(reply)
    except Fault:
        return None


def sources_of(session: HandlerSession) -> tuple[str, ...]:
    """What the conversation's tools have read: the paths of files, and the `sources` that the
    results of other tools name; each once."""
    first = session.setup.earlier + 1
    if len(session.messages) < first + 2:  # results stand behind the turn that asked for them
        return () if session.left_out is None else session.left_out.sources
    said = session.messages[first:]
    uses: dict[Value, Block] = {}
    left_out = session.left_out or NOTHING_LEFT_OUT
    whole = {each.get("tool_use_id"): each["content"] for each in left_out.shortened}
    found = [*left_out.sources]
    for message in said:
        for block in blocks_of(message):
            if block.get("type") == "tool_use":
                uses[block["id"]] = block
            elif block.get("type") == "tool_result" and not block.get("is_error"):
                at = block["tool_use_id"]
                content = whole.get(at, block["content"]) if whole else block["content"]
                found += _sources(session, uses.get(at), content)
    return tuple(dict.fromkeys(found))


def _sources(session: HandlerSession, use: Block | None, content: Value) -> list[str]:
    if use is None:
        return []
    if session.setup.offered.get(use["name"]) == "read_file":
        return [use["input"]["path"]]
    if not isinstance(content, str) or not content.startswith("{"):
        return []
    try:
        named = json.loads(content).get("sources")
    except (ValueError, RecursionError):
        return []
    return [each for each in named if isinstance(each, str)] if isinstance(named, list) else []
