"""Permits: how many jobs are done at a time, which comes next, and how its branch waits.

`(with-permit f)` begins a job. The jobs begun inside it are its children, so jobs form trees, and
the path from the root names each. A job is active while a branch waits for the host in it or in one
of its children. The active jobs without active children hold the permits, and `used` is their
number. A child works with the permit of its parent; the parent needs none meanwhile and has it back
when its last child is done. So a tree that has begun always has a permit, and no job waits for a
permit whose holder waits for that job.

The law `shared_out` (`tests/support/laws.py`) derives the active jobs and `used` from the branches.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from sexplang.machine.code.application import apply
from sexplang.machine.code.simple import locate
from sexplang.machine.exits import AcquirePermit, AskHost, LimitReached
from sexplang.machine.limits import too_many_scopes
from sexplang.machine.scheduler.branches import Branch, Job, Line, Path, Permits, Queued, request_id
from sexplang.machine.scheduler.cancellation import break_scope
from sexplang.machine.stack import BOTTOM, Frame, Segment, Step
from sexplang.machine.unwind import JOB
from sexplang.terms.source import Span
from sexplang.terms.values.value import Fault, Value

if TYPE_CHECKING:
    from sexplang.machine.scheduler.scheduler import Scheduler

_Waits = Callable[[Any, Job], bool]
"""Whether the branch at a path waits for the permit of a job."""


class PermitQueue:
    """The permits of one delivery. It must be called for every branch that starts or stops
    waiting."""

    def __init__(self, permits: Permits, most: int) -> None:
        self._active = permits.active
        self._used = permits.used
        self._queued = permits.queued
        self._line = permits.line
        self._lines = permits.lines
        self._before = permits
        self._most = most
        self._touched: dict[Job, None] = {}

    @property
    def permits(self) -> Permits:
        """The current permits."""
        if self._active is self._before.active and self._queued is self._before.queued:
            return self._before
        return Permits(self._active, self._used, self._queued, self._line, self._lines)

    @property
    def touched(self) -> tuple[Job, ...]:
        """The jobs that may be over."""
        return tuple(self._touched)

    def touch(self, jobs: tuple[Job, ...]) -> None:
        """Add jobs that may be over, known from a delivery that goes on here."""
        self._touched.update(dict.fromkeys(jobs))

    def acquire(self, job: Job) -> bool:
        """Return whether work in the job may go on: the job has a permit or gets one now."""
        if job in self._active:
            return True
        held = self._find_active(job)
        more = not held or self._active[held][1] > 0
        if more and self._used >= self._most:
            return False
        if held:
            waiting, children = self._active[held]
            self._active = self._active.set(held, (waiting, children + 1))
        for length in range(len(held) + 1, len(job)):
            self._active = self._active.set(job[:length], (0, 1))
        self._active = self._active.set(job, (0, 0))
        self._used += more
        self._touched[job] = None
        return True

    def _find_active(self, job: Job) -> Job:
        """Return the nearest active job around a job."""
        for length in range(len(job) - 1, 0, -1):
            if job[:length] in self._active:
                return job[:length]
        return ()

    def count(self, job: Job, by: int) -> None:
        """Count a branch that begins or ends to wait for the host in the job."""
        waiting, children = self._active[job]
        self._active = self._active.set(job, (waiting + by, children))
        self._touched[job] = None

    def queue(self, job: Job, path: Any) -> None:
        """Let a branch wait for its job's permit."""
        paths = self._queued.get(job, ())
        self._queued = self._queued.set(job, (*paths, path))
        if not paths:
            self._line = _put_behind(self._line, job)
            held = self._find_active(job)
            if held:
                line = self._lines.get(held, _EMPTY)
                self._lines = self._lines.set(held, _put_behind(line, job))

    def grant_free(self, waits: _Waits) -> list[Any]:
        """Take back the permits of jobs that are over, and grant the free ones to the jobs that
        came first. Return the branches that go on."""
        found: list[Any] = []
        if self._touched:
            touched, self._touched = self._touched, {}
            for job in sorted(touched, key=len, reverse=True):
                self._release(job, waits, found)
        while self._used < self._most and self._line != _EMPTY:
            self._line, job, paths = self._first(self._line, waits)
            if paths:
                self._grant(job, paths, found)
        return found

    def _release(self, job: Job, waits: _Waits, found: list[Any]) -> None:
        """Release the job's permit when its last branch has left, then those of its idle ancestors.
        A waiting child comes before its parent."""
        while job in self._active:
            waiting, children = self._active[job]
            if children:
                return
            if job in self._lines:
                line, child, paths = self._first(self._lines[job], waits)
                if paths:
                    self._lines = self._lines.set(job, line)
                    self._grant(child, paths, found)
                    return
                self._lines = self._lines.delete(job)
            if waiting:
                return
            self._active = self._active.delete(job)
            job = job[:-1]
            siblings = 0
            if job:
                waiting, children = self._active[job]
                siblings = children - 1
                self._active = self._active.set(job, (waiting, siblings))
            if siblings or not job:
                self._used -= 1

    def _first(self, line: Line, waits: _Waits) -> tuple[Line, Job, list[Any]]:
        """Return the first of the line that branches still wait for: the line behind it, the job
        and the branches."""
        while line != _EMPTY:
            job, line = _take_front(line)
            paths = [path for path in dict.fromkeys(self._queued.get(job, ())) if waits(path, job)]
            if paths:
                return line, job, paths
            if job in self._queued:
                self._queued = self._queued.delete(job)
        return line, (), []

    def _grant(self, job: Job, paths: list[Any], found: list[Any]) -> None:
        self._queued = self._queued.delete(job)
        self.acquire(job)
        found.extend(paths)


