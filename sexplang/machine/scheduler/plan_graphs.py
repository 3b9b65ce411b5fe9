"""Plans as graphs of branches, and the judgement of proposals.

`stdlib/subplans.sexp` uses these primitives. A node of a graph begins when all its predecessors
have their values. A node may end the whole graph; unfinished nodes then give nil.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from sexplang.machine.code.application import apply
from sexplang.machine.exits import EnterScope, JudgePlan, Settled
from sexplang.machine.exits import Fork as Fork
from sexplang.machine.handlers import fail
from sexplang.machine.library.iteration import items_of
from sexplang.machine.limits import Limits
from sexplang.machine.scheduler.branches import Branch, Forked
from sexplang.machine.scopes.budgets import Accounts, check_budget
from sexplang.machine.stack import Ctx, Frame, Segment, Step
from sexplang.terms.classes.node import evolve
from sexplang.terms.plan import PlanLimits, PlanNode, Standing
from sexplang.terms.source import Span
from sexplang.terms.task import error_record
from sexplang.terms.values.boundary import materialize
from sexplang.terms.values.value import Fault, Record, Value


def fork_graph(arguments: tuple[Value, ...], k: Frame, s: Segment, span: Span | None) -> Step:
    """`(fork-graph f nodes after)`: the values of `(f node values)` in branches.

    `after` holds for each node the indexes of its predecessors, whose values `f` gets. `f` gives
    `[ends value]`. A true `ends` cancels the unfinished nodes: each gives nil, or the error
    `cancelled` of a task with its words and usage.
    """
    function, nodes, after = arguments
    items = items_of("fork-graph", nodes)
    edges = tuple([items_of("fork-graph", each) for each in items_of("fork-graph", after)])
    if len(edges) != len(items) or not _is_ordered(edges):
        raise Fault("wrong-type", "`fork-graph` takes for each node the nodes that it comes after")
    if not items:
        return k[0], (), k, s
    raise Fork(tuple([(_begin, (function, item)) for item in items]), k, s, after=edges)


def _is_ordered(edges: tuple[Any, ...]) -> bool:
    """Return whether all edges lead to existing nodes, without a cycle."""
    left = dict(enumerate(edges))
    while left:
        free = [at for at, before in left.items() if not any(each in left for each in before)]
        if not free:
            return False
        for at in free:
            if any(type(each) is not int or not 0 <= each < len(edges) for each in left.pop(at)):
                return False
    return True


def _begin(call: tuple[Value, Value, tuple[Value, ...]], k: Frame, s: Segment) -> Step:
    function, node, values = call
    return apply(function, (node, values), (_settle, k), s)


def _settle(value: Value, k: Frame, s: Segment) -> Step:
    value = materialize(value)
    if not isinstance(value, tuple) or len(value) != 2:
        raise Fault("wrong-type", "a node of a `fork-graph` gives [ends value]")
    below = k[1]
    return below[0], Settled(value[1], value[0] not in (False, None)), below, s


def nodes_to_begin(branch: Forked, ended: int | None) -> list[int]:
    """Return the nodes that may begin because `ended` has its value; with None, the nodes without
    predecessors."""
    assert branch.after is not None
    return [
        at
        for at, before in enumerate(branch.after)
        if (ended in before if before else ended is None)
        and all(each in branch.values for each in before)
    ]


def start_of(branch: Forked, index: int) -> tuple[Any, Any]:
    """Return the start of a graph's node, with the values of its predecessors."""
    assert branch.after is not None
    fn, a = branch.starts[index]
    return fn, (*a, tuple([branch.values[each].value for each in branch.after[index]]))


def values_so_far(branch: Forked, cut: Mapping[int, Record]) -> tuple[Value, ...]:
    """Return the values of a graph's nodes, or those in `cut`; nil for unfinished nodes."""
    found = [branch.values.get(at) for at in range(branch.width)]
    return tuple(
        [each.value if isinstance(each, Settled) else cut.get(at) for at, each in enumerate(found)]
    )


def add_finished(error: Record, finished: tuple[Value, ...]) -> Record:
    """Return the error of a deadline that breaks a graph, with the finished nodes."""
    details = {**error.fields["details"], "finished": finished}
    return Record(error.kind, {**error.fields, "details": details})


# -- Proposals ------------------------------------------------------------------------------------

MOST_SUBTASKS = 10
"""The greatest number of subtasks of any plan. Bounds on calls are computed with this."""


LOWERED = ("subtasks", "depth", "nodes", "decompositions")
"""The limits that a program may lower for its own plan."""


