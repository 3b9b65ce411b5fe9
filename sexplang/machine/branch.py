"""A branch of the weave: where it stands, and what it waits for."""

from typing import Any

from attrs import frozen
from immutables import Map

from sexplang.machine.stack import Frame, Segment, Step
from sexplang.terms.effect import Request
from sexplang.terms.value import Value

Path = tuple[int, ...]
"""The place of a branch: fork, branch, fork, branch … from the root, `()`. A fork is named by
its ordinal in the branch that forked."""


@frozen(eq=False)
class Waiting:
    """Asked the host; the reply goes to `k`."""

    request: Request
    k: Frame
    s: Segment


@frozen(eq=False)
class Forked:
    """Waits for its branches. Their values, by index, go to `k`.

    With `cut` the branches are being cancelled instead, and the segments from `s` down to the
    cut's node are left once the last has ended.
    """

    fork: int
    width: int
    values: Map[int, Value]
    k: Frame
    s: Segment
    cut: "Cut | None" = None


@frozen(eq=False)
class Cut:
    """What ends a fork early: `node` is the handle expression to end (None: the whole branch),
    `then` what its end is."""

    node: Segment
    then: Any


@frozen(eq=False)
class Ready:
    """Goes on with this step."""

    step: Step


State = Waiting | Forked | Ready


@frozen(eq=False)
class Branch:
    """One branch. `ordinal` numbers its requests and forks, for ever upward.

    `leaving` is set while it is cancelled, or while the root fails: what leaves it otherwise
    stops here.
    """

    path: Path
    ordinal: int
    state: State
    leaving: bool = False


def identity(path: Path, ordinal: int) -> str:
    """A request's id: the path and the ordinal, joined by dots."""
    return ".".join(map(str, (*path, ordinal)))


def path_of(identity: str) -> Path:
    """The path of the branch that made the request. Raises ValueError."""
    return tuple([int(part) for part in identity.split(".")][:-1])
