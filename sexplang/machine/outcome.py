"""A program to its outcome: done, failed, or suspended with all its open requests."""

from functools import cached_property
from typing import TypeAlias

from attrs import define, field, frozen
from immutables import Map

from sexplang.machine.branch import Branch, Path, Ready, Waiting, path_of
from sexplang.machine.control import fail
from sexplang.machine.link import link
from sexplang.machine.loop import Limits
from sexplang.machine.stack import BASE, BOTTOM, Ctx
from sexplang.machine.weave import Turn
from sexplang.terms.effect import Request
from sexplang.terms.program import Program
from sexplang.terms.task import TaskSystem, error_record
from sexplang.terms.text import value_of
from sexplang.terms.value import Record, Value


@frozen
class Done:
    """The program has its value."""

    value: Value
    withdrawn: tuple[str, ...] = ()


@frozen(eq=False, str=False)
class Failed(Exception):
    """The program ended with an error record that nothing took. `run` raises it."""

    error: Record
    withdrawn: tuple[str, ...] = ()

    def __str__(self) -> str:
        fields = self.error.fields
        return f"{fields['type']} {fields['reason']}: {fields['message']}"


@define(eq=False)
class Suspended:
    """The program waits. Immutable: resuming the same one twice is two runs.

    `opened` are the requests that the last delivery made, `withdrawn` the ids of those that it
    took back; `requests` are all that are open.
    """

    _branches: Map[Path, Branch]
    _failing: Record | None
    _used: int
    _limits: Limits
    opened: tuple[Request, ...]
    withdrawn: tuple[str, ...]
    count: int = field(default=0)
    """How many requests are open."""

    @cached_property
    def requests(self) -> tuple[Request, ...]:
        """All open requests of all branches, in the order of their branches."""
        waiting = [
            (path, branch.state.request)
            for path, branch in self._branches.items()
            if isinstance(branch.state, Waiting)
        ]
        return tuple([request for _, request in sorted(waiting, key=lambda pair: pair[0])])

    def resume(self, id: str, value: Value) -> "Outcome":
        """Delivers a reply (plain data or values). Raises LookupError if `id` is not open."""
        branch, state = self._waiting(id)
        return self._deliver(branch, (state.k[0], value_of(value), state.k, state.s))

    def fail(self, id: str, error: Record) -> "Outcome":
        """The request fails: raises `error` where it was made, resumably."""
        branch, state = self._waiting(id)
        return self._deliver(branch, (_fail, error, state.k, state.s))

    def cancel(self, error: Record | None = None) -> "Outcome":
        """Abandons everything: `finally` bodies run, then the program fails with `error`, by
        default TASK_FAILURE, reason `cancelled`. Nothing in the program can catch it."""
        turn = self._turn()
        turn.cancel(error or error_record("TASK_FAILURE", "cancelled", "the run was cancelled"))
        return _settled(turn, self._limits, 0)

    def _waiting(self, id: str) -> tuple[Branch, Waiting]:
        try:
            branch = self._branches[path_of(id)]
        except (KeyError, ValueError):
            raise LookupError(f"no request {id!r} is open") from None
        state = branch.state
        if not isinstance(state, Waiting) or state.request.id != id:
            raise LookupError(f"no request {id!r} is open")
        return branch, state

    def _turn(self) -> Turn:
        return Turn(self._branches, self._failing, self._used, self.count)

    def _deliver(self, branch: Branch, step: object) -> "Outcome":
        turn = self._turn()
        turn.ready(branch, step)
        return _settled(turn, self._limits, 1)


Outcome: TypeAlias = Done | Failed | Suspended


def start(
    program: Program,
    inputs: dict[str, Value] | None = None,
    tasks: TaskSystem | None = None,
    limits: Limits | None = None,
) -> Outcome:
    """Runs a program until it ends or waits. No I/O at all.

    `inputs` are values by name, converted already; `tasks` is needed by programs that call
    atomic tasks.
    """
    run, linked = link(program, tasks)
    base = (BASE, BOTTOM, None, Ctx(linked), None)
    step = (run, (inputs or {},), BOTTOM, base)
    turn = Turn(Map(), None, 0, 0)
    turn.ready(Branch((), 0, Ready(step)), step)
    return _settled(turn, limits or Limits(), 0)


def _fail(error: Value, k: object, s: object) -> object:
    return fail(error, k, s)  # type: ignore[arg-type]


def _settled(turn: Turn, limits: Limits, answered: int) -> Outcome:
    turn.settle(limits)
    withdrawn = tuple(sorted(turn.withdrawn, key=path_of))
    if turn.ended:
        error = turn.broken or turn.failing
        if error is not None:
            return Failed(error, turn.open_ids() if turn.broken else withdrawn)
        return Done(turn.value, withdrawn)
    gone = set(withdrawn)
    opened = tuple([request for request in turn.opened if request.id not in gone])
    count = turn.count + len(turn.opened) - len(withdrawn) - answered
    return Suspended(
        turn.branches.finish(), turn.failing, turn.used, limits, opened, withdrawn, count
    )
