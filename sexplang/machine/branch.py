"""A branch of the weave: where it stands, and what it waits for."""

from typing import Any

from immutables import Map

from sexplang.machine.budgets import Learned
from sexplang.machine.places import Places
from sexplang.machine.scopes import Accounts, Held, Scope
from sexplang.machine.stack import Frame, Segment, Step
from sexplang.terms.effect import Request
from sexplang.terms.node import node
from sexplang.terms.value import Record, Value

Path = tuple[int, ...]
"""The place of a branch: fork, branch, fork, branch … from the root, `()`. A fork is named by
its ordinal in the branch that forked."""


@node(eq=False)
class Waiting:
    """Asked the host; the reply goes to `k`."""

    request: Request
    k: Frame
    s: Segment
    held: Held | None = None


@node(eq=False)
class Forked:
    """Waits for its branches. Their values, by index, go to `k`.

    `alive` counts those that have started and not ended; the next to start is the first of
    `starts`. With `cut` the branches are being cancelled instead, and that is the step to go on
    with when none is alive. With `after` they are nodes of a graph, by the indexes of those that
    each comes after.
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

    def counted(self, values: Map[int, Value], more: int) -> "Forked":
        """With these values, and so many more branches that run."""
        alive, starts, cut = self.alive + more, self.starts, self.cut
        made = (self.fork, self.width, values, self.k, self.s, starts, alive, self.race, cut)
        return Forked(*made, self.after)


@node(eq=False)
class Ready:
    """Goes on with this step."""

    step: Step


@node(eq=False)
class Queued:
    """Goes on with this step as soon as the job that it is a part of has a place."""

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


State = Waiting | Forked | Ready | Queued


@node(eq=False)
class Branch:
    """One branch. `ordinal` numbers its requests and forks, for ever upward.

    `leaving` is set while it is cancelled, or while the root fails: what leaves it otherwise
    stops here.
    """

    path: Path
    ordinal: int
    state: State
    leaving: bool = False


@node(eq=False)
class Weave:
    """The state of a run between two deliveries."""

    branches: Map[Path, Branch] = Map()
    accounts: Accounts = Map()
    waiting: Map[str, int] = Map()
    """How many branches wait under a deadline."""
    timers: Map[str, Scope] = Map()
    """The deadlines that are counted down."""
    failing: Record | None = None
    """The error that ends the run, once the root has left its scopes."""
    steps: int = 0
    spawned: int = 0
    """Conversations begun on behalf of another one."""
    planned: int = 0
    """Nodes of all plans that were accepted."""
    begun: int = 0
    """Pieces of work begun, in a run that is traced."""
    count: int = 0
    """How many requests are open, timers too."""
    places: Places = Places()
    learned: Learned = Map()
    """What replies have said about the estimates of their requests."""


def identity(path: Path, ordinal: int) -> str:
    """A request's id: the path and the ordinal, joined by dots."""
    return ".".join(map(str, (*path, ordinal))) if path else str(ordinal)


def branch_id(path: Path) -> str:
    """The id of the work that a branch is."""
    return f"b{identity(path[:-1], path[-1])}"


def path_of(identity: str) -> Path:
    """The path of the branch that made the request. Raises ValueError."""
    path, _, _ = identity.rpartition(".")
    return tuple(map(int, path.split("."))) if path else ()


def order(identity: str) -> Path:
    """What identities are sorted by."""
    return tuple([int(part) for part in identity.split(".")])
