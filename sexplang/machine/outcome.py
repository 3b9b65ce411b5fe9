"""Outcomes of a program: done, failed, or suspended with all its open requests."""

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias

from sexplang.machine.errors import FailureSite
from sexplang.machine.exits import EnterScope
from sexplang.machine.handlers import fail
from sexplang.machine.limits import Limits
from sexplang.machine.link import Standing, link, link_onward
from sexplang.machine.loop import COMPUTING
from sexplang.machine.scheduler.branches import SchedulerState, Waiting, path_of, sort_key
from sexplang.machine.scheduler.cancellation import cancel, make_cancelled
from sexplang.machine.scheduler.scheduler import Scheduler
from sexplang.machine.scopes.budgets import (
    METER,
    NO_ACCOUNTS,
    Accounts,
    Meter,
    check_budget,
    reserve_next_attempt,
)
from sexplang.machine.scopes.deadlines import Pause, Slice
from sexplang.machine.stack import BASE, BOTTOM, Ctx, Frame, Run, Segment, Step
from sexplang.terms.classes.node import define, evolve, field, frozen, node
from sexplang.terms.effect import Request, SoFar, unknown
from sexplang.terms.program import Program
from sexplang.terms.task import TaskSystem, error_of
from sexplang.terms.values.abbreviation import abbreviate
from sexplang.terms.values.boundary import materialize, plain, writable_value
from sexplang.terms.values.value import Fault, Record, Value
from sexplang.terms.work import RUN, Begins, Ends

SpanEvents: TypeAlias = tuple[Begins | Ends, ...]

Conceal: TypeAlias = Callable[[Any], Any]
"""A function from data that leaves a run with its error to the same data without secrets."""


def as_it_is(value: Any) -> Any:
    """Return the data unchanged."""
    return value


@frozen
class Done:
    """The outcome of a program that has its value."""

    value: Value
    withdrawn: tuple[str, ...] = ()
    _span_events: SpanEvents = field(default=(), eq=False)
    accounts: Accounts = field(default=NO_ACCOUNTS, eq=False)
    """The final account of each deadline and budget of the run."""

    def __repr__(self) -> str:
        return f"Done({abbreviate(self.value)})"


@frozen(eq=False)
class Failed(Exception):
    """The outcome of a program that ended with an uncaught error record. `run` raises it."""

    error: Record
    withdrawn: tuple[str, ...] = ()
    _span_events: SpanEvents = ()
    accounts: Accounts = NO_ACCOUNTS

    _failure_site: Any = field(default=None, init=False)
    """The place of the failure in the program. It does not cross processes."""

    def __repr__(self) -> str:
        return f"Failed({abbreviate(str(self))})"

    @property
    def trail(self) -> "Trail":
        """The calls that the program was in when it failed and the variables there; empty if they
        are not known."""
        from sexplang.machine.positions.traceback import (  # a run that succeeds does not need it
            Trail,
            trail_in,
        )

        if self._failure_site is None:
            return Trail()
        stood, setting = self._failure_site
        trail = trail_in(stood, self.error, setting.program)
        if trail is None:
            return Trail()
        return Trail(*setting.conceal((trail.calls, trail.variables)))

    def __str__(self) -> str:
        fields = self.error.fields
        return f"{fields['type']} {fields['reason']}: {fields['message']}"

    @property
    def reason(self) -> str:
        """The error's reason: a word such as `division-by-zero`."""
        return str(self.error.fields["reason"])

    @property
    def details(self) -> dict[str, Any]:
        """The error's details, as plain data."""
        try:
            found: dict[str, Any] = plain(self.error.fields["details"])
        except Fault:  # they hold a function
            return {}
        return found


def span_events_of(outcome: Any) -> SpanEvents:
    """Return the work that began and ended by the last delivery of a traced run."""
    events: SpanEvents = outcome._span_events
    return events


