"""The turns of a conversation: a session and the replies it waited for give the next session and
its next request."""

import re
from collections.abc import Callable

from sexplang.tasks.failures import bad_reply, exhaust, halt
from sexplang.tasks.plans.proposal import Proposal, with_artifacts
from sexplang.tasks.prompt.compaction import check_messages, replace_messages
from sexplang.tasks.prompt.context import Gathered, begin_lookups, files_read, read_lookups
from sexplang.tasks.prompt.window import (
    count_reply,
    fits,
    plan_words,
    tokens_of,
    truncate,
    with_more,
)
from sexplang.tasks.requests.continuation import bare_request, continuation
from sexplang.tasks.requests.match import report_malformed as malformed_request
from sexplang.tasks.requests.subtask_request import SubtaskRequest
from sexplang.tasks.session import NOTHING, Block, HandlerPayload, HandlerSession, Rules, Waits
from sexplang.tasks.turns.conversation_end import (
    Question,
    fail_overflow,
    fail_refusal,
    finish,
    full,
    judge_answer,
    with_subtasks,
)
from sexplang.tasks.turns.replies import (
    Reply,
    collect_warnings,
    find_halt,
    model_reply,
    outcome,
    sum_usage,
)
from sexplang.tasks.turns.replies import read_answer as answered_plan
from sexplang.tasks.turns.tools import (
    add_results,
    available,
    plan_calls,
    propose,
    spawn_subtask,
    with_plan,
)
from sexplang.terms.classes.node import evolve
from sexplang.terms.model.payload import is_forced
from sexplang.terms.task import Ask, Finished, Perform, Validate, Want
from sexplang.terms.values.value import Fault, Record, Value, answer_of

Next = tuple[HandlerSession, Want]


def start_session(session: HandlerSession) -> Next:
    """Return the first request: files to find and read, else the model."""
    gathering = session.gathering
    return (
        (session, ask_model(session))
        if gathering is None
        else _or_model(begin_lookups(session, gathering))
    )


def _or_model(gathered: Gathered) -> Next:
    session, perform = gathered
    return session, perform or ask_model(session)


def advance_session(rules: Rules, session: HandlerSession, replies: tuple[Value, ...]) -> Next:
    """Continue with the replies to the last Perform. Raises Fault if the task breaks."""
    if session.waits == "model":
        return _model_answered(rules, session, model_reply(replies[0]))
    if session.waits == "lookups":
        return _or_model(read_lookups(session, replies))
    if session.waits == "files":
        return _or_model(files_read(session, replies))
    if session.waits == "compact":
        return _go_on_compacted(session, replies[0])
    if session.waits == "validator":
        return _validator_answered(rules, session, replies[0])
    taken, given = sum_usage(replies)
    if taken or given:
        before = session.children
        session = evolve(session, children=(before[0] + taken, before[1] + given))
    said = collect_warnings(replies)
    if said:
        session = evolve(session, warnings=(*session.warnings, *said))
    session = with_subtasks(session, replies)
    if session.waits == "subtask" and session.calls is None:
        return _subtask_answered(rules, session, replies[0])
    if session.waits == "subplan":
        return _subplan_answered(rules, session, replies[0])
    assert session.calls is not None
    return _go_on_after_calls(rules, evolve(session, calls=add_results(session.calls, replies)))


def ask_again(session: HandlerSession, content: tuple[Block, ...]) -> Next:
    """Ask the model to continue after a user message. The turn limit was checked when the model
    spoke."""
    tokens = tokens_of(content)
    messages = (*session.messages, {"role": "user", "content": content})
    if not fits(session, tokens):
        return ask_for_compaction(evolve(session, messages=messages, calls=None))
    session = with_more(session, tokens, "the answer to the model")
    session = evolve(session, messages=messages, waits="model", calls=None)
    return session, ask_model(session)


def ask_for_compaction(session: HandlerSession) -> Next:
    """Ask for a shorter list of messages: with the last message, the present ones do not fit."""
    used = session.taken[0] + tokens_of(session.messages[-1]["content"])
    ask = Ask("compact", (session.messages, used, session.setup.window))
    return evolve(session, waits="compact"), Perform((ask,))


