"""Plans of subtasks, followed: what a plan may have done, whoever proposes it."""

from typing import Any

from sexplang.analysis.bounds import number, unbounded
from sexplang.analysis.calls import HIGHER, SHIPPED, apply
from sexplang.analysis.following import Follower, Steps, nothing
from sexplang.analysis.handlers import perform
from sexplang.analysis.results import item_of, size_of
from sexplang.analysis.resuming import escape
from sexplang.analysis.stack import Handling
from sexplang.analysis.values import ANY, DATA, Abstract
from sexplang.analysis.work import repeated, together
from sexplang.terms.source import Span

_SUBTASKS = 10
_FIXES = 2
_STATES = 6
"""How many subtasks a plan has at most, how often the output of one is put right where nobody says
otherwise, and how many of its states are told besides those."""


def _run_subplan(
    m: Follower,
    given: tuple[Abstract | None, ...],
    labels: Any,
    handling: Handling | None,
    span: Span,
) -> Steps:
    """`(run-subplan plan limits validate fixes)`: subtasks are done under `attempt`, and a person
    may be asked once."""
    _, _, validate, fixes = given
    inside = Handling(m.number(), handling, m.values.environment(None, ()), {"error": ()})
    inside.solid = handling.solid if handling is not None else None
    times = number(_SUBTASKS * (1 + _FIXES), span)
    if fixes is not None:
        times = unbounded("the output of a subtask may be put right any number of times", span)
    _, doing = yield perform(m, "subtask", (ANY,), inside, span)
    _, asking = yield perform(m, "ask-user", (DATA, DATA), inside, span)
    _, telling = yield perform(m, "progress", (DATA,), handling, span)
    works = [repeated(doing, times), asking]
    works.append(repeated(telling, number(_SUBTASKS * (_STATES + _FIXES) + 2, span)))
    if validate is not None:
        found, checking = yield apply(m, validate, (ANY, ANY), (), inside, span)
        escape(found)
        works.append(repeated(checking, times))
    return ANY, together(*works)


SHIPPED[("std/subplans", "run-subplan")] = _run_subplan


def _fork_graph(
    m: Follower, given: tuple[Abstract, ...], labels: Any, handling: Handling | None, span: Span
) -> Steps:
    """`(fork-graph f nodes after)`: f of each node and a list of values, once."""
    function, nodes, _ = given
    size = size_of(nodes, span)
    value, work = yield apply(m, function, (item_of(m.values, nodes), ANY), (), handling, span)
    escape(value)
    return ANY, repeated(work, size)


def _in_node(
    m: Follower, given: tuple[Abstract, ...], labels: Any, handling: Handling | None, span: Span
) -> Steps:
    """`(in-node node budget f)`."""
    return (yield from apply(m, given[2], (), (), handling, span))


def _judged(
    m: Follower, given: tuple[Abstract, ...], labels: Any, handling: Handling | None, span: Span
) -> Any:
    """Data about a plan or a subtask: pure."""
    return nothing(DATA)


HIGHER.update(
    {
        "fork-graph": _fork_graph,
        "in-node": _in_node,
        "judge-plan": _judged,
        "task-bids": _judged,
        "check-outputs": _judged,
    }
)
