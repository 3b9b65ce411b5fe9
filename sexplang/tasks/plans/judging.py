"""A proposal and what is around it to the plan as it will be worked on, or the reason against it.

Law: the whole proposal is judged before anything changes, and nothing here changes anything. The
order is that of the documents: form, count, depth, nodes, spam, dependencies, overlap, budgets.
"""

from sexplang.tasks.plans.graph import After, Refused, dependencies, reaches, sequenced, steps
from sexplang.tasks.plans.overlap import alike, same_paths
from sexplang.tasks.plans.proposal import CAPS, proposal
from sexplang.tasks.request import fields_of
from sexplang.terms.node import frozen
from sexplang.terms.plan import Judgement, Standing
from sexplang.terms.text import number
from sexplang.terms.value import Value

SECONDS = 300
"""The budget of a node that has none."""


@frozen
class PlanLimits:
    """What plans are held to; a program can only lower it."""

    subtasks: int = 10
    depth: int = 3
    nodes: int = 100
    decompositions: int = 3

    def lowered(self, given: Value) -> "PlanLimits":
        """The same, where a table of lower limits is given."""
        fields = fields_of(given) or {}
        least = {name: fields.get(name) for name in ("subtasks", "depth", "nodes")}
        least["decompositions"] = fields.get("decompositions")
        own = (self.subtasks, self.depth, self.nodes, self.decompositions)
        low = [
            min(most, given) if type(given) is int and given >= 0 else most
            for most, given in zip(own, least.values(), strict=True)
        ]
        return PlanLimits(*low)


def judge(most: PlanLimits, plan: Value, lower: Value, around: Standing) -> Judgement:
    """What is said about a plan; `lower` is a table of lower limits, or nil. Raises nothing."""
    limits = most.lowered(lower)
    read = proposal(plan, trusted=True)
    if read.problems:
        return Judgement(None, f"a malformed subplan: {read.complaint()}")
    try:
        return Judgement(_judged(limits, read.fields, around, read.warnings))
    except Refused as refused:
        return Judgement(None, f"{refused}; propose something simpler, or do the task yourself")


def _judged(
    limits: PlanLimits, plan: dict[str, Value], around: Standing, warnings: tuple[str, ...]
) -> dict[str, Value]:
    subtasks = plan["subtasks"]
    depth = len(around.nodes) + 1
    _check_size(limits, len(subtasks), depth, around.planned)
    _check_spam(limits, plan)
    after = dependencies(subtasks)
    kept, merged = _merged(subtasks, after)
    parent = _parent(around)
    _check_frontier(subtasks, kept, parent, around)
    own = tuple([subtasks[at] for at in kept])
    order = [{kept.index(each) for each in after[at]} for at in kept]
    added = sequenced(own, order)
    needed = steps(order)
    seconds = _seconds(plan, around)
    left = {"seconds": seconds - _count(plan.get("granted")), **dict(around.left)}
    _check_budgets(own, left)
    first = int(_count(plan.get("first")))
    ids = [f"{parent}/sub-{first + at}" for at in kept]
    notes = [
        f"subtask {later} does what subtask {at} does; it is done once" for later, at in merged
    ]
    notes += [f"`{ids[one]}` waits for `{ids[at]}`: they own the same paths" for one, at in added]
    return {
        "parent": parent,
        "depth": depth,
        "seconds": seconds,
        "child_depth": plan.get("depth"),
        "max_depth": plan.get("max_depth"),
        "granted": sum(_caps(own, "seconds")),
        "reason": plan["reason"],
        "stop_when": plan["stop_when"],
        "warnings": (*warnings, *notes),
        "subtasks": tuple(
            [
                {
                    **_node(subtask, ids[at], depth, seconds),
                    "after": tuple([ids[each] for each in sorted(order[at])]),
                    "step": at in needed,
                }
                for at, subtask in enumerate(own)
            ]
        ),
        "after": tuple([tuple(sorted(before)) for before in order]),
    }


def _node(subtask: dict[str, Value], id: str, depth: int, seconds: float) -> dict[str, Value]:
    cap = subtask.get("budget_cap") or {}
    return {
        "id": id,
        "depth": depth,
        "description": subtask["description"],
        "name": subtask.get("name"),
        "inputs": subtask.get("inputs") or {},
        "required_capabilities": subtask.get("required_capabilities") or (),
        "template_hints": subtask.get("template_hints") or (),
        "file_paths": subtask.get("file_paths"),
        "owned_paths": subtask.get("owned_paths") or (),
        "seconds": min(cap.get("seconds", SECONDS), seconds),
        "budget": {name: cap[name] for name in CAPS[1:] if name in cap},
        "outputs": subtask.get("expected_output_types") or (),
        "files": subtask.get("expected_files") or (),
        "allow_no_op": subtask.get("allow_no_op_completion") or False,
    }


