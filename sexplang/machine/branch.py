"""A branch of the weave: where it stands, and what it waits for."""

from typing import Any

from immutables import Map

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
    with when none is alive.
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


@node(eq=False)
class Ready:
    """Goes on with this step."""

    step: Step


State = Waiting | Forked | Ready


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
    count: int = 0
    """How many requests are open, timers too."""


def identity(path: Path, ordinal: int) -> str:
    """A request's id: the path and the ordinal, joined by dots."""
    return ".".join(map(str, (*path, ordinal)))


def path_of(identity: str) -> Path:
    """The path of the branch that made the request. Raises ValueError."""
    return tuple([int(part) for part in identity.split(".")][:-1])


def order(identity: str) -> Path:
    """What identities are sorted by."""
    return tuple([int(part) for part in identity.split(".")])
