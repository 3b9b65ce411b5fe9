"""Conversations: a call of a task on the stack, whose requests are performed in place.

Only the task system looks into the session, a value. The conversation's segment holds it between
two replies, so a continuation captured here captures the conversation.
"""

from typing import Any, Literal, TypeAlias

from sexplang.machine.errors import return_value
from sexplang.machine.exits import BeginSpan, EndSpan, EnterScope, Fork
from sexplang.machine.handlers import fail, is_handled, perform
from sexplang.machine.stack import (
    BOTTOM,
    Closure,
    Code,
    Ctx,
    Frame,
    Segment,
    Step,
    leave,
    make_closure,
)
from sexplang.machine.tasks.program_environment import environment_of
from sexplang.machine.unwind import ClauseCode, HandlerKind
from sexplang.terms.classes.node import evolve
from sexplang.terms.task import (
    Ask,
    Broke,
    Conversation,
    Finished,
    Perform,
    Session,
    Validate,
    Want,
    error_record,
    is_mistake,
    is_refusal,
    longer,
    make_failed_result,
)
from sexplang.terms.values.boundary import materialize
from sexplang.terms.values.value import Fault, Record, Task, Value, answer_of
from sexplang.terms.work import Work

Wants: TypeAlias = Literal["answer", "result"]
"""The kind of value that a call of a task gives."""


def call_task(
    task: Task,
    inputs: dict[str, Value],
    overrides: dict[str, Value],
    k: Frame,
    s: Segment,
    wants: Wants = "answer",
) -> Step:
    """Begin a conversation; its answer or its TaskResult goes to `k`."""
    context = s[3]
    call = task, materialize(inputs), overrides and materialize(overrides), wants, None
    if context.work is not None:
        return leave, BeginSpan(_begin, call, k, s, "task", task.template.name, 2), k, s
    return _begin((None, *call), k, s)


def continue_task(
    over: tuple[Task, Conversation, Session], words: Value, k: Frame, s: Segment
) -> Step:
    """Go on with a finished conversation; its next TaskResult goes to `k`."""
    task = over[0]
    wants: Wants = "result"
    call: Any = task, {"words": words}, {}, wants, over[1:]
    if s[3].work is not None:
        return leave, BeginSpan(_begin, call, k, s, "task", task.template.name, 2), k, s
    return _begin((None, *call), k, s)


Call = tuple[Work | None, Task, dict[str, Value], dict[str, Value], Wants, Any]
"""The last item is the earlier conversation and its session, or None for a new one."""


def _begin(call: Call, k: Frame, s: Segment) -> Step:
    """Begin a conversation. A template's timeout is a deadline around it, its subtasks included."""
    template = call[1].template
    seconds = template.limits.timeout
    if seconds is not None:
        settings = {"seconds": seconds, "more": longer(template.name, seconds)}
        return leave, EnterScope(settings, _converse, call, k, s, None), k, s
    return _converse(call, k, s)


def _converse(call: Call, k: Frame, s: Segment) -> Step:
    work, task, inputs, overrides, wants, earlier = call
    context = s[3]
    is_timed = task.template.limits.timeout is not None
    system = context.linked.tasks
    if system is None:
        error = error_record(
            "TASK_FAILURE", "configuration_error", "this program runs without a task system"
        )
        return _break(work, error, is_timed, k, s)
    if earlier is None:
        begun = system.begin(task.template, inputs, overrides, context.conversations)
    else:
        begun = system.go_on(*earlier, inputs["words"], context.conversations)
    conversation, session, want = begun
    if isinstance(want, Broke):
        return _break(work, want.error, is_timed, k, s)
    validator = _validator_of(task, k, s) if task in context.linked.validators else None
    inner = context.replace((*context.conversations, conversation), work)
    rest = is_timed, task if wants == "result" else None, validator
    return _go_on(session, want, k, s, inner, *rest)


def _validator_of(task: Task, k: Frame, s: Segment) -> Closure:
    """Return the function that judges the answers of a task."""
    code, top = s[3].linked.validators[task]
    return make_closure(code, environment_of(top, code, k, s))


def _go_on(
    session: Session,
    want: Want,
    k: Frame,
    s: Segment,
    context: Ctx,
    is_timed: bool,
    task: Task | None,
    validator: Closure | None,
) -> Step:
    """Perform the next request of a conversation that stands on `k` and `s`, or ask its validator.
    Its TaskResult is given if `task` is known here, else its answer."""
    if isinstance(want, Finished):
        result = want.result
        if k[0] is return_value:  # the work of such a frame, without its step
            k = k[1]
        if task is None:
            step = k[0], answer_of(result), k, s
        else:
            over = task, context.conversations[-1], session
            step = k[0], Record(result.kind, result.fields, result.answer, over), k, s
        if context.work is None:
            return step
        return _over(context.work, result.fields["notes"].get("error"), step)
    if isinstance(want, Broke):
        return _break(context.work, want.error, is_timed, k, s)
    data = session, context.work, is_timed, task, validator
    if isinstance(want, Validate):
        assert validator is not None
        call = (validator.env, want.answer)
        return validator.code.body, call, _ANSWERED, (CONVERSATION, k, s, context, data)
    if want.items is not None:
        context = _with_items(context, want.items)
    s = (CONVERSATION, k, s, context, data)
    if want.span_events and context.work is not None:
        return (
            leave,
            BeginSpan(_tell, (want,), BOTTOM, s, "compaction", want.span_events, 2),
            BOTTOM,
            s,
        )
    if want.together:
        starts = tuple([(start_ask, ask) for ask in want.asks])
        return leave, Fork(starts, _ALL_ANSWERED, s), _ALL_ANSWERED, s
    return start_ask(want.asks[0], _ANSWERED, s)