if TYPE_CHECKING:
    from sexplang.machine.positions.traceback import Trail

_SHOWN = 5
"""The number of open requests in one line."""


@frozen(eq=False)
class Setting:
    """The program of a run and its bounds."""

    program: Program
    tasks: TaskSystem | None
    limits: Limits
    meter: Meter
    thawed: bool = False
    """Whether the run comes from data, which anyone may have written."""
    conceal: Conceal = as_it_is
    """The function that takes secrets out of an error that leaves the run."""


@node(eq=False)
class State:
    """The state of a suspended run, for its driver.

    `opened` are the requests that the last delivery made; of a thawed run, all of them. `told` is
    the work that began and ended by it, in a traced run. `failure_site` is the place of the failure
    while a failed program cleans up; a thawed run has the trail instead.
    """

    scheduler: SchedulerState
    setting: Setting
    opened: tuple[Request, ...] = ()
    span_events: SpanEvents = ()
    failure_site: "FailureSite | Trail | None" = None
    pause: Pause | None = None
    """The next step of a branch that computes, in a run that does so in slices."""
    passed: Mapping[str, float] = field(factory=dict)
    """For open requests of a thawed run, the seconds for which they had waited."""


@define(eq=False)
class Suspended:
    """The outcome of a program that waits. Immutable: to resume one twice makes two runs.

    `requests` are all open requests; `withdrawn` are the ids of the requests that the last delivery
    withdrew. A request of the operation `timer` asks to be resumed when its seconds have passed
    since it was first opened.
    """

    _state: State
    withdrawn: tuple[str, ...] = ()

    @cached_property
    def requests(self) -> tuple[Request, ...]:
        """All open requests of all branches, in the order of their identities."""
        before = self._state.scheduler
        try:
            every = before.branches.values()
            waiting = [each.request for each in every if isinstance(each, Waiting)]
            waiting.extend([scope.timer() for scope in before.times.timers.values()])
            return tuple(sorted(waiting, key=lambda request: sort_key(request.id)))
        except Exception as broken:  # damaged data may fail in any way
            raise _damage(broken, self._state.setting) from broken

    @property
    def passed(self) -> Mapping[str, float]:
        """The seconds for which requests had waited when the run was frozen, by their ids. A host
        subtracts them from the seconds of a `timer` or a `sleep`."""
        return self._state.passed

    @property
    def _span_events(self) -> SpanEvents:
        return self._state.span_events

    def __repr__(self) -> str:
        said = [f"{each.id} {each.operation}" for each in self.requests[:_SHOWN]]
        more = len(self.requests) - len(said)
        return f"Suspended({', '.join(said)}{f', … {more} more' if more else ''})"

    def resume(
        self,
        id: str,
        value: Value = None,
        *,
        is_value: bool = False,
        so_far: SoFar = unknown,
        slice: Slice | None = None,
    ) -> "Outcome":
        """Deliver a reply: plain data or values (with `is_value`, a value already).

        `so_far` maps model calls that are withdrawn by this to what they had produced. It is
        charged, and the error of a deadline tells it. Raises LookupError if `id` is not open.
        Raises Failed, reason `not-data`, `not-text` or `limit-…`, for a reply that a program cannot
        take.
        """
        scheduler, setting = _make_scheduler(self._state, so_far, slice), self._state.setting
        if isinstance(id, str) and id in self._state.scheduler.times.timers:
            try:
                scheduler.fire(id)
                return _settle(scheduler, setting)
            except Exception as broken:  # damaged data may fail in any way
                raise _damage(broken, setting) from broken
        branch = self._waiting(id)
        try:
            reply = value if is_value else writable_value(value)
        except Fault as fault:
            error = error_of(fault)
            words = f"the reply to `{branch.request.operation}`: {fault.message}"
            error = Record(error.kind, {**error.fields, "message": words})
            raise Failed(error) from None
        try:
            k = branch.k
            scheduler.answer(branch, (k[0], reply, k, branch.s), reply, False)
            return _settle(scheduler, setting)
        except Exception as broken:  # damaged data may fail in any way
            raise _damage(broken, setting) from broken

    def fail(
        self, id: str, error: Record, *, so_far: SoFar = unknown, slice: Slice | None = None
    ) -> "Outcome":
        """Fail the request: raise `error` where it was made, resumably.

        `so_far` is as for `resume`. Raises LookupError if `id` is not open, and TypeError if it is
        a timer's.
        """
        scheduler = _make_scheduler(self._state, so_far, slice)
        if isinstance(id, str) and id in self._state.scheduler.times.timers:
            raise TypeError(f"the request {id!r} is a timer, which cannot fail: it is resumed")
        branch = self._waiting(id)
        _check_error("a request fails with", error)
        try:
            step = (_fail, _with_span(error, branch.request), branch.k, branch.s)
            scheduler.answer(branch, step, error, True)
            return _settle(scheduler, self._state.setting)
        except Exception as broken:  # damaged data may fail in any way
            raise _damage(broken, self._state.setting) from broken

    def cancel(
        self,
        error: Record | None = None,
        *,
        so_far: SoFar = unknown,
        slice: Slice | None = None,
    ) -> "Outcome":
        """Abandon the whole run: `finally` bodies run, then the program fails with `error`, by
        default TASK_FAILURE, reason `cancelled`.

        The program cannot catch it. A program that is failing already goes on with its own error.
        `so_far` is as for `resume`.
        """
        scheduler = _make_scheduler(self._state, so_far, slice)
        if error is not None:
            _check_error("a run is cancelled with", error)
        try:
            cancel(scheduler, error)
            return _settle(scheduler, self._state.setting, answered=0)
        except Exception as broken:  # damaged data may fail in any way
            raise _damage(broken, self._state.setting) from broken

    def _waiting(self, id: str) -> Waiting:
        if not isinstance(id, str):
            raise TypeError(f"the id of a request is a str, not {type(id).__name__}")
        try:
            branch = self._state.scheduler.branches[path_of(id)]
        except (KeyError, ValueError):
            branch = None
        if not isinstance(branch, Waiting) or branch.request.id != id:
            setting, closed = self._state.setting, LookupError(f"no request {id!r} is open")
            if setting.thawed and any(id == each.id for each in self.requests):
                raise _damage(closed, setting) from closed  # it is one, where none can be
            raise closed
        return branch


