"""The branches of a run: their states, and the table that holds them."""

import re
from collections.abc import Iterable
from typing import Any, TypeAlias, TypeGuard

from immutables import Map

from sexplang.machine import exits
from sexplang.machine.scopes.budgets import Accounts, Held, Learned, Scope
from sexplang.machine.stack import Frame, Segment, Step
from sexplang.machine.unwind import NOTHING, Unwinding
from sexplang.terms.classes.node import node
from sexplang.terms.effect import Request
from sexplang.terms.values.value import Record, Value

Path = tuple[int, ...]
"""The place of a branch: fork, branch, fork, branch … from the root, `()`. A fork is named by its
ordinal in the branch that forked."""


@node(eq=False)
class Branch:
    """A branch: one of the four below.

    `ordinal` numbers its requests and forks and only grows. `leaving` is set while it is cancelled,
    or while the root fails: any other way out of the branch stops here.
    """

    path: Path
    ordinal: int
    leaving: bool


@node(eq=False)
class Waiting(Branch):
    """A branch that has asked the host; the reply goes to `k`."""

    request: Request
    k: Frame
    s: Segment
    held: Held | None = None


@node(eq=False)
class Forked(Branch):
    """A branch that waits for its own branches. Their values, by index, go to `k`.

    `alive` counts the branches that have started and not ended; the next to start is the first of
    `starts`. With `cut`, the branches are being cancelled, and `cut` is the step to go on with when
    none is alive. With `after` they are nodes of a graph: the indexes of the predecessors of each.
    """

    fork: int
    width: int
    values: Map[int, Value]
    k: Frame
    s: Segment
    starts: tuple[tuple[Any, Any], ...]
    alive: int
    race: bool
    cut: Step | None = None
    after: tuple[tuple[int, ...], ...] | None = None

    def with_values(self, values: Map[int, Value], more: int) -> "Forked":
        """Return the fork with these values, and `more` further branches that run."""
        return Forked(
            self.path,
            self.ordinal,
            self.leaving,
            self.fork,
            self.width,
            values,
            self.k,
            self.s,
            self.starts,
            self.alive + more,
            self.race,
            self.cut,
            self.after,
        )


@node(eq=False)
class Ready(Branch):
    """A branch that goes on with this step."""

    step: Step

    @property
    def k(self) -> Frame:
        """The frames that the step goes on with."""
        k: Frame = self.step[2]
        return k

    @property
    def s(self) -> Segment:
        """The segments."""
        return self.step[3]


@node(eq=False)
class Queued(Branch):
    """A branch that goes on with this step when its job has a permit, or when it can have the
    shared value of `key`."""

    step: Step
    key: "SharedKey | None" = None

    @property
    def k(self) -> Frame:
        """The frames that the step goes on with."""
        k: Frame = self.step[2]
        return k

    @property
    def s(self) -> Segment:
        """The segments."""
        return self.step[3]


Job: TypeAlias = tuple[str, ...]
"""A job: its identity after those of the jobs around it."""

Line: TypeAlias = tuple[Any, Any]
"""A queue, first come first served: linked pairs from the front, and from the back."""


@node(eq=False)
class Permits:
    """The jobs that have a permit, and those that wait for one."""

    active: Map[Job, tuple[int, int]] = Map()
    """The number of branches that wait for the host directly in the job, and of its active
    children."""
    used: int = 0
    """The number of active jobs without active children."""
    queued: Map[Job, tuple[Any, ...]] = Map()
    """The branches, by path, that wait for the job's permit."""
    line: Line = (None, None)
    lines: Map[Job, Line] = Map()
    """The waiting children, by the holder of the permit that they can have."""


SharedKey: TypeAlias = tuple[Any, str]
"""The key of a shared value: that of the program from a model that it is used in, or (), and a
text."""


@node(eq=False)
class Claim:
    """The branch that computes a shared value, and those that wait for it, by path."""

    holder: Path
    waiters: tuple[Path, ...] = ()


@node(eq=False)
class Shares:
    """The shared values of a run that are known, and those that are computed."""

    values: Map[SharedKey, Value] = Map()
    claims: Map[SharedKey, Claim] = Map()


@node(eq=False)
class Times:
    """The deadlines and budgets of a run."""

    accounts: Accounts = Map()
    waiting: Map[str, int] = Map()
    """The number of branches that wait under each deadline."""
    timers: Map[str, Scope] = Map()
    """The deadlines that are counted down."""
    learned: Learned = Map()
    """The corrections of estimates that replies have taught."""


