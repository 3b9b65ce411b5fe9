"""The end of a conversation: its result, or its error, with the notes of all that it was given.

A result and an error have the same notes by the same names.
"""

import json
from typing import Any, NoReturn

from sexplang.tasks import failures
from sexplang.tasks.failures import misfit, reject_answer
from sexplang.tasks.plans.artifacts import Artifacts, artifacts_of, merge
from sexplang.tasks.plans.proposal import Planning, Proposal, proposal, with_artifacts
from sexplang.tasks.prompt.history import record_history
from sexplang.tasks.prompt.window import count_reply
from sexplang.tasks.requests.continuation import continuation
from sexplang.tasks.requests.subtask_request import fields_of
from sexplang.tasks.session import NOTHING, NOTHING_LEFT_OUT, Block, HandlerSession, Reading, Rules
from sexplang.tasks.turns.replies import (
    Reply,
    is_plan,
    model_reply,
    read_answer,
    strip_error,
    sum_usage,
    usage_of,
)
from sexplang.terms.classes.node import evolve, node
from sexplang.terms.json.strict import READABLE_DEPTH, is_deep
from sexplang.terms.task import Cut, Session, task_result
from sexplang.terms.values.abbreviation import MOST, abbreviate, part
from sexplang.terms.values.boundary import plain
from sexplang.terms.values.value import Fault, Record, Value


@node
class Question:
    """The words for a model whose reply does not fit, and the repairs to note."""

    words: str
    repairs: tuple[str, ...]


_NO_RESULT = task_result("")


def finish(
    rules: Rules, session: HandlerSession, text: str, model: str | None
) -> tuple[Record, Question | None]:
    """Return the result, or a question to the model. Raises Fault if asking again did not help."""
    if session.setup.format.type == "text":
        if not text or text.isspace():
            words = "the model ended its turn without a word: the answer is empty"
            session = evolve(session, warnings=(*session.warnings, words))
        notes = _notes(session, model, ())
        return task_result(text, notes=notes, usage=notes["usage"]), None
    reading = rules.read_reply(text, session.setup.format)
    if reading.problem is None:
        notes = _notes(session, model, reading.repairs)
        _pass_score(notes, reading.value)
        _pass_artifacts(notes, session, reading.value)
        value, usage = reading.value, notes["usage"]
        made = task_result(text, parsed_content=value, notes=notes, usage=usage, answer=(value,))
        return made, None
    if session.setup.takes_text:
        words = f"the reply could not be read and is taken as text: {_reason(reading.problem)}"
        warned = evolve(session, warnings=(*session.warnings, words))
        notes = _notes(warned, model, ())
        return task_result(text, notes=notes, usage=notes["usage"]), None
    if not _may_repair(rules, session):
        raise misfit(_reason(reading.problem), text, _details(session, reading))
    noted = f"asked again: {_reason(reading.problem)}"
    return _NO_RESULT, Question(reading.problem, (*reading.repairs, noted))


def _may_repair(rules: Rules, session: HandlerSession) -> bool:
    return session.asked_again < rules.max_repairs and session.turns < session.setup.max_turns


def judge_answer(
    rules: Rules, session: HandlerSession, result: Record, words: Value
) -> Question | None:
    """Return a validator's words as a question to the model; None if it takes the answer. Raises
    Fault if asking again did not help, and for a value that is neither nil nor words."""
    if words is None:
        return None
    if not isinstance(words, str) or not words.strip():
        raise Fault(
            "wrong-type",
            f"a validator returns nil or a text for the model, not {abbreviate(words)}",
            hint="return nil to accept the answer, or a text that tells the model what to change",
        )
    if not _may_repair(rules, session):
        details = {"violations": (words,), "repairs": session.repairs}
        raise reject_answer(words, result.fields["content"], details)
    return Question(words, (f"asked again: {part(words)}",))


def _reason(problem: str) -> str:
    """Return a problem without its last sentence, which tells the model what to do."""
    return problem.rsplit(". ", 1)[0]


def _details(session: HandlerSession, reading: Reading) -> dict[str, Value]:
    schema = session.setup.format.schema
    repairs = (*session.repairs, *reading.repairs)
    return {
        "expectedType": schema if isinstance(schema, str) else "json",
        **reading.details,
        "repairs": repairs,
    }