def _check_size(limits: PlanLimits, count: int, depth: int, planned: int) -> None:
    if count == 0:
        raise Refused("the plan has no subtasks, and needs at least 1")
    if count > limits.subtasks:
        raise Refused(
            f"too many subtasks: {count} are proposed, and the limit is {limits.subtasks}"
        )
    if depth > limits.depth:
        raise Refused(
            f"too deep: the subtasks would be at depth {depth}, and the limit is {limits.depth}"
        )
    if planned + count > limits.nodes:
        raise Refused(
            f"too many nodes: this run has planned {planned}, {count} more are proposed, and the "
            f"limit is {limits.nodes}"
        )


def _check_spam(limits: PlanLimits, plan: dict[str, Value]) -> None:
    which = int(_count(plan.get("decomposition"))) or 1
    if which > limits.decompositions:
        raise Refused(
            f"too many decompositions: {which - 1} were accepted in this conversation, and the "
            f"limit is {limits.decompositions}"
        )
    if which > 1 and not _count(plan.get("progress")):
        raise Refused(
            f"decomposition {which} of this conversation needs partial progress: deliver at least "
            "1 new artifact with it"
        )


def _merged(
    subtasks: tuple[dict[str, Value], ...], after: After
) -> tuple[list[int], list[tuple[int, int]]]:
    """The subtasks that are kept, and those that do what another does, each with that one. What
    comes after the second comes after the first. Changes `after`. Raises Refused."""
    kept: list[int] = []
    merged = []
    for at, subtask in enumerate(subtasks):
        same = next((each for each in kept if alike(subtasks[each], subtask)), None)
        if same is None:
            kept.append(at)
            continue
        if reaches(after, at, same) or reaches(after, same, at):
            raise Refused(f"subtask {at} repeats subtask {same}, and one comes after the other")
        merged.append((at, same))
        after[same] |= after[at]
        for before in after:
            if at in before:
                before.remove(at)
                before.add(same)
    return kept, merged


def _check_frontier(
    subtasks: tuple[dict[str, Value], ...], kept: list[int], parent: str, around: Standing
) -> None:
    for at in kept:
        for node in map(fields_of, around.frontier):
            if node is None:
                continue
            if alike(subtasks[at], node):
                raise Refused(
                    f"subtask {at} overlaps with `{node['id']}`, which is not done and is to do "
                    f"the same: {node['description']}"
                )
            above = f"{parent}/".startswith(f"{node['id']}/")
            if not above and same_paths(subtasks[at].get("owned_paths"), node.get("owned_paths")):
                raise Refused(
                    f"subtask {at} overlaps with `{node['id']}`, which is not done and owns the "
                    "same paths"
                )


def _check_budgets(subtasks: tuple[dict[str, Value], ...], left: dict[str, float]) -> None:
    for name in CAPS:
        caps = _caps(subtasks, name)
        if caps and name in left and sum(caps) > left[name]:
            raise Refused(
                f"too large budgets: the caps of {name} add up to {_shown(sum(caps))}, and "
                f"{_shown(max(left[name], 0))} are left"
            )


def _caps(subtasks: tuple[dict[str, Value], ...], name: str) -> list[float]:
    return [each["budget_cap"][name] for each in subtasks if name in each.get("budget_cap", ())]


def _shown(value: float) -> str:
    return number(int(value) if value == int(value) else round(value, 6))


def _parent(around: Standing) -> str:
    """The node that is taken apart, or the conversation in it, or what a program does itself."""
    if not around.nodes:
        return around.tasks[-1] if around.tasks else "plan"
    node = around.nodes[-1]
    inside = around.tasks[node.conversations + 1 :]
    return "/".join((node.id, *inside))


def _seconds(plan: dict[str, Value], around: Standing) -> float:
    """The budget of the parent in seconds: its cap, else its task's timeout, else the default; no
    more than the shortest deadline around."""
    own = around.nodes[-1].seconds if around.nodes else SECONDS
    task = plan.get("seconds")
    if isinstance(task, (int, float)):
        own = min(own, task) if around.nodes else task
    return own if around.seconds is None else min(own, around.seconds)


def _count(value: Value) -> float:
    fits = isinstance(value, (int, float)) and not isinstance(value, bool)
    return value if fits and value > 0 else 0