Outcome: TypeAlias = Done | Failed | Suspended


MISMATCH = "frozen-mismatch"


def mismatch(why: str, hint: str = "") -> Fault:
    """Return the fault of data that is no frozen run of this program."""
    return Fault(
        MISMATCH,
        f"this frozen run cannot go on here: {why}",
        hint=hint
        or "thaw it with the program, and the version of sexplang, that it was frozen with",
    )


def _damage(broken: Exception, setting: Setting) -> Exception:
    """Turn an exception in a delivery of a thawed run into a fault of the data. For any other run
    the exception is a bug and passes."""
    if not setting.thawed or isinstance(broken, (Failed, MemoryError)):
        return broken
    return Failed(error_of(mismatch(f"it is damaged ({type(broken).__name__})")))


def state_of(outcome: Suspended) -> State:
    """Return the state of a suspended run."""
    return outcome._state


def _make_scheduler(state: State, so_far: SoFar, slice: Slice | None) -> Scheduler:
    if not callable(so_far):
        kind = type(so_far).__name__
        raise TypeError(f"so_far is a function from the id of a call to its part, not {kind}")
    try:
        setting = state.setting
        scheduler = Scheduler(
            state.scheduler, setting.limits, setting.meter, so_far, slice, state.failure_site
        )
    except Exception as broken:  # damaged data may fail in any way
        raise _damage(broken, state.setting) from broken
    if state.pause is not None:
        scheduler.resume_slice(state.pause)
    return scheduler