def _notes(
    session: HandlerSession, model: str | None, repairs: tuple[str, ...]
) -> dict[str, Value]:
    """Return the notes of a result: its provenance and metrics."""
    notes: dict[str, Any] = {
        **session.setup.notes,
        "warnings": session.warnings,
        "model": model,
        "usage": {"input_tokens": session.usage[0], "output_tokens": session.usage[1]},
        "turns": session.turns,
        "metrics": metrics(session),
    }
    if session.children != (0, 0):
        notes["chain_usage"] = {
            "input_tokens": session.usage[0] + session.children[0],
            "output_tokens": session.usage[1] + session.children[1],
        }
    if session.setup.unseen is not None:
        notes["history"] = record_history(session)
    if session.repairs or repairs:
        notes["repairs"] = (*session.repairs, *repairs)
    sources = sources_of(session)
    if sources:
        notes["sources"] = sources
    if session.planning is not None:
        notes |= notes_of(session)
    if session.left_out is not None:
        for name in ("shortened", "compacted"):
            if each := getattr(session.left_out, name):
                notes[name] = each
    return notes


def _pass_artifacts(notes: dict[str, Value], session: HandlerSession, parsed: Value) -> None:
    """Note the `artifacts` of the answer, together with those delivered before."""
    more = artifacts_of((fields_of(parsed) or {}).get("artifacts"))
    if more:
        notes |= notes_of(session, more)


def _pass_score(notes: dict[str, Value], parsed: Value) -> None:
    """Note the `successScore` of the answer."""
    score = (fields_of(parsed) or {}).get("successScore")
    if isinstance(score, (int, float)) and not isinstance(score, bool):
        notes["successScore"] = score


def full(rules: Rules, session: HandlerSession, reply: Reply) -> NoReturn:
    """Raise the failure of a reply that was cut at its output limit."""
    limit = session.payload.get("max_tokens") or reply.own[1]
    raise failures.exhaust(
        "output",
        f"the reply was cut off at {limit} tokens" if limit else "the reply was cut off",
        "raise `(limits max_output_tokens: …)` of the task, or ask for a shorter answer",
        session.said + reply.text,
        used=reply.own[1],
        limit=limit,
    )


def fail_overflow(rules: Rules, session: HandlerSession, reply: Reply) -> NoReturn:
    """Raise the failure of a conversation that overflows the model's window."""
    raise failures.exhaust(
        "context",
        "the conversation does not fit into the model's context window",
        "pass less text or fewer files, split the task, or name a model with a larger window",
        session.said + reply.text,
        used=session.taken[0],
        limit=session.setup.window,
    )


def fail_refusal(rules: Rules, session: HandlerSession, reply: Reply) -> NoReturn:
    """Raise the failure of a model that refuses to answer."""
    raise failures.refuse(reply.category, session.said + reply.text)


def add_partial_notes(error: Record, session: HandlerSession, replies: tuple[Value, ...]) -> Record:
    """Return the error of a conversation that ends by itself, with the notes and the usage of the
    replies that broke it."""
    if session.waits in ("compact", "validator"):
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
    """Return the error of conversations that are ended from outside, innermost first. Its content
    is the text of the outermost conversation. Its notes and its usage cover everything that is
    `cut` off. If the error belongs to none of the conversations, they stand beside it."""
    if not sessions:
        beside = Cut(inside=(cut or Cut(),))
        usage = _in_all(dict(fields_of(error.fields.get("details")) or {}), beside)
        error = Record(error.kind, {**error.fields, "details": usage})
        return with_given(error, notes_in(beside))
    said, first = error.fields.get("content"), sessions[0]
    if isinstance(said, str) and first.waits == "model":  # a partial reply
        error = Record(error.kind, {**error.fields, "content": first.said + said})
    return _with_partial_notes(error, cut or Cut(sessions), (0, 0), sessions)


def in_task(error: Record, task: str) -> Record:
    """Return the error of a task that did not begin."""
    details = {"task": task, **error.fields["details"]}
    return Record(error.kind, {**error.fields, "details": details})


def metrics(session: HandlerSession) -> dict[str, Value]:
    """Return ResourceMetrics: turns and tokens of the context window, with their limits."""
    now, peak = session.taken
    return {
        "turns": {"used": session.turns, "limit": session.setup.max_turns},
        "context": {"used": now, "limit": session.setup.window, "peak_usage": peak},
    }


def _with_partial_notes(
    error: Record, cut: Cut, last: tuple[int, int], own: tuple[HandlerSession, ...] = ()
) -> Record:
    """Return the error of a cut's conversations, or of its `own` among them. `last` is the usage of
    the replies that end them."""
    sessions = own or cut.sessions
    # The cancellation of a plan's node is no failure of its workers.
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
    """Add the usage of everything that is cut off to the details."""
    taken, given = sum_usage(cut.done)
    for session in cut.sessions:
        taken += session.usage[0] + session.children[0]
        given += session.usage[1] + session.children[1]
    for inner in cut.inside:
        details = _in_all(details, inner)
    return _with_usage(details, taken, given)