def _go_on_compacted(session: HandlerSession, given: Value) -> Next:
    """Continue with the compacted messages. A new result that still does not fit is cut. A user's
    words are not."""
    before, after = session.messages, check_messages(given)
    done, used = "", session.taken[0] + tokens_of(before[-1]["content"])
    if after != before:
        session, used, done = replace_messages(session, after, used)
    *earlier, last = after
    content = last["content"]
    taken = max(0, used - tokens_of(content)), session.taken[1]
    session = evolve(session, messages=tuple(earlier), taken=taken)
    if session.turns and last == before[-1] and not fits(session, tokens_of(content)):
        session, content = truncate(session, content)
    what = "the answer to the model" if session.turns else "the prompt"
    session = with_more(session, tokens_of(content), what)
    messages = (*earlier, {"role": "user", "content": content})
    session, perform = start_session(evolve(session, messages=messages, waits="model"))
    return session, evolve(perform, span_events=done) if isinstance(perform, Perform) else perform


def _model_answered(rules: Rules, session: HandlerSession, reply: Reply) -> Next:
    session = _add_reply(session, reply)
    if reply.stop_reason in _ENDS:
        if reply.uses:
            return _begin_calls(rules, session, reply)
        return _end_turn(rules, session, reply)
    then = _STOPS.get(reply.stop_reason or "")
    if then is None:
        why = f"stopped because of `{reply.stop_reason}`" if reply.stop_reason else "was cut short"
        raise bad_reply(
            f"the model's reply {why}",
            content=session.said + reply.text,
            stop_reason=reply.stop_reason,
        )
    return then(rules, session, reply)


# A server may use tools and not say tool_use.
_ENDS = frozenset({"end_turn", "stop_sequence"})


def _add_reply(session: HandlerSession, reply: Reply) -> HandlerSession:
    """Append the assistant's message. History holds no blank message."""
    message = {"role": "assistant", "content": reply.kept or _NOTHING}
    before, given = session.usage, reply.usage
    taken, warnings = count_reply(session, reply)
    used, limit = session.turns + 1, session.setup.max_turns
    if used * 5 >= limit * 4 > session.turns * 5 and limit > 1:  # a single turn needs no warning
        warnings = (*warnings, f"{used} of {limit} turns are used")
    return HandlerSession(
        session.setup,
        session.payload,
        (*session.messages, message),
        taken,
        warnings,
        None,
        "model",
        used,
        (before[0] + given[0], before[1] + given[1]),
        session.said,
        session.repairs,
        session.asked_again,
        session.refused,
        session.children,
        None,
        session.planning,
        session.left_out,
    )


_NOTHING = ({"type": "text", "text": NOTHING},)


def check_turns(session: HandlerSession, text: str) -> HandlerSession:
    """Return the session if another turn is allowed. Raises Fault at the limit.

    The limit is checked when the model has spoken: after the last turn, no model reads a tool's
    result.
    """
    used, limit = session.turns, session.setup.max_turns
    if used >= limit:
        raise exhaust(
            "turns",
            f"the task is not done after {used} turn{'s' * (used != 1)}; no more are allowed",
            "raise <limits max_turns=…>, or ask for less in one task",
            text,
            used=used,
            limit=limit,
        )
    return session


def _begin_calls(rules: Rules, session: HandlerSession, reply: Reply) -> Next:
    if not reply.uses:
        raise bad_reply("the model stopped to use a tool and called none", content=reply.text)
    session = check_turns(session, session.said + reply.text)
    if "tool_choice" in session.payload:
        session = _free_tool_choice(session)
    session, asks, malformed = plan_calls(evolve(session, said=""), reply)
    if malformed is not None:
        _bound_refused(rules, session, malformed)
    if asks:
        return session, Perform(asks, together=True)
    return _go_on_after_calls(rules, session)


def _free_tool_choice(session: HandlerSession) -> HandlerSession:
    """Drop a forced tool choice once a tool was called. It would force a call in every turn."""
    payload = session.payload.copy()
    if is_forced(payload["tool_choice"]):
        del payload["tool_choice"]
    return evolve(session, payload=payload)