def _tell(told: tuple[Work, Perform], k: Frame, s: Segment) -> Step:
    """Begin and end the work that a conversation did by itself."""
    work, want = told
    return leave, EndSpan(work, None, (_go_on_traced, want, BOTTOM, s), 2), BOTTOM, s


def _go_on_traced(want: Perform, k: Frame, s: Segment) -> Step:
    _, below, outer, context, (session, _, *rest) = s
    return _go_on(session, evolve(want, span_events=""), below, outer, context, *rest)


def _break(work: Work | None, error: Record, is_timed: bool, k: Frame, s: Segment) -> Step:
    """End a failed conversation that stood on `k` and `s`, and the deadline of its template. The
    call of the task raises the error, and a resumption gives the value of the call."""
    if is_timed:
        k, s = s[1], s[2]
    return _over(work, error, (fail, error, k, s))


def _over(work: Work | None, error: Record | None, step: Step) -> Step:
    """End the traced work of a conversation."""
    if work is None:
        return step
    fn, _, k, s = step
    # A value that returns to the frame on top takes no step.
    return leave, EndSpan(work, error, step, 2 if fn is k[0] else 1), k, s


def _with_items(context: Ctx, items: tuple[Value, ...]) -> Ctx:
    """Return the context of a conversation with the items that its children inherit."""
    *above, own = context.conversations
    return context.replace(conversations=(*above, evolve(own, items=items)))


def start_ask(ask: Ask, k: Frame, s: Segment) -> Step:
    """Perform one request of a conversation."""
    if ask.handled and not is_handled(ask.operation, s):
        return k[0], None, k, s
    if ask.attempt:
        is_function = ask.operation == "tool" and ask.arguments[0] in s[3].linked.tools
        s = (FUNCTION if is_function else TOLD, k, s, s[3], ())
        k = BOTTOM
    return perform(ask.operation, ask.arguments, k, s, sent=ask.sent)


def _take_answer(value: Value, k: Frame, s: Segment) -> Step:
    """Resume a conversation with the reply to its request, or the replies to its joint requests."""
    replies = materialize(value)
    _, below, outer, context, (session, _, *rest) = s
    session, want = context.linked.tasks.advance(session, replies if k[2] else (replies,))
    return _go_on(session, want, below, outer, context, *rest)


_ANSWERED: Frame = (_take_answer, BOTTOM, False)
_ALL_ANSWERED: Frame = (_take_answer, BOTTOM, True)


def _fail(env: Any, k: Frame, s: Segment) -> Step:
    """End a conversation with an error, adding its words and usage."""
    session, work, is_timed, _, _, error, _ = env
    error = s[3].linked.tasks.cut_short(materialize(error), (session,))
    return _break(work, error, is_timed, k, s)


def _compact(env: Any, k: Frame, s: Segment) -> Step:
    _, *given = materialize(env)
    if len(given) != _COMPACT.size:
        raise Fault("wrong-arity", "`compact` is performed with messages, used and limit")
    return k[0], s[3].linked.tasks.compact(*given), k, s


_COMPACT = Code("compact", -1, ("messages", "used", "limit"), False, is_library=True)
_COMPACT.body = _compact

COMPACTION = make_closure(_COMPACT, ({},))
"""The default of `compact`."""

CONVERSATION = HandlerKind({"error": (ClauseCode(_fail, 1, "never", ()),)}, None)
"""The kind of conversations. Data is the session, the traced work, whether a deadline of the
template is the next segment below, the task if the call gives its TaskResult, and the validator."""


def _give_failed(env: Any, k: Frame, s: Segment) -> Step:
    error = env[-2]
    assert isinstance(error, Record)
    return k[0], make_failed_result(error), k, s


ATTEMPT = HandlerKind({"error": (ClauseCode(_give_failed, 1, "never", ()),)}, None)
"""`(attempt e)`: an error becomes a FAILED TaskResult."""

LIBRARY_ATTEMPT = HandlerKind(
    {"error": (ClauseCode(_give_failed, 1, "never", (), spares=is_refusal),)}, None
)
"""The same in the library. A refusal of the host passes it."""

TOLD = HandlerKind({"error": (ClauseCode(_give_failed, 1, "never", (), spares=is_mistake),)}, None)
"""The same around a conversation's requests, whose errors are reported to its model. A mistake of
the program passes it."""

FUNCTION = HandlerKind(
    {"error": (ClauseCode(_give_failed, 1, "never", (), spares=is_mistake),)}, None
)
"""The same around a tool that is a function of the program."""