def _with_usage(details: dict[str, Value], taken: int, given: int) -> dict[str, Value]:
    """Add tokens to the usage of the details, which may hold a child's usage already."""
    before = usage_of({"usage": details.get("usage")})
    usage = {"input_tokens": before[0] + taken, "output_tokens": before[1] + given}
    return {**details, "usage": usage} if any(usage.values()) else details


def _turn(reply: Value) -> Reply | None:
    """Return the model's turn. None if the value is not one."""
    try:
        return model_reply(reply)
    except Fault:
        return None


def sources_of(session: HandlerSession) -> tuple[str, ...]:
    """Return the sources that the conversation's tools have read, each once: paths of files, and
    the `sources` that results of other tools name."""
    first = session.setup.earlier + 1
    if len(session.messages) < first + 2:  # results follow the turn that asked for them
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
    if is_deep(content, READABLE_DEPTH):
        return []
    try:
        named = json.loads(content).get("sources")
    except (ValueError, RecursionError):
        return []
    return [each for each in named if isinstance(each, str)] if isinstance(named, list) else []


def notes_of(session: HandlerSession, more: Artifacts = ()) -> dict[str, Value]:
    """Return `{subtasks artifacts subplans}`, each if there is any: the results of subtasks, the
    artifacts with `more`, and the answers to plans."""
    planning = session.planning or Planning()
    artifacts = merge(planning.artifacts, more)
    notes = {"subtasks": planning.subtasks, "artifacts": artifacts, "subplans": planning.accepted}
    return {name: found for name, found in notes.items() if found}


def notes_in(cut: Cut) -> dict[str, Value]:
    """Return the notes of the outermost conversation that is cut off. Its `unfinished` holds the
    text and notes of the next one, and so on inward. Ended siblings are `finished`."""
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
    """Describe an unfinished task for the conversation around it. Empty if it has nothing."""
    turns = texts_so_far(session)
    content = turns[-1] if turns else ""
    about = {"task": session.setup.task, "content": content, **with_said(notes, turns, content)}
    return (about,) if content or notes else ()


def _notes_of_branches(cut: Cut) -> dict[str, Value]:
    """Return the notes of the branches that are cut off."""
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
    """Return the error with these notes in `details.partial_results`. They replace earlier ones of
    the same names."""
    if not notes:
        return error
    details = fields_of(error.fields.get("details")) or {}
    before = details.get("partial_results")
    partial: Value = notes
    if isinstance(before, dict):
        partial = {**before, **notes}
    elif isinstance(before, tuple):  # one entry for each step of a sequence
        partial = (*before, {"notes": notes})
    details = {**details, "partial_results": partial}
    return Record(error.kind, {**error.fields, "details": details})


def with_subtasks(session: HandlerSession, replies: tuple[Value, ...]) -> HandlerSession:
    """Return the session with the results of subtasks among the replies: each answer to a request
    for a subtask, and each TaskResult of a tool."""
    is_asked = session.waits in ("subtask", "subplan")
    found = [each for each in replies if is_asked or _is_result(each)]
    known = [strip_error(each) for each in found if not is_plan(each) and _is_data(each)]
    if not known:
        return session
    planning = session.planning or Planning()
    return evolve(session, planning=evolve(planning, subtasks=(*planning.subtasks, *known)))


def with_replies(session: HandlerSession, replies: tuple[Value, ...]) -> HandlerSession:
    """Return the session that ends at these replies, with their results."""
    session = with_subtasks(session, replies)
    planning = session.planning
    if session.waits != "subplan" or planning is None:
        return session
    said = read_answer(planning, replies[0])
    return session if said is None else evolve(session, planning=said.planning)


def collect_deliveries(session: HandlerSession, reply: Reply) -> Planning | None:
    """Return the session's plans with the artifacts of its last reply."""
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
    """Return the texts of the model's turns so far. The last may be partial."""
    found = []
    for message in session.messages[session.setup.earlier + 1 :]:
        blocks = blocks_of(message) if message["role"] == "assistant" else ()
        text = "".join([block["text"] for block in blocks if block.get("type") == "text"])
        if text and text != NOTHING:
            found.append(text)
    return [*found, session.said] if session.said else found


def with_said(notes: dict[str, Value], turns: list[str], content: Value) -> dict[str, Value]:
    """Return the notes with the texts before `content`."""
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
    except Fault:  # it holds a function
        return False
    return True
