"""The graph of a plan's subtasks: dependencies, circles, equal work and common paths.

`after` holds the indexes of the predecessors of each subtask. Two subtasks with common paths follow
each other.
"""

from typing import TypeAlias
from unicodedata import normalize

from sexplang.tasks.plans.fields import index, letters, names_of
from sexplang.terms.values.value import Value

After: TypeAlias = list[set[int]]


class PlanRefused(Exception):
    """The reasons against a plan, for its proposer."""


def refuse(reasons: list[str]) -> None:
    """Raise PlanRefused if there are reasons."""
    if reasons:
        raise PlanRefused("; ".join(reasons))


def dependencies(subtasks: tuple[dict[str, Value], ...]) -> tuple[After, list[str]]:
    """Return the dependencies as indexes, and their problems."""
    last = len(subtasks) - 1
    after: After = []
    wrong: list[str] = []
    names = names_of(subtasks)
    for at, subtask in enumerate(subtasks):
        found = set()
        for word in subtask.get("depends_on_subtasks") or ():
            before = index(word)
            if before is None or before > last:
                several = ", but a name of several" if len(names.get(letters(word), ())) > 1 else ""
                wrong.append(
                    f"subtask {at} depends on `{word}`, which is no index from 0 to {last}{several}"
                )
            else:
                found.add(before)
        after.append(found)
    circle = _circle(after)
    if circle:
        way = " -> ".join(map(str, circle))
        wrong.append(f"the subtasks depend on each other in a circle: {way}")
    return after, wrong


def _circle(after: After) -> list[int]:
    """Return a path from a subtask to itself. Empty if there is none."""
    done: set[int] = set()
    for start in range(len(after)):
        way: list[int] = []
        work = [(start, False)]
        while work:
            at, is_left = work.pop()
            if is_left:
                done.add(way.pop())
            elif at in way:
                return [*way[way.index(at) :], at]
            elif at not in done:
                way.append(at)
                work.append((at, True))
                work.extend((each, False) for each in sorted(after[at], reverse=True))
    return []


def reaches(after: After, later: int, earlier: int) -> bool:
    """Return whether a subtask comes after another, directly or not."""
    seen: set[int] = set()
    work = [later]
    while work:
        at = work.pop()
        if at in seen:
            continue
        seen.add(at)
        if earlier in after[at]:
            return True
        work.extend(after[at])
    return False


def order_overlaps(subtasks: tuple[dict[str, Value], ...], after: After) -> list[tuple[int, int]]:
    """Order subtasks that could run at the same time and own the same paths: the one named first
    comes first. Return the added pairs, the later one first."""
    added = []
    for later, subtask in enumerate(subtasks):
        for earlier in range(later):
            if (
                same_paths(subtask.get("owned_paths"), subtasks[earlier].get("owned_paths"))
                and not reaches(after, later, earlier)
                and not reaches(after, earlier, later)
            ):
                after[later].add(earlier)
                added.append((later, earlier))
    return added


def levels(after: After) -> list[int]:
    """Return the length of the longest chain of predecessors of each subtask."""
    found: list[int] = [0] * len(after)
    for _ in after:
        found = [max([1 + found[each] for each in before], default=0) for before in after]
    return found


def steps(after: After) -> set[int]:
    """Return the subtasks that are a step of every path through the plan: each has a successor, and
    every other subtask comes before or after it."""
    every = range(len(after))
    return {
        at
        for at in every
        if any(at in before for before in after)
        and all(
            at == each or reaches(after, at, each) or reaches(after, each, at) for each in every
        )
    }


def same_paths(one: Value, other: Value) -> bool:
    """Return whether one list of paths names something that the other holds, in any case and any
    encoding of accents."""
    return any(
        _holds(left, right) or _holds(right, left)
        for left in map(_parts, one or ())
        for right in map(_parts, other or ())
    )


def _parts(path: str) -> tuple[str, ...]:
    spelled = normalize("NFC", normalize("NFC", path).casefold())
    return tuple([part for part in spelled.split("/") if part not in ("", ".")])


def _holds(above: tuple[str, ...], below: tuple[str, ...]) -> bool:
    return below[: len(above)] == above
