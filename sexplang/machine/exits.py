"""Ways out of the loop: what somebody outside decides before it goes on."""

from typing import Any

from sexplang.machine.stack import Exit, Frame, Run, Segment, Step
from sexplang.terms.effect import Request
from sexplang.terms.node import node
from sexplang.terms.value import Record, Value


class Asked(Exit):
    """A request that nobody in the program answers."""

    def __init__(
        self, operation: str, arguments: tuple[Value, ...], k: Frame, s: Segment, span: Any
    ) -> None:
        self.operation = operation
        self.arguments = arguments
        self.k = k
        self.s = s
        self.span = span

    def request(self, id: str) -> Request:
        return Request(id, self.operation, self.arguments, self.s[3].plain(), self.span)


class Forked(Exit):
    """Branches to start, each `(fn, a)`; the list of their values goes to `k`.

    At most `limit` of them run at a time. In a race the first value that is not `Lost` goes to
    `k` instead.
    """

    def __init__(
        self,
        starts: tuple[tuple[Any, Any], ...],
        k: Frame,
        s: Segment,
        limit: int | None = None,
        race: bool = False,
    ) -> None:
        self.starts = starts
        self.k = k
        self.s = s
        self.limit = len(starts) if limit is None else limit
        self.race = race


@node(eq=False)
class Lost:
    """What a branch of a race ends with that failed."""

    error: Record


class Entered(Exit):
    """A scope to open: a deadline or a budget, then `body` in `env`."""

    def __init__(
        self, settings: dict[str, Value], body: Run, env: Any, k: Frame, s: Segment, span: Any
    ) -> None:
        self.settings = settings
        self.body = body
        self.env = env
        self.k = k
        self.s = s
        self.span = span


class Spawned(Exit):
    """A conversation is to begin on behalf of another one: goes on with `step` if it may."""

    def __init__(self, step: Any, k: Frame, s: Segment) -> None:
        self.step = step
        self.k = k
        self.s = s


class Aborted(Exit):
    """A handle expression of another branch, `level` levels deep in the tree, is ended.

    `node` is its segment there; `then` what its end is (see `control.finish`). `k` and `s` are
    those of the branch that says so.
    """

    def __init__(self, level: int, node: Segment, then: Any, k: Frame, s: Segment) -> None:
        self.level = level
        self.node = node
        self.then = then
        self.k = k
        self.s = s


class Uncaught(Exit):
    """An error that no handler takes."""

    def __init__(self, error: Record, k: Frame, s: Segment) -> None:
        self.error = error
        self.k = k
        self.s = s


class Interrupted(Exit):
    """The loop was left in the midst of a step, from outside; `step` is to be taken again."""

    def __init__(self, step: Step) -> None:
        self.step = step


class Broken(Exit):
    """A limit of the interpreter: nothing catches it and no `finally` runs."""

    def __init__(self, error: Record) -> None:
        self.error = error
