"""Rules for plans of subtasks: the effects of any plan that may be proposed."""

from typing import Any

from sexplang.analysis.domain.bounds import no_bound, number
from sexplang.analysis.domain.effects_and_calls import add_counts, repeat_work
from sexplang.analysis.domain.handler_stack import ActiveHandle
from sexplang.analysis.domain.primitive_results import item_of, size_of
from sexplang.analysis.domain.values import ANY, DATA, Abstract
from sexplang.analysis.interpreter.call_rules import HIGHER, SHIPPED, apply
from sexplang.analysis.interpreter.handler_rules import perform
from sexplang.analysis.interpreter.interpreter import AbstractInterpreter, Steps, without_effects
from sexplang.analysis.interpreter.resume_rules import escape
from sexplang.terms.source import Span

_SUBTASKS = 10
_FIXES = 2
_STATES = 6
"""The greatest number of subtasks of a plan, the default number of corrections of one output, and
the number of other reported states."""


def _run_subplan(
    m: AbstractInterpreter,
    given: tuple[Abstract | None, ...],
    labels: Any,
    handling: ActiveHandle | None,
    span: Span,
) -> Steps:
    """`(run-subplan plan limits validate fixes)`: subtasks run under `attempt`, and a person may be
    asked once."""
    _, _, validate, fixes = given
    inside = ActiveHandle(m.number(), handling, m.values.environment(None, ()), {"error": ()})
    inside.answering = handling.answering if handling is not None else None
    times = number(_SUBTASKS * (1 + _FIXES), span)
    if fixes is not None:
        times = no_bound("the output of a subtask may be put right any number of times", span)
    _, doing = yield perform(m, "subtask", (ANY,), inside, span)
    _, asking = yield perform(m, "ask-user", (DATA, DATA), inside, span)
    _, telling = yield perform(m, "progress", (DATA,), handling, span)
    works = [repeat_work(doing, times), asking]
    works.append(repeat_work(telling, number(_SUBTASKS * (_STATES + _FIXES) + 2, span)))
    if validate is not None:
        found, checking = yield apply(m, validate, (ANY, ANY), (), inside, span)
        escape(found)
        works.append(repeat_work(checking, times))
    return ANY, add_counts(*works)


SHIPPED[("std/subplans", "run-subplan")] = _run_subplan


def _fork_graph(
    m: AbstractInterpreter,
    given: tuple[Abstract, ...],
    labels: Any,
    handling: ActiveHandle | None,
    span: Span,
) -> Steps:
    """`(fork-graph f nodes after)`: f of each node and a list of values, once."""
    function, nodes, _ = given
    size = size_of(nodes, span)
    inside = m.branch(handling)
    value, work = yield apply(m, function, (item_of(m.values, nodes), ANY), (), inside, span)
    escape(value)
    return ANY, repeat_work(work, size)


def _in_node(
    m: AbstractInterpreter,
    given: tuple[Abstract, ...],
    labels: Any,
    handling: ActiveHandle | None,
    span: Span,
) -> Steps:
    """`(in-node node budget f)`."""
    return (yield from apply(m, given[2], (), (), handling, span))


def _judge(
    m: AbstractInterpreter,
    given: tuple[Abstract, ...],
    labels: Any,
    handling: ActiveHandle | None,
    span: Span,
) -> Any:
    """A pure function of plans and subtasks."""
    return without_effects(DATA)


HIGHER.update(
    {
        "fork-graph": _fork_graph,
        "in-node": _in_node,
        "judge-plan": _judge,
        "task-bids": _judge,
        "check-outputs": _judge,
    }
)
