"""The judgement of a proposal: the plan as it will be worked on, or the reasons against it.

Law: the whole proposal is judged before anything changes, and the judgement changes nothing. The
order is that of the documents: form, count, depth, nodes, spam; then dependencies, overlap,
budgets, and whether each subtask fits its task. All reasons are told at once, so that one better
proposal is enough.
"""

import re
from collections.abc import Callable, Iterator
from math import floor
from typing import TypeAlias

from sexplang.tasks.plans.fields import CAPS
from sexplang.tasks.plans.graph import (
    After,
    PlanRefused,
    dependencies,
    levels,
    order_overlaps,
    reaches,
    refuse,
    same_paths,
    steps,
)
from sexplang.tasks.plans.proposal import proposal
from sexplang.tasks.requests.subtask_request import fields_of
from sexplang.terms.classes.node import evolve
from sexplang.terms.json.json_writer import json_text
from sexplang.terms.plan import Judgement, PlanLimits, Standing
from sexplang.terms.quota import GREATEST
from sexplang.terms.values.sums import add_up
from sexplang.terms.values.text import number
from sexplang.terms.values.value import Value

Foreseen: TypeAlias = tuple[str, str]
"""The reason why a node would fail before its first request, and the note about its task."""

Foresee: TypeAlias = Callable[[dict[str, Value], Value, Standing], Foreseen]

LEAST_SHARE = 1
"""The least seconds of a subtask without a cap."""

_SIMPLER = "propose something simpler, or do the task yourself"


def judge(foresee: Foresee, plan: Value, lower: Value, around: Standing) -> Judgement:
    """Return the judgement of a plan. `lower` is a table of lower limits, or nil. `foresee` is a
    function of a node, its `max_depth`, and the standing. Raises nothing."""
    read = proposal(plan, trusted=True)
    if read.problems:
        return Judgement(None, f"a malformed subplan: {read.complaint()}")
    limits = around.limits
    above = {"depth": around.nodes[-1].plan_depth} if around.nodes else None
    for low in (lower, read.fields.get("limits"), above):
        limits = _lower_limits(limits, low)
    around = evolve(around, limits=limits)
    try:
        return Judgement(_judge_plan(foresee, read.fields, around, read.warnings))
    except PlanRefused as refused:
        return Judgement(None, f"{refused}; {_SIMPLER}")


def _lower_limits(limits: PlanLimits, given: Value) -> PlanLimits:
    """Return the limits, lowered by a table."""
    fields = fields_of(given) or {}
    low = {}
    for name in ("subtasks", "depth", "nodes", "decompositions"):
        most, wanted = getattr(limits, name), fields.get(name)
        low[name] = min(most, wanted) if type(wanted) is int and wanted >= 0 else most
    return evolve(limits, **low)


def _judge_plan(
    foresee: Foresee, plan: dict[str, Value], around: Standing, warnings: tuple[str, ...]
) -> dict[str, Value]:
    subtasks = plan["subtasks"]
    depth = len(around.nodes) + 1
    refuse([*_unfit_size(around, len(subtasks), depth), *_spam(around.limits, plan)])
    parent = _parent(around)
    seconds = _seconds(plan, around)
    first = int(_count(plan.get("first")))
    nodes = [
        _node(subtask, f"{parent}/sub-{first + at}", depth, around.limits.depth)
        for at, subtask in enumerate(subtasks)
    ]
    foreseen = [foresee(node, plan.get("max_depth"), around) for node in nodes]
    unfit = [f"subtask {at}: {why}" for at, (why, _) in enumerate(foreseen) if why]
    after, unordered = dependencies(subtasks)
    refuse([*unordered, *unfit] if unordered else [])
    kept, merged = _merge_duplicates(subtasks, after)
    own = tuple([subtasks[at] for at in kept])
    order = [{kept.index(each) for each in after[at]} for at in kept]
    added = order_overlaps(own, order)
    needed, depths = steps(order), levels(order)
    left = {"seconds": seconds - _count(plan.get("granted")), **dict(around.left)}
    share = _share(own, left["seconds"], around.limits.seconds)
    short = _too_large(own, left) or _too_little(own, left["seconds"], share)
    refuse([*_overlaps(subtasks, kept, parent, around), *short, *unfit])
    capped = [each.get("budget_cap", {}).get("seconds", share) for each in own]
    ids = [nodes[at]["id"] for at in kept]
    notes = [f"subtask {at}: {said}" for at, (_, said) in enumerate(foreseen) if said]
    notes += [
        f"subtask {later} does what subtask {at} does; it is done once" for later, at in merged
    ]
    notes += [f"`{ids[one]}` waits for `{ids[at]}`: they own the same paths" for one, at in added]
    return {
        "parent": parent,
        "depth": depth,
        "seconds": seconds,
        "factor": around.limits.factor,
        "child_depth": plan.get("depth"),
        "max_depth": plan.get("max_depth"),
        "granted": add_up(capped),
        "reason": plan["reason"],
        "stop_when": plan["stop_when"],
        "warnings": (*warnings, *notes),
        "subtasks": tuple(
            [
                {
                    **nodes[at],
                    "seconds": capped[one],
                    "after": tuple([ids[each] for each in sorted(order[one])]),
                    "step": one in needed,
                    "level": depths[one],
                }
                for one, at in enumerate(kept)
            ]
        ),
        "after": tuple([tuple(sorted(before)) for before in order]),
    }