def advance(
    outcome: Suspended, slice: Slice, fired: str | None = None, so_far: SoFar = unknown
) -> "Outcome":
    """Compute the next slice of a run. The deadline of the scope `fired` passes first."""
    state = outcome._state
    scheduler = _make_scheduler(state, so_far, slice)
    try:
        if fired is not None:
            if fired in state.scheduler.times.timers:
                scheduler.withdrawn.append(fired)
            scheduler.fire(fired)
        return _settle(scheduler, state.setting, answered=0)
    except Exception as broken:  # damaged data may fail in any way
        raise _damage(broken, state.setting) from broken


def halt(outcome: Outcome, error: Record | None = None, so_far: SoFar = unknown) -> Failed:
    """End the run at once with `error`, or as it would have ended, and run no finalizers. Open
    requests are withdrawn and charged by `so_far`."""
    if not isinstance(outcome, Suspended):
        error = error or outcome.error if isinstance(outcome, Failed) else error
        assert error is not None
        return Failed(error, accounts=outcome.accounts)
    scheduler, setting = _make_scheduler(outcome._state, so_far, None), outcome._state.setting
    try:
        error = materialize(error or scheduler.failing or make_cancelled(scheduler))
        gone = [*scheduler.withdrawn, *scheduler.withdraw_all(), *scheduler.ledger.timers]
        gone.sort(key=sort_key)
    except Fault as fault:
        return Failed(error_of(fault), accounts=scheduler.ledger.accounts)
    except Exception as broken:  # damaged data may fail in any way
        raise _damage(broken, setting) from broken
    return Failed(setting.conceal(error), tuple(gone), (), scheduler.ledger.accounts)


def hold_attempt(outcome: Suspended, id: str, usage: dict[str, Value]) -> Suspended | None:
    """Return the run after a failed attempt at a model call, for which the server counted `usage`.
    The call's budgets hold that beside the estimate of the next attempt. Return None if one of them
    has no room for it. Raises LookupError if `id` is not open."""
    branch, state = outcome._waiting(id), outcome._state
    times, held = state.scheduler.times, branch.held
    if held is None or not any(times.accounts[name].is_metered for name in held.scopes):
        return outcome
    grown = reserve_next_attempt(times.accounts, held, usage, state.setting.meter)
    if grown is None:
        return None
    accounts, held = grown
    branches = state.scheduler.branches.set(branch.path, evolve(branch, held=held))
    before = evolve(state.scheduler, branches=branches, times=evolve(times, accounts=accounts))
    return Suspended(
        State(before, state.setting, failure_site=state.failure_site, pause=state.pause)
    )


def start(
    program: Program,
    inputs: dict[str, Value] | None = None,
    tasks: TaskSystem | None = None,
    limits: Limits | None = None,
    budget: dict[str, Value] | None = None,
    meter: Meter = METER,
    *,
    traced: bool = False,
    conceal: Conceal = as_it_is,
    slice: Slice | None = None,
) -> Outcome:
    """Run a program until it ends or waits. No I/O.

    `inputs` are values by name, converted already; `tasks` is needed by programs that call atomic
    tasks. `budget` bounds the whole program: `calls`, `tokens`, `usd`, `seconds`; `meter` estimates
    the cost of a model call. A `traced` run reports the work that begins and ends. `conceal` takes
    secrets out of its final error. With a `slice`, it computes in slices under a running deadline.
    """
    run, linked = link(program, tasks)
    base = (BASE, BOTTOM, None, Ctx(linked, work=RUN if traced else None), None)
    setting = Setting(program, tasks, limits or Limits(), meter, conceal=conceal)
    scheduler = _make_scheduler(State(SchedulerState(), setting), unknown, slice)
    scheduler.start((_under(budget, run) if budget else run, (inputs or {},), BOTTOM, base))
    return _settle(scheduler, setting, 0)


