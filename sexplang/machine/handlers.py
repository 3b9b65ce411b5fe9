"""Handlers: perform, resume, forward, cross.

The rules, with the programs that showed them, are in `spec/04-effects.md`.
"""

from typing import Any

from sexplang.machine.errors import (
    add_bound_values,
    blame,
    call_frame,
    cannot_resume_across,
    error_from,
    not_resumable,
)
from sexplang.machine.exits import AbortHandler, AskHost, RequestSubtask, StepInterrupt, Uncaught
from sexplang.machine.stack import (
    BASE,
    BOTTOM,
    BOUNDARY,
    Continuation,
    Ctx,
    Frame,
    Kind,
    Parent,
    Segment,
    Step,
    leave,
)
from sexplang.machine.unwind import (
    OWN,
    USED,
    ClauseCode,
    abandon,
    abandon_all,
    base_of,
    capture,
    charge_copied,
    environment,
    finish,
    rebase_segments,
)
from sexplang.terms.quota import work
from sexplang.terms.source import Span
from sexplang.terms.values.boundary import plain
from sexplang.terms.values.value import Fault, Procedure, Record, Value

# -- Performing ---------------------------------------------------------------------------------


def perform(
    operation: str,
    arguments: tuple[Value, ...],
    k: Frame,
    s: Segment,
    span: Span | None = None,
    start: Segment = None,
    resumable: bool = True,
    sent: tuple[Value, ...] | None = None,
) -> Step:
    """Find the nearest clause that takes the operation, from `start` outward, and run it.

    Across the base of a branch the search goes on in the parent's stack. If no clause takes the
    operation, its default is called, or the host is asked. The host gets the arguments as plain
    data: `sent`, if the caller has it already.
    """
    node = s if start is None else start
    level = -1
    refusal = False
    if operation == "subtask" and start is None:
        return leave, RequestSubtask((_go_on, (arguments, span, sent), k, s)), k, s
    if operation == "error":
        arguments = (blame(_error_alone(arguments, span), k, s),)
        refusal = arguments[0].fields.get("reason") == "resume-across-par"
    while True:
        kind = node[0]
        if kind.clauses:
            for clause in kind.clauses.get(operation, ()):
                if clause.selects and not clause.takes(arguments):
                    work(1)  # an error may pass any number of clauses
                    continue
                if operation == "error":
                    arguments = (add_bound_values(arguments[0], k, s, node),)
                    if level < 0 and s[3].conversations:
                        arguments = (_with_held(arguments[0], s, node),)
                if level < 0:
                    return _take(clause, operation, arguments, node, k, s, resumable)
                if clause.kind in ("never", "tail"):
                    return cross(clause, operation, arguments, node, level, k, s, resumable)
                if not refusal:
                    return fail(
                        cannot_resume_across(operation, span, bool(s[3].conversations)), k, s
                    )
        below = node[2]
        if below is None:
            parent = node[4]
            if parent is None:
                break
            parent = parent.onward or parent
            node, level = parent.s, parent.level
            continue
        if kind.guard is not None:
            kind.guard(node, operation, arguments)
        node = below
    if operation == "error":
        raise Uncaught(add_bound_values(arguments[0], k, s), k, s)
    default = s[3].linked.defaults.get(operation)
    if default is not None:
        return default.code.body, (default.env, *arguments), call_frame(span, k), s
    if sent is None:
        sent = plain_arguments(arguments)
        if operation == "model" and s[3].conversations:
            k = (_take_offer, k, _tools_in(sent))
    return leave, AskHost(operation, sent, k, s, span), k, s


def _tools_in(sent: tuple[Any, ...]) -> tuple[str, ...]:
    """Return the names of the tools in a request to a model."""
    payload = sent[0] if sent else None
    tools = payload.get("tools") if isinstance(payload, dict) else None
    named = tools if isinstance(tools, (list, tuple)) else ()
    names = [tool.get("name") for tool in named if isinstance(tool, dict)]
    return tuple([name for name in names if isinstance(name, str)])


def _take_offer(value: Value, k: Frame, s: Segment) -> Step:
    """Add to a model's reply the tools that the request offered. No other tool may be called."""
    below = k[1]
    if type(value) is dict:
        value = {**value, "offered": k[2]}
    return below[0], value, below, s