def _node(subtask: dict[str, Value], id: str, depth: int, plan_depth: int) -> dict[str, Value]:
    cap = subtask.get("budget_cap") or {}
    return {
        "id": id,
        "depth": depth,
        "plan_depth": plan_depth,
        "description": subtask["description"],
        "name": subtask.get("name"),
        "inputs": subtask.get("inputs") or {},
        "required_capabilities": subtask.get("required_capabilities") or (),
        "template_hints": subtask.get("template_hints") or (),
        "file_paths": subtask.get("file_paths"),
        "owned_paths": subtask.get("owned_paths") or (),
        "budget": {name: cap[name] for name in CAPS[1:] if name in cap},
        "outputs": subtask.get("expected_output_types") or (),
        "files": subtask.get("expected_files") or (),
        "allow_no_op": subtask.get("allow_no_op_completion") or False,
    }


def _unfit_size(around: Standing, count: int, depth: int) -> Iterator[str]:
    limits, planned = around.limits, around.planned
    if count == 0:
        yield "the plan has no subtasks, and needs at least 1"
    if count > limits.subtasks:
        yield f"too many subtasks: {count} are proposed, and the limit is {limits.subtasks}"
    if depth > limits.depth:
        yield f"too deep: the subtasks would be at depth {depth}, and the limit is {limits.depth}"
    if planned + count > limits.nodes:
        yield (
            f"too many nodes: this run has planned {planned}, {count} more are proposed, and the "
            f"limit is {limits.nodes}"
        )


def _spam(limits: PlanLimits, plan: dict[str, Value]) -> Iterator[str]:
    which = int(_count(plan.get("decomposition"))) or 1
    if which > limits.decompositions:
        yield (
            f"too many decompositions: {which - 1} were accepted in this conversation, and the "
            f"limit is {limits.decompositions}"
        )
    elif which > 1 and not _count(plan.get("progress")):
        yield (
            f"decomposition {which} of this conversation needs partial progress: deliver at least "
            "1 new artifact with it"
        )


def _merge_duplicates(
    subtasks: tuple[dict[str, Value], ...], after: After
) -> tuple[list[int], list[tuple[int, int]]]:
    """Return the subtasks that are kept, and each duplicate with the subtask that it repeats. The
    successors of a duplicate follow the original. Changes `after`. Raises PlanRefused."""
    kept: list[int] = []
    merged = []
    for at, subtask in enumerate(subtasks):
        first = next((each for each in kept if same(subtasks[each], subtask)), None)
        if first is None:
            kept.append(at)
            continue
        if reaches(after, at, first) or reaches(after, first, at):
            raise PlanRefused(
                f"subtask {at} repeats subtask {first}, and one comes after the other"
            )
        merged.append((at, first))
        after[first] |= after[at]
        for before in after:
            if at in before:
                before.remove(at)
                before.add(first)
    return kept, merged


def _overlaps(
    subtasks: tuple[dict[str, Value], ...], kept: list[int], parent: str, around: Standing
) -> Iterator[str]:
    nodes = [node for node in map(fields_of, around.frontier) if node is not None]
    for at in kept:
        own = subtasks[at]
        for node in nodes:
            above = f"{parent}/".startswith(f"{node['id']}/")
            if alike(own, node):
                yield (
                    f"subtask {at} overlaps with `{node['id']}`, which is not done and is to do "
                    f"the same: {node['description']}"
                )
            elif not above and same_paths(own.get("owned_paths"), node.get("owned_paths")):
                yield (
                    f"subtask {at} overlaps with `{node['id']}`, which is not done and owns the "
                    "same paths"
                )