def judge_plan(arguments: tuple[Value, ...], k: Frame, s: Segment, span: Span | None) -> Step:
    """`(judge-plan plan limits)`: `{plan}` if it is accepted and its nodes count from now on; else
    `{reason}`."""
    plan, limits = materialize(arguments)
    fits = isinstance(limits, dict) and all(
        name in LOWERED and type(most) is int and most >= 0 for name, most in limits.items()
    )
    if limits is not None and not fits:
        raise Fault(
            "wrong-type",
            f"`limits:` of a plan are integers from 0 on, by the names {', '.join(LOWERED)}",
            hint="write for example limits: {subtasks: 3}",
        )
    if s[3].linked.tasks is None:
        return _without_tasks(k, s)
    raise JudgePlan(plan, limits, k, s)


def task_bids(arguments: tuple[Value, ...], k: Frame, s: Segment, span: Span | None) -> Step:
    """`(task-bids node)`: the bids of the program's tasks for a subtask, best first: `[{task
    fitness cost decomposes} …]`."""
    linked = s[3].linked
    if linked.tasks is None:
        return _without_tasks(k, s)
    return k[0], linked.tasks.bids(materialize(arguments[0]), s[3].conversations), k, s


def check_outputs(arguments: tuple[Value, ...], k: Frame, s: Segment, span: Span | None) -> Step:
    """`(check-outputs node result)`: `{artifacts missing}` of the result of a subtask."""
    tasks = s[3].linked.tasks
    if tasks is None:
        return _without_tasks(k, s)
    return k[0], tasks.outputs(*materialize(arguments)), k, s


def _without_tasks(k: Frame, s: Segment) -> Step:
    message = "this program runs without a task system"
    return fail(error_record("TASK_FAILURE", "configuration_error", message), k, s)


def in_node(arguments: tuple[Value, ...], k: Frame, s: Segment, span: Span | None) -> Step:
    """`(in-node node budget f)`: calls `f` within the budget, as the work of a plan's node."""
    node, budget, function = materialize(arguments)
    fields = node if isinstance(node, dict) else {}
    try:
        most = fields.get("plan_depth")
        made = PlanNode(fields["id"], fields["seconds"], len(s[3].conversations), most)
    except KeyError:
        raise Fault("wrong-type", "`in-node` takes a node of a plan that was judged") from None
    settings: dict[str, Any] = {**check_budget(budget), "node": made}
    raise EnterScope(settings, _call, function, k, s, span)


def _call(function: Value, k: Frame, s: Segment) -> Step:
    return apply(function, (), k, s)


def judge(
    left: JudgePlan, branches: Iterable[Branch], accounts: Accounts, planned: int, most: Limits
) -> tuple[int, dict[str, Value]]:
    """Return the number of nodes that a proposal adds to the run, and the verdict."""
    context = left.s[3]
    limits = PlanLimits(
        min(most.subplan_subtasks, MOST_SUBTASKS),
        most.subplan_depth,
        most.subplan_nodes,
        most.subplan_decompositions,
        most.subplan_seconds,
        most.subplan_factor,
    )
    around = _standing(branches, accounts, context, planned)
    around = evolve(around, limits=limits, is_ours=_is_ours(left.s))
    said = context.linked.tasks.judge(left.plan, left.limits, around)
    return said.count, {"reason": said.reason} if said.plan is None else {"plan": said.plan}


def _is_ours(s: Segment) -> bool:
    """Return whether the program's own tasks do a subtask performed here: no handler of the program
    and no host answers it."""
    linked = s[3].linked
    if "subtask" not in linked.defaults:
        return False
    node = s
    while True:
        if "subtask" in node[0].clauses:
            return False
        if node[2] is not None:
            node = node[2]
        elif node[4] is not None:
            node = node[4].s
        else:
            return True


def _standing(
    branches: Iterable[Branch], accounts: Accounts, context: Ctx, planned: int
) -> Standing:
    """Return the plans around a proposal made in a context."""
    scopes = [accounts[id] for id in context.scopes]
    left: dict[str, float] = {}
    for scope in (*scopes, *[accounts[id] for id in context.expired_scopes]):
        for name, limit, spent in scope.spending():
            left[name] = min(left.get(name, limit - spent), limit - spent)
    return Standing(
        nodes=tuple([each.bounds.node for each in scopes if each.bounds.node is not None]),
        planned=planned,
        frontier=tuple(_frontier(branches)),
        left=tuple(left.items()),
        seconds=min([each.seconds for each in scopes if each.seconds is not None], default=None),
        conversations=context.conversations,
    )


def _frontier(branches: Iterable[Branch]) -> Iterable[Value]:
    """Yield the nodes of all plans that have no value yet."""
    for branch in sorted(branches, key=lambda each: each.path):
        if isinstance(branch, Forked) and branch.after is not None and branch.cut is None:
            for at in range(branch.width):
                if at not in branch.values:
                    yield branch.starts[at][1][1]
