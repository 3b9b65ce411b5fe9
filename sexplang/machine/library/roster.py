"""The table of the prelude functions that call back. Their calls may be captured and resumed."""

from sexplang.machine.code.application import ENTRIES, LABELLED, apply
from sexplang.machine.code.simple import locate
from sexplang.machine.errors import error_from, user_error
from sexplang.machine.exits import Fork
from sexplang.machine.handlers import discard, fail
from sexplang.machine.library.iteration import WALKS, Row, items_of
from sexplang.machine.library.merge_sort import sort, sort_by
from sexplang.machine.scheduler.permits import call_with_permit
from sexplang.machine.scheduler.plan_graphs import (
    check_outputs,
    fork_graph,
    in_node,
    judge_plan,
    task_bids,
)
from sexplang.machine.scheduler.shared_values import claim_shared, put_shared, release_shared
from sexplang.machine.stack import Continuation, Frame, Segment, Step
from sexplang.machine.tasks.delegation import (
    answer,
    as_work,
    call_labelled,
    call_result,
    go_on,
    make_result,
    match_task,
    run_step,
    run_task,
    subagent_limits,
    task_of,
)
from sexplang.machine.tasks.model_programs import run_plan
from sexplang.terms.quota import SMALL, charge, work
from sexplang.terms.source import Span
from sexplang.terms.values.abbreviation import abbreviate
from sexplang.terms.values.boundary import materialize
from sexplang.terms.values.value import Fault, Higher, Record, Symbol, Value


def _apply(arguments: tuple[Value, ...], k: Frame, s: Segment, span: Span | None) -> Step:
    *first, last = arguments[1:]
    items = items_of("apply", last)
    if len(items) > SMALL:
        work(len(items))
    return apply(arguments[0], (*first, *items), k, s, span)


def _update(arguments: tuple[Value, ...], k: Frame, s: Segment, span: Span | None) -> Step:
    table, key, function = arguments
    if isinstance(table, Record):
        table = table.fields
    key = materialize(key)
    if not isinstance(table, dict) or not isinstance(key, (str, Symbol)):
        what = abbreviate(key if isinstance(table, dict) else table)
        title = f"`update` takes a table, a key and a function, not {what}"
        hint = "write `(update-in t keys f)`" if type(key) is tuple else "write `(update t key f)`"
        raise Fault("wrong-type", title, hint=hint)
    name = key if isinstance(key, str) else key.name
    return apply(function, (table.get(name),), (_end_update, k, table, name), s)


def _end_update(value: Value, k: Frame, s: Segment) -> Step:
    _, below, table, name = k
    charge(len(table) + 1)
    return below[0], {**table, name: value}, below, s


def _raise(arguments: tuple[Value, ...], k: Frame, s: Segment, span: Span | None) -> Step:
    return fail(error_from(arguments[0], span), k, s)


def _error(arguments: tuple[Value, ...], k: Frame, s: Segment, span: Span | None) -> Step:
    return fail(user_error(arguments, span), k, s)


def _abandon(arguments: tuple[Value, ...], k: Frame, s: Segment, span: Span | None) -> Step:
    continuation = arguments[0]
    if not isinstance(continuation, Continuation):
        raise Fault("wrong-type", f"`abandon` takes a continuation, not {abbreviate(continuation)}")
    return discard(continuation, k, s)


def _start(call: tuple[Value, Value, Span | None], k: Frame, s: Segment) -> Step:
    function, item, span = call
    try:
        return apply(function, (item,), k, s, span)
    except Fault as fault:
        raise locate(fault, span) from None


def _fork_map(arguments: tuple[Value, ...], k: Frame, s: Segment, span: Span | None) -> Step:
    """`(fork-map f xs limit)`: the primitive under `par-map`."""
    function, xs, limit = arguments
    items = items_of("par-map", xs)
    if limit is not None and (type(limit) is not int or limit < 1):
        raise Fault("wrong-type", "`limit:` of `par-map` is an integer from 1 on")
    if not items:
        return k[0], (), k, s
    raise Fork(tuple([(_start, (function, item, span)) for item in items]), k, s, limit)


_TABLE: tuple[Row, ...] = (
    *WALKS,
    ("sort", 2, 2, sort, "xs less?", "Stable."),
    ("sort-by", 2, 3, sort_by, "f xs [order]", "By f of each, stable; downward by `>`."),
    ("apply", 2, None, _apply, "f x … xs", "Calls f with x … and the elements of xs."),
    ("update", 3, 3, _update, "t k f", "t with f of its value at k."),
    ("raise", 1, 1, _raise, "x", "Performs error."),
    ("error", 1, None, _error, '"text" x …', "Raises a USER_ERROR."),
    ("abandon", 1, 1, _abandon, "k", "Leaves the scopes that k holds."),
    ("fork-map", 3, 3, _fork_map, "f xs limit", "f of each element, in branches."),
    ("fork-graph", 3, 3, fork_graph, "f nodes after", "f of each node, in its order."),
    ("judge-plan", 2, 2, judge_plan, "plan limits", "{plan}, or {reason} against it."),
    ("task-bids", 1, 1, task_bids, "node", "Which tasks would do a subtask, best first."),
    ("in-node", 3, 3, in_node, "node budget f", "Calls f as the work of a plan's node."),
    ("check-outputs", 2, 2, check_outputs, "node result", "{artifacts missing}."),
    ("run-plan", 4, 4, run_plan, "text inputs allow budget", "A model's program."),
    ("with-permit", 1, 1, call_with_permit, "f", "Calls f, as one of at most 3 at a time."),
    ("in-place", 1, 1, call_with_permit, "f", "The old name of with-permit."),
    ("claim-shared", 1, 1, claim_shared, "key", "{value}, or nil: compute it."),
    ("put-shared", 2, 2, put_shared, "key x", "The value of a key from now on."),
    ("release-shared", 1, 1, release_shared, "key", "Gives a claim up."),
    ("match-task", 1, 1, match_task, "request", "The task that takes it."),
    ("task-of", 1, 1, task_of, "subtype", "The one task of a subtype, or nil."),
    ("run-task", 3, 3, run_task, "task inputs overrides", "Calls a task."),
    ("run-step", 3, 3, run_step, "f x overrides", "Calls f, a task with overrides."),
    ("as-work", 3, 3, as_work, "kind name f", "Calls f; traces show it as one thing."),
    ("subagent-limits", 0, 0, subagent_limits, "", "[seconds calls]."),
    ("call-task", 1, None, call_result, "task x …", "Its call, as a TaskResult."),
    ("continue", 2, 2, go_on, 'result "words"', "Its conversation, a TaskResult."),
    ("answer", 1, 1, answer, "result", "What it answers; a FAILED one raises its error."),
    ("task-result", 1, 2, make_result, "fields", "A TaskResult."),
)

HIGHER: dict[str, Higher] = {
    name: Higher(name, least, most, doc, params) for name, least, most, _, params, doc in _TABLE
}
"""The prelude functions that call back, by name."""

ENTRIES.update({name: entry for name, _, _, entry, _, _ in _TABLE})
LABELLED["call-task"] = call_labelled