_EMPTY: Line = (None, None)


def _put_behind(line: Line, job: Job) -> Line:
    return line[0], (job, line[1])


def _take_front(line: Line) -> tuple[Job, Line]:
    """Return the first of a nonempty queue, and the rest."""
    front, back = line
    if front is None:
        while back is not None:
            front, back = (back[0], front), back[1]
    return front[0], (front[1], back)


# -- Jobs -----------------------------------------------------------------------------------------

_DEEPEST = 2_000
"""The greatest depth of jobs in jobs. Each knows all around it."""


def call_with_permit(arguments: tuple[Value, ...], k: Frame, s: Segment, span: Span | None) -> Step:
    """Leave the loop until there is a permit."""
    if len(s[3].jobs or ()) >= _DEEPEST:
        raise LimitReached(too_many_scopes(_DEEPEST))
    raise AcquirePermit(arguments[0], k, s, span)


def begin_job(scheduler: "Scheduler", branch: Branch, left: AcquirePermit) -> None:
    """Begin a job, or let it wait for a permit."""
    path, ordinal = branch.path, branch.ordinal
    context = left.s[3].with_permit(request_id(path, ordinal))
    branch = Branch(path, ordinal + 1, branch.leaving)
    job = (left.function, left.span)
    step = (_call_job, job, BOTTOM, (JOB, left.k, left.s, context, None))
    if scheduler.permits.acquire(context.jobs or ()):
        scheduler.table.schedule(branch, step)
    else:
        _queue(scheduler, branch, step)


def _call_job(job: tuple[Value, Span | None], k: Frame, s: Segment) -> Step:
    """Call the function of a job that has its first permit."""
    function, span = job
    try:
        return apply(function, (), k, s, span)
    except Fault as fault:
        raise locate(fault, span) from None


def wait_for_permit(scheduler: "Scheduler", branch: Branch, left: AskHost) -> bool:
    """Return whether the request belongs to a job without a permit. If so, the branch waits for
    one."""
    if scheduler.permits.acquire(left.s[3].jobs):
        return False
    asked = (left.operation, left.arguments, left.span)
    _queue(scheduler, branch, (_ask_again, asked, left.k, left.s))
    return True


def _ask_again(asked: tuple[Any, ...], k: Frame, s: Segment) -> Step:
    """Repeat a request of a job that had no permit and has one now."""
    operation, arguments, span = asked
    raise AskHost(operation, arguments, k, s, span)


def _queue(scheduler: "Scheduler", branch: Branch, step: Step) -> None:
    """Let the branch go on with the step when its job has a permit. The deadlines around it run
    meanwhile."""
    queued = Queued(branch.path, branch.ordinal, branch.leaving, step)
    context = queued.s[3]
    if context.scopes:
        _, late = scheduler.ledger.find_timed(context.scopes)
        if late is not None:
            error = scheduler.ledger.accounts[late].expire()
            break_scope(scheduler, branch, queued, late, error)
            return
        scheduler.ledger.count(context.scopes, 1)
    scheduler.permits.queue(context.jobs, branch.path)
    scheduler.table.branches[branch.path] = queued


def grant_permits(scheduler: "Scheduler") -> bool:
    """Grant the free permits to the jobs that came first. Return whether a branch goes on."""
    branches = scheduler.table.branches

    def waits(path: Path, job: Job) -> bool:
        branch = branches.get(path)
        return (
            isinstance(branch, Queued)
            and branch.key is None
            and bool(branch.step[3][3].jobs == job)
        )

    paths = scheduler.permits.grant_free(waits)
    for path in sorted(paths, reverse=True):
        branch = branches[path]
        scheduler.withdraw(branch)
        assert isinstance(branch, Queued)
        scheduler.table.schedule(branch, branch.step)
    return bool(paths)