@node(eq=False)
class SchedulerState:
    """The state of a run between two deliveries."""

    branches: Map[Path, Branch] = Map()
    times: Times = Times()
    failing: Record | None = None
    """The error that ends the run, once the root has left its scopes."""
    steps: int = 0
    requested: int = 0
    """The requests for subtasks so far, however they were answered."""
    called: int = 0
    """The model calls that were asked of the host."""
    planned: int = 0
    """The nodes of all accepted plans."""
    begun: int = 0
    """The pieces of work begun, in a traced run."""
    count: int = 0
    """The number of open requests, timers included."""
    permits: Permits = Permits()
    shares: Shares = Shares()


class BranchTable:
    """The branches of one delivery: as it found them, and the current ones."""

    __slots__ = ("before", "branches", "ready")

    def __init__(self, before: Map[Path, Branch]) -> None:
        self.before = before
        self.branches = before.mutate()
        self.ready: list[Path] = []
        """The branches that go on, the next one last."""

    def schedule(self, branch: Branch, step: Step) -> None:
        """Let the branch go on with `step`, before all that became ready earlier."""
        path = branch.path
        self.branches[path] = Ready(path, branch.ordinal, branch.leaving, step)
        self.ready.append(path)

    def begin(self, steps: Iterable[tuple[Path, Step]]) -> None:
        """Begin branches, each before all that became ready earlier."""
        for path, step in steps:
            self.branches[path] = Ready(path, 0, False, step)
            self.ready.append(path)

    def snapshot(self) -> Map[Path, Branch]:
        """Return the branches as they are now, in the midst of a delivery."""
        now = self.branches.finish()
        self.branches = now.mutate()
        return now


def make_fork(branch: Branch, left: exits.Fork) -> Forked:
    """Return the branch as a fork: it takes an ordinal and has begun no branch yet."""
    return Forked(
        branch.path,
        branch.ordinal + 1,
        branch.leaving,
        fork=branch.ordinal,
        width=len(left.starts),
        values=Map(),
        k=left.k,
        s=left.s,
        starts=left.starts,
        alive=0,
        race=left.race,
        after=left.after,
    )


def registers_of(branch: Branch) -> tuple[Frame, Segment]:
    """Return the registers of a branch, or those it will have when its own branches are
    cancelled."""
    if isinstance(branch, (Ready, Queued)):
        return branch.step[2], branch.step[3]
    if isinstance(branch, Forked) and branch.cut is not None:
        return branch.cut[2], branch.cut[3]
    assert isinstance(branch, (Waiting, Forked))
    return branch.k, branch.s


def refusals_of(branch: Branch) -> Unwinding:
    """Return the refusals of money that an unwinding branch has met."""
    step = branch.step if isinstance(branch, Ready) else getattr(branch, "cut", None)
    return step[1] if step is not None and isinstance(step[1], Unwinding) else NOTHING


def child_paths(branch: Forked) -> list[Path]:
    """Return the paths of a fork's branches, last first."""
    return [(*branch.path, branch.fork, index) for index in range(branch.width - 1, -1, -1)]


def request_id(path: Path, ordinal: int) -> str:
    """Return a request's id: the path and the ordinal, joined by dots."""
    if not path:
        return str(ordinal)
    if len(path) > _DEEP:
        return f"{_join(path)}.{ordinal}"
    return ".".join(map(str, (*path, ordinal)))


_DEEP = 64
_joins: dict[Path, str] = {}
"""The last few deep paths and their joined texts."""


def _join(path: Path) -> str:
    """Return a deep path joined by dots. The text of a branch around it is reused: a request at
    every level of two thousand would otherwise join millions of numbers."""
    around = path[:-2]
    words = _joins.get(around)
    if words is None:
        further = _joins.get(around[:-2])
        words = f"{further}.{around[-2]}.{around[-1]}" if further else ".".join(map(str, around))
        if len(_joins) >= 16:
            _joins.clear()
        _joins[around] = words
    return f"{words}.{path[-2]}.{path[-1]}"


def branch_id(path: Path) -> str:
    """Return the id of the work that a branch is."""
    return f"b{request_id(path[:-1], path[-1])}"


def path_of(identity: str) -> Path:
    """Return the path of the branch that made the request. Raises ValueError."""
    around, dot, _ = identity.rpartition(".")
    return tuple(map(int, around.split("."))) if dot else ()


def sort_key(identity: str) -> str:
    """Return the sort key of an identity, which sorts number by number. Each long number begins
    with a letter for its length. To read the numbers of deep identities would take a thousand times
    as long."""
    return re.sub(_LONG_NUMBER, lambda found: f"{chr(64 + len(found[0]))}{found[0]}", identity)


_LONG_NUMBER = "[0-9]{2,}"


def is_graph(branch: Branch) -> TypeGuard[Forked]:
    """Return whether a branch waits for the nodes of a graph."""
    return isinstance(branch, Forked) and branch.after is not None and branch.cut is None