def _go_on_after_calls(rules: Rules, session: HandlerSession) -> Next:
    """Perform the next call that stands alone, else send the model all results."""
    calls = session.calls
    assert calls is not None
    if not calls.later:
        if calls.halted is not None:
            session = _count_halt(rules, session, calls.halted)
        if calls.refused is not None:
            session = _count_refused_plan(rules, session, calls.refused)
        return ask_again(session, tuple([block for block in calls.results if block is not None]))
    (at, ask), *later = calls.later
    calls = evolve(calls, waiting=(at,), later=tuple(later))
    return evolve(session, calls=calls, waits=_WAITS.get(ask.operation, "calls")), Perform((ask,))


_WAITS: dict[str, Waits] = {"subplan": "subplan", "subtask": "subtask"}


def _end_turn(rules: Rules, session: HandlerSession, reply: Reply) -> Next:
    """End the model's turn: with a result, a request for a subtask, or a question about a
    misfit."""
    text = session.said + reply.text
    offered = available(session.setup, reply)
    request: SubtaskRequest | Proposal | None = continuation(text, offered, session.setup.format)
    is_text = session.setup.format.type == "text"
    if request is None and is_text and "spawn_subtask" in offered.values():
        request = bare_request(text, rules.tasks, session.setup.task)
    if request is not None:
        tool = "propose_subplan" if isinstance(request, Proposal) else "spawn_subtask"
        if tool in offered.values():
            return _take_continuation(rules, evolve(session, said=""), text, request)
        # A text grants no permission: a document could have put the words into the model's mouth.
        words = f"the reply asks for a subtask, and this task's allowed_tools lack `{tool}`"
        session = evolve(session, warnings=(*session.warnings, words))
    elif offered and (call := _CALL.match(text)) is not None and call[1] in offered:
        words = f"the reply is a call of the tool `{call[1]}` as text: it was not made"
        session = evolve(session, warnings=(*session.warnings, words))
    result, question = finish(rules, session, text, reply.model)
    if question is not None:
        return _ask_for_repair(session, text, question)
    if session.setup.is_validated:
        return evolve(session, waits="validator", unjudged=result), Validate(answer_of(result))
    return _end(session, result)


def _validator_answered(rules: Rules, session: HandlerSession, words: Value) -> Next:
    """End with the judged result, or tell the model the validator's words."""
    result = session.unjudged
    assert result is not None
    session = evolve(session, waits="model", unjudged=None)
    question = judge_answer(rules, session, result, words)
    if question is None:
        return _end(session, result)
    return _ask_for_repair(session, result.fields["content"], question)


def _end(session: HandlerSession, result: Record) -> Next:
    if session.setup.past is not None:  # a long chat keeps each message once
        session = evolve(session, messages=session.messages[session.setup.earlier :])
    return session, Finished(result)


def _ask_for_repair(session: HandlerSession, text: str, question: Question) -> Next:
    session = evolve(
        check_turns(session, text),
        said="",
        asked_again=session.asked_again + 1,
        repairs=(*session.repairs, *question.repairs),
    )
    return ask_again(session, ({"type": "text", "text": question.words},))


_CALL = re.compile(
    r'\s*\{\s*"(?:name|tool)"\s*:\s*"([\w-]{1,128})"\s*,\s*"(?:arguments|input|parameters)"\s*:'
)


def _take_continuation(
    rules: Rules, session: HandlerSession, text: str, request: SubtaskRequest | Proposal
) -> Next:
    session = check_turns(session, text)
    if request.problems:
        session = evolve(session, refused=session.refused + 1)
        if isinstance(request, Proposal):
            session = evolve(session, planning=with_artifacts(session.planning, request))
        _bound_refused(rules, session, request)
        kind = "subplan" if isinstance(request, Proposal) else "subtask request"
        words = f"The {kind} is malformed: {request.complaint()}"
        return ask_again(session, ({"type": "text", "text": words},))
    session = evolve(session, warnings=(*session.warnings, *request.warnings))
    if isinstance(request, Proposal):
        planning, ask = propose(session, request, text)
        return evolve(session, waits="subplan", planning=planning), Perform((ask,))
    return evolve(session, waits="subtask"), Perform((spawn_subtask(session, request, text),))


