"""Jobs: branches whose work needs a permit, and how they wait for one."""

from typing import TYPE_CHECKING, Any

from sexplang.machine.code.application import apply
from sexplang.machine.code.simple import locate
from sexplang.machine.exits import AcquirePermit, AskHost, LimitReached
from sexplang.machine.limits import too_many_scopes
from sexplang.machine.scheduler.branches import Branch, Path, Queued, request_id
from sexplang.machine.scheduler.cancellation import break_scope
from sexplang.machine.scheduler.permits import Job
from sexplang.machine.stack import BOTTOM, Frame, Segment, Step
from sexplang.machine.unwind import JOB
from sexplang.terms.source import Span
from sexplang.terms.values.value import Fault, Value

if TYPE_CHECKING:
    from sexplang.machine.scheduler.scheduler import Scheduler

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
        return isinstance(branch, Queued) and bool(branch.step[3][3].jobs == job)

    paths = scheduler.permits.grant_free(waits)
    for path in sorted(paths, reverse=True):
        branch = branches[path]
        scheduler.withdraw(branch)
        assert isinstance(branch, Queued)
        scheduler.table.schedule(branch, branch.step)
    return bool(paths)