def _with_held(error: Record, s: Segment, node: Segment) -> Record:
    """Return the error of a clause that holds conversations, with their partial results."""
    from sexplang.machine.scheduler.partial_results import (
        add_held_sessions,  # errors outside conversations do not need it
    )

    return add_held_sessions(error, s, node)


def is_handled(operation: str, node: Segment) -> bool:
    """Return whether a handler of the program takes an operation performed at `node`."""
    while True:
        if operation in node[0].clauses:
            return True
        if node[2] is not None:
            node = node[2]
        elif node[4] is not None:
            node = (node[4].onward or node[4]).s
        else:
            return False


def _go_on(asked: tuple[Any, ...], k: Frame, s: Segment) -> Step:
    """Perform a request for a subtask that has been counted."""
    arguments, span, sent = asked
    return perform("subtask", arguments, k, s, span, start=s, sent=sent)


def plain_arguments(arguments: tuple[Value, ...]) -> tuple[Value, ...]:
    """Return the arguments as plain data for the host, without trailing nils."""
    while arguments and arguments[-1] is None:
        arguments = arguments[:-1]
    return (plain(arguments[0]),) if len(arguments) == 1 else tuple(map(plain, arguments))


def _take(
    clause: ClauseCode,
    operation: str,
    arguments: tuple[Value, ...],
    node: Segment,
    k: Frame,
    s: Segment,
    resumable: bool,
) -> Step:
    values = arguments
    if len(arguments) != clause.count:
        values = clause.bind(operation, arguments)
    continuation = capture(k, s, node, resumable)
    if clause.kind == "never":
        then = ("clause", clause, values)
        if continuation.cleanup:
            return abandon(continuation, node[1], node[2], then)
        return finish(then, environment(node), node[1], node[2])
    context = s[3]
    env = environment(node) + values + (continuation,)
    below, outer = node[1], node[2]
    if continuation.cleanup and clause.kind != "kept":
        context = context.with_program_of(outer[3])
        return clause.body, env, BOTTOM, (OWN, below, outer, context, continuation)
    if outer[3] is context:
        return clause.body, env, below, outer
    context = context.with_program_of(outer[3])
    return clause.body, env, BOTTOM, (BOUNDARY, below, outer, context, continuation)


# -- Continuations ------------------------------------------------------------------------------


def resume(continuation: Continuation, value: Value, k: Frame, s: Segment) -> Step:
    """`(k v)`: push the captured segments and give the value to the top."""
    if not continuation.resumable:
        raise not_resumable()
    known = s[3].scopes
    if k is BOTTOM or continuation.cleanup:
        k, s = _leave_clause(continuation, k, s)
    k, s = _push(continuation, k, s)
    if any(id not in known for id in s[3].scopes):  # its scopes count from here on
        raise StepInterrupt((return_as_step, value, k, s))
    return return_as_step, value, k, s


def return_as_step(value: Value, k: Frame, s: Segment) -> Step:
    """Return a value to a frame, counted as a step of the call."""
    step: Step = k[0](value, k, s)
    return step


def _push(continuation: Continuation, k: Frame, s: Segment) -> tuple[Frame, Segment]:
    if len(continuation.segments) > 1:
        charge_copied(continuation.segments)
    for kind, frames, context, data in rebase_segments(continuation, _around(k, s)):
        s = (kind, k, s, context, data)
        k = frames
    return k, s


def _around(k: Frame, s: Segment) -> Ctx:
    """Return the context around a call. The last call of a clause stands where its handle
    expression does, though a continuation of the clause may be left to abandon."""
    while k is BOTTOM and (s[0] is OWN or s[0] is USED or s[0] is BOUNDARY):
        k, s = s[1], s[2]
    context: Ctx = s[3]
    return context


def _leave_clause(continuation: Continuation, k: Frame, s: Segment) -> tuple[Frame, Segment]:
    """Drop the segments that a tail call leaves behind, and mark an owned continuation as
    called."""
    while k is BOTTOM and (
        s[0] is BOUNDARY or s[0] is USED or (s[0] is OWN and s[4] is continuation)
    ):
        k, s = s[1], s[2]
    if not continuation.cleanup:
        return k, s
    above = []
    node = s
    while node is not None and not (node[0] is OWN and node[4] is continuation):
        above.append(node)
        node = node[2]
    if node is None:
        return k, s
    s = (USED, node[1], node[2], node[3], None)
    for segment in reversed(above):
        s = (segment[0], segment[1], s, segment[3], segment[4])
    return k, s