def _bound_refused(
    rules: Rules, session: HandlerSession, request: SubtaskRequest | Proposal
) -> None:
    if session.refused > rules.max_refused:
        raise malformed_request(request)


def _count_halt(rules: Rules, session: HandlerSession, error: Record) -> HandlerSession:
    """Count a halted subtask. A model that keeps asking at the depth limit ends, and so does the
    chain above it: twenty attempts at each of five levels would make three million requests."""
    session = evolve(session, refused=session.refused + 1)
    if session.refused > rules.max_refused:
        raise Fault("execution_halted", error.fields["message"], error=error)
    return session


def _subtask_answered(rules: Rules, session: HandlerSession, value: Value) -> Next:
    words, is_error = outcome(value)
    error = find_halt(value)
    if error is not None:
        session = _count_halt(rules, session, error)
    opening = "The subtask failed:" if is_error else "The result of the subtask:"
    return ask_again(session, ({"type": "text", "text": f"{opening}\n\n{words}"},))


def _subplan_answered(rules: Rules, session: HandlerSession, value: Value) -> Next:
    planning = session.planning
    assert planning is not None
    if session.calls is not None:
        return _go_on_after_calls(rules, with_plan(session, value))
    said = answered_plan(planning, value)
    if said is None:
        return _subtask_answered(rules, evolve(session, planning=planning.over()), value)
    session = evolve(session, planning=said.planning)
    if said.refused is not None:
        session = _count_refused_plan(rules, session, said.refused)
    words = plan_words(session, said.words)
    return ask_again(session, ({"type": "text", "text": f"The subplan:\n\n{words}"},))


def _count_refused_plan(rules: Rules, session: HandlerSession, reason: str) -> HandlerSession:
    """Count a refused plan. A model that keeps proposing refused plans ends."""
    session = evolve(session, refused=session.refused + 1)
    if session.refused > rules.max_refused:
        hint = "let it do the task itself, or propose less"
        raise halt(f"a subplan was refused again: {reason}", "subplan", hint)
    return session


def _go_on_paused(rules: Rules, session: HandlerSession, reply: Reply) -> Next:
    if reply.uses:  # a call needs its result
        return _begin_calls(rules, session, reply)
    session = evolve(session, said=session.said + reply.text)
    session = check_turns(session, session.said)
    return session, ask_model(session)


_STOPS: dict[str, Callable[[Rules, HandlerSession, Reply], Next]] = {
    "tool_use": _begin_calls,
    "pause_turn": _go_on_paused,
    "compaction": _go_on_paused,
    "max_tokens": full,
    "model_context_window_exceeded": fail_overflow,
    "refusal": fail_refusal,
}
"""The meaning of each stop reason that does not end a turn normally."""


def ask_model(session: HandlerSession) -> Perform:
    """Return the next model request: the payload with all messages so far."""
    payload, messages = session.payload.copy(), session.messages
    payload["messages"] = messages
    sent = None
    if len(messages) == 1 and not payload["tools"] and _SCALAR.issuperset(payload):
        sent = _messages_of_prompt(payload, messages[0]["content"])
    return Perform((Ask("model", (payload,), False, sent),))


_SCALAR = frozenset(
    (
        *("model", "system", "messages", "tools", "max_tokens", "timeout", "task"),
        *("temperature", "top_p", "top_k", "seed", "effort", "cache", "service_tier"),
    )
)
"""The keys of a payload that are sent unchanged, and its messages and tools."""


def _messages_of_prompt(
    payload: HandlerPayload, content: tuple[Block, ...]
) -> tuple[Value, ...] | None:
    """Return the argument of the request as `plain` makes it, for the common case of one prompt
    without tools or schema. Else return None."""
    if len(content) > 1:
        return None
    sent = payload.copy()
    sent["messages"] = [{"role": "user", "content": [content[0].copy()]}]
    sent["tools"] = []
    return (sent,)