def _too_large(subtasks: tuple[dict[str, Value], ...], left: dict[str, float]) -> list[str]:
    return [
        f"too large budgets: the caps of {name} add up to {_seconds_text(add_up(caps))}, and "
        f"{_seconds_text(max(left[name], 0))} are left"
        for name, caps in [(name, _caps(subtasks, name)) for name in CAPS]
        if caps and name in left and add_up(caps) > left[name]
    ]


def _share(subtasks: tuple[dict[str, Value], ...], left: float, most: float) -> float:
    """Return the seconds of each subtask without a cap: equal parts of the rest, in whole
    thousandths, at most `most`."""
    caps = _caps(subtasks, "seconds")
    count = len(subtasks) - len(caps)
    share = min(most, (left - add_up(caps)) / count) if count else most
    part = floor(share * 1000) / 1000
    return int(part) if part == int(part) else part


def _too_little(subtasks: tuple[dict[str, Value], ...], left: float, share: float) -> list[str]:
    caps = _caps(subtasks, "seconds")
    count = len(subtasks) - len(caps)
    if count == 0 or share >= LEAST_SHARE:
        return []
    return [
        f"too little time: {_seconds_text(max(left, 0))} seconds are left, the caps take "
        f"{_seconds_text(add_up(caps))} of them, and {count} without a cap would have "
        f"{_seconds_text(max(share, 0))} each, less than {LEAST_SHARE}"
    ]


def _caps(subtasks: tuple[dict[str, Value], ...], name: str) -> list[float]:
    return [each["budget_cap"][name] for each in subtasks if name in each.get("budget_cap", ())]


def _seconds_text(value: float) -> str:
    if value > GREATEST:
        return "more than can be counted"
    if value >= 1e15:
        return f"{value:g}"
    return number(int(value)) if value == int(value) else f"{value:.15g}"


def _parent(around: Standing) -> str:
    """Return the id of the node that is decomposed, or of the conversation in it, or "plan" for a
    program's own plan."""
    names = [conversation.name for conversation in around.conversations]
    if not around.nodes:
        return names[-1] if names else "plan"
    node = around.nodes[-1]
    inside = names[node.conversations + 1 :]
    return "/".join((node.id, *inside))


def _seconds(plan: dict[str, Value], around: Standing) -> float:
    """Return the parent's budget in seconds: its cap, else its task's timeout, else the default, at
    most the shortest deadline around."""
    own = around.nodes[-1].seconds if around.nodes else around.limits.seconds
    task = plan.get("seconds")
    if isinstance(task, (int, float)):
        own = min(own, task) if around.nodes else task
    return own if around.seconds is None else min(own, around.seconds)


def _count(value: Value) -> float:
    fits = isinstance(value, (int, float)) and not isinstance(value, bool)
    return value if fits and value > 0 else 0


# -- Duplicates ----------------------------------------------------------------------------------

ALIKE = 0.8
"""The least share of the longer description's words that the shorter one has."""

_WORD = re.compile(r"\w+|[^\w\s.,;:!?'\"()\[\]-]+")
"""A word, or signs with a meaning: `C++` is not `C#`, and `x < 3` is not `x > 3`."""

_EXPECTED = ("expected_output_types", "expected_files", "file_paths")


def alike(one: dict[str, Value], other: dict[str, Value]) -> bool:
    """Return whether two subtasks do the same: equal capabilities and inputs, and one description
    has the other's words in the same order and at most one more. Descriptions that each have a word
    of their own (`Rome`, `Oslo`) differ."""
    if _capabilities(one) != _capabilities(other) or _inputs(one) != _inputs(other):
        return False
    if one.get("name") and other.get("name") and one["name"] != other["name"]:
        return False
    short, long = sorted([_words_of(one), _words_of(other)], key=len)
    if not short or len(long) - len(short) > 1 or len(short) < ALIKE * len(long):
        return False
    rest = iter(long)
    return all(word in rest for word in short)


def same(one: dict[str, Value], other: dict[str, Value]) -> bool:
    """Return whether two subtasks of a plan are one: they do the same, and the same is expected."""
    return alike(one, other) and all(
        (one.get(field) or ()) == (other.get(field) or ()) for field in _EXPECTED
    )


def _words_of(subtask: dict[str, Value]) -> list[str]:
    text = subtask.get("description")
    return _WORD.findall(text.casefold()) if isinstance(text, str) else []


def _capabilities(subtask: dict[str, Value]) -> frozenset[str]:
    listed = subtask.get("required_capabilities") or ()
    return frozenset([word.casefold() for word in listed])


def _inputs(subtask: dict[str, Value]) -> str:
    return json_text(subtask.get("inputs") or {}, canonical=True)