def forward(
    continuation: Value,
    operation: str,
    arguments: tuple[Value, ...],
    k: Frame,
    s: Segment,
    span: Span | None,
    fails: bool = False,
) -> Step:
    """`(forward k op arg…)`: perform at the next handler outward, with the performer's
    continuation. If it `fails`, perform an error where the performer stands."""
    if continuation is ACROSS:
        data, start = s[4], None if fails else s[2]
        return perform(
            operation, arguments, data.k, data.s, span, start=start, resumable=data.resumable
        )
    assert isinstance(continuation, Continuation)
    k, s = _leave_clause(continuation, k, s)
    above, top = _push(continuation, k, s)
    resumable = continuation.resumable
    start = None if fails else s
    return perform(operation, arguments, above, top, span, start=start, resumable=resumable)


def discard(continuation: Continuation, k: Frame, s: Segment) -> Step:
    """`(abandon k)`: unwind the segments of k, then give nil."""
    k, s = _leave_clause(continuation, k, s)
    return abandon(continuation, k, s, ("value", None), _around(k, s))


# -- Handlers around branches ---------------------------------------------------------------------
#
# A clause from beyond a branch's base runs in the branch. The branch's own stack is set aside.
# The text of a clause decides what it may do there. If it only resumes last, or forwards, it
# may cross. If it never resumes, it ends the branches first and runs in the branch that forked.


class Crossing:
    """A branch's stack, set aside while a clause from beyond its base runs in the branch."""

    __slots__ = ("k", "level", "node", "resumable", "s")

    def __init__(self, k: Frame, s: Segment, node: Segment, level: int, resumable: bool) -> None:
        self.k = k
        self.s = s
        self.node = node
        self.level = level
        self.resumable = resumable


class _Across(Procedure):
    """The continuation of a clause that crosses: it is only called last."""

    __slots__ = ()
    name = "continuation"


ACROSS = _Across()


def cross(
    clause: ClauseCode,
    operation: str,
    arguments: tuple[Value, ...],
    node: Segment,
    level: int,
    k: Frame,
    s: Segment,
    resumable: bool,
) -> Step:
    values = clause.bind(operation, arguments)
    if clause.kind == "never":
        raise AbortHandler(level, node, ("clause", clause, values), k, s)
    context = s[3].with_program_of(node[2][3])
    beyond = (BASE, BOTTOM, None, base_of(s)[3], Parent(node[2], level))
    crossing = (CROSS, BOTTOM, beyond, context, Crossing(k, s, node, level, resumable))
    return clause.body, (*environment(node), *values, ACROSS), BOTTOM, crossing


def resume_across(value: Value, k: Frame, s: Segment) -> Step:
    """Resume from a crossing clause: restore the branch's own stack."""
    data = s[4]
    if not data.resumable:
        raise not_resumable()
    k = data.k
    return k[0], value, k, data.s


def _leave_cross(value: Value, s: Segment) -> Step:
    data = s[4]
    raise AbortHandler(data.level, data.node, ("value", value), data.k, data.s)


def _leave_cut_cross(value: Value, s: Segment) -> Step:
    return abandon_all(s[4].k, s[4].s, s[2][3], value)


CROSS = Kind("cross", _leave_cross, cleanup=True)
CROSS.stripped = Kind("cut", _leave_cut_cross, cleanup=True)


# -- Errors -------------------------------------------------------------------------------------


def fail(error: Record, k: Frame, s: Segment, resumable: bool = True) -> Step:
    """Perform `error`."""
    return perform("error", (error,), k, s, resumable=resumable)


def _error_alone(arguments: tuple[Value, ...], span: Span | None) -> Record:
    """Return the argument of `error` as one error record, made as `raise` makes it."""
    if len(arguments) != 1:
        raise Fault("wrong-arity", "`error` is performed with one argument, what went wrong")
    return error_from(arguments[0], span)