def proceed(
    program: Program,
    standing: Standing,
    tasks: TaskSystem | None = None,
    limits: Limits | None = None,
    meter: Meter = METER,
    slice: Slice | None = None,
) -> Outcome:
    """Run the units of a growing program that are new since `standing`, in its environment. The
    final value is the next Standing."""
    run, linked = link_onward(program, standing, tasks)
    base = (BASE, BOTTOM, None, Ctx(linked), None)
    setting = Setting(program, tasks, limits or Limits(), meter)
    scheduler = _make_scheduler(State(SchedulerState(), setting), unknown, slice)
    scheduler.start((run, standing.env, BOTTOM, base))
    return _settle(scheduler, setting, 0)


def _under(budget: dict[str, Value], run: Run) -> Run:
    def enter(env: object, k: Frame, s: Segment) -> Step:
        raise EnterScope(check_budget(budget), run, env, k, s, None)

    return enter


def _check_error(what: str, error: object) -> None:
    if not (isinstance(error, Record) and error.kind == "error"):
        kind = type(error).__name__
        raise TypeError(f"{what} an error, such as error(…).error, not {kind}")


def _with_span(error: Record, request: Request) -> Record:
    """Return the error, located at the request unless it has a place."""
    if error.fields.get("span") is not None or request.span is None:
        return error
    return Record(error.kind, {**error.fields, "span": request.span.plain()})


def _fail(error: Record, k: Frame, s: Segment) -> Step:
    return fail(error, k, s)


def _settle(scheduler: Scheduler, setting: Setting, answered: int = 1) -> Outcome:
    kept = COMPUTING.set(True)
    try:
        scheduler.settle()
    finally:
        COMPUTING.reset(kept)
    if scheduler.ended:
        return _end(scheduler, setting)
    gone, opened = scheduler.withdrawn, scheduler.opened
    timers: Sequence[Request] = ()
    before, ledger, permits = scheduler.state, scheduler.used_ledger, scheduler.used_permits
    if ledger is not None:
        timers, closed = ledger.move_timers()
        gone = [*gone, *closed]
    count = before.count - answered + len(opened) + len(timers) - len(gone)
    if gone:
        over, unheard = {*gone}, {request.id for request in opened}
        opened = [request for request in opened if request.id not in over]
        gone = sorted([id for id in gone if id not in unheard], key=sort_key)
    after = SchedulerState(
        scheduler.table.branches.finish(),
        before.times if ledger is None else ledger.times,
        scheduler.failing,
        scheduler.steps,
        scheduler.requested,
        scheduler.called,
        scheduler.planned,
        scheduler.begun,
        count,
        before.permits if permits is None else permits.permits,
        scheduler.shares,
    )
    events, fresh = tuple(scheduler.events), (*opened, *timers)
    state = State(after, setting, fresh, events, scheduler.failure_site, scheduler.pause)
    return Suspended(state, tuple(gone))


def _end(scheduler: Scheduler, setting: Setting) -> Outcome:
    """Return the outcome of an ended run: its value, or the uncaught error."""
    error = scheduler.broken or scheduler.failing
    unheard = {request.id for request in scheduler.opened}
    gone = [*scheduler.withdrawn, *scheduler.withdraw_all()]
    times = scheduler.used_ledger or scheduler.state.times
    gone = [*[id for id in gone if id not in unheard], *times.timers.keys()]
    known = tuple(sorted(gone, key=sort_key)), tuple(scheduler.events), times.accounts
    try:
        value, error = materialize(scheduler.value), materialize(error)
    except Fault as fault:  # shared lists are too large outside the run
        error = error_of(fault)
    if error is None:
        return Done(value, *known)
    failed = Failed(setting.conceal(error), *known)
    object.__setattr__(failed, "_failure_site", (scheduler.failure_site, setting))
    return failed
