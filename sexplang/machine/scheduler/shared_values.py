"""Shared values: one value per key for all branches of a run.

The first branch that claims a key computes its value; the others wait until it is there. If the
claim is released without a value, because the computation failed or was cancelled, the next branch
that waits has the claim. A claim by the branch that has it already, or by a branch inside that one,
goes on at once. If nothing else goes on in the run, the first branch that waits has the claim: a
wait in a circle is no deadlock, only a second computation.

The state is a part of the run, so it follows from the deliveries alone.
"""

from typing import TYPE_CHECKING

from sexplang.machine import exits
from sexplang.machine.scheduler.branches import (
    Branch,
    Claim,
    Path,
    Queued,
    SharedKey,
    Shares,
    Waiting,
)
from sexplang.machine.scheduler.cancellation import break_scope
from sexplang.machine.stack import Frame, Segment, Step
from sexplang.terms.source import Span
from sexplang.terms.values.abbreviation import abbreviate
from sexplang.terms.values.boundary import materialize, plain
from sexplang.terms.values.value import Fault, Value

if TYPE_CHECKING:
    from sexplang.machine.scheduler.scheduler import Scheduler


def claim_shared(arguments: tuple[Value, ...], k: Frame, s: Segment, span: Span | None) -> Step:
    """`(claim-shared key)`: `{value}` if the value is known, nil for the branch that computes
    it."""
    raise exits.ClaimShared(_key(arguments[0], s), k, s)


def put_shared(arguments: tuple[Value, ...], k: Frame, s: Segment, span: Span | None) -> Step:
    """`(put-shared key value)`: the value of the key from now on, for all that wait too; an earlier
    one stays. Gives the value of the key."""
    value = materialize(arguments[1])
    plain(value)
    raise exits.PutShared(_key(arguments[0], s), (value,), k, s)


def release_shared(arguments: tuple[Value, ...], k: Frame, s: Segment, span: Span | None) -> Step:
    """`(release-shared key)`: the branch has the claim no more, if it had it."""
    raise exits.PutShared(_key(arguments[0], s), None, k, s)


def _key(given: Value, s: Segment) -> SharedKey:
    """Return the key of a text. A program from a model has keys of its own."""
    given = materialize(given)
    if not isinstance(given, str):
        raise Fault("wrong-type", f"the key of a shared value is a text, not {abbreviate(given)}")
    return s[3].linked.key or (), given


def claim(scheduler: "Scheduler", branch: Branch, left: exits.ClaimShared) -> None:
    """Let the branch go on with the value or the claim, or wait for one of them."""
    key, shares, path = left.key, scheduler.shares, branch.path
    if key in shares.values:
        _go_on(scheduler, branch, left.k, left.s, {"value": shares.values[key]})
        return
    claimed = shares.claims.get(key)
    if claimed is not None and path[: len(claimed.holder)] != claimed.holder:
        _wait(scheduler, branch, left, claimed)
        return
    if claimed is None:
        scheduler.shares = Shares(shares.values, shares.claims.set(key, Claim(path)))
    _go_on(scheduler, branch, left.k, left.s, None)


def put_value(scheduler: "Scheduler", branch: Branch, left: exits.PutShared) -> None:
    """Set the value of a key, and go on with the value that it has; or release the claim of the
    branch. A continuation that is resumed again changes no value."""
    key, shares = left.key, scheduler.shares
    claimed = shares.claims.get(key)
    if left.value is not None and key not in shares.values:
        claims = shares.claims if claimed is None else shares.claims.delete(key)
        scheduler.shares = Shares(shares.values.set(key, left.value[0]), claims)
        for path in reversed(() if claimed is None else claimed.waiters):
            _wake(scheduler, path, key, {"value": left.value[0]})
    elif left.value is None and claimed is not None and claimed.holder == branch.path:
        _pass_on(scheduler, key, claimed)
    value = None if left.value is None else scheduler.shares.values[key]
    _go_on(scheduler, branch, left.k, left.s, value)


def pass_first_claim(scheduler: "Scheduler") -> bool:
    """Give a claim to the first branch that waits for one, if nothing else goes on in the run.
    Return whether a branch goes on."""
    claims = scheduler.shares.claims
    if not claims:
        return False
    branches = scheduler.table.snapshot()
    if any(isinstance(each, Waiting) for each in branches.values()):
        return False
    for key, claimed in sorted(claims.items(), key=lambda item: item[1].waiters):
        if _pass_on(scheduler, key, claimed):
            return True
    return False


def _pass_on(scheduler: "Scheduler", key: SharedKey, claimed: Claim) -> bool:
    """Give a claim to the next branch that waits for it. Return whether there is one."""
    shares = scheduler.shares
    waiters = claimed.waiters
    while waiters:
        path, *others = waiters
        waiters = tuple(others)
        if _wake(scheduler, path, key, None):
            scheduler.shares = Shares(shares.values, shares.claims.set(key, Claim(path, waiters)))
            return True
    scheduler.shares = Shares(shares.values, shares.claims.delete(key))
    return False


def _wait(scheduler: "Scheduler", branch: Branch, left: exits.ClaimShared, claimed: Claim) -> None:
    """Let the branch wait for a key. The deadlines around it run meanwhile."""
    step: Step = (left.k[0], None, left.k, left.s)
    queued = Queued(branch.path, branch.ordinal, branch.leaving, step, left.key)
    scopes = left.s[3].scopes
    if scopes:
        _, late = scheduler.ledger.find_timed(scopes)
        if late is not None:
            error = scheduler.ledger.accounts[late].expire()
            break_scope(scheduler, branch, queued, late, error)
            return
        scheduler.ledger.count(scopes, 1)
    shares = scheduler.shares
    claimed = Claim(claimed.holder, (*claimed.waiters, branch.path))
    scheduler.shares = Shares(shares.values, shares.claims.set(left.key, claimed))
    scheduler.table.branches[branch.path] = queued


def _wake(scheduler: "Scheduler", path: Path, key: SharedKey, value: Value) -> bool:
    """Let a branch go on that waits for a key. Return False if it waits no more."""
    branch = scheduler.table.branches.get(path)
    if not isinstance(branch, Queued) or branch.key != key:
        return False
    scheduler.withdraw(branch)
    _go_on(scheduler, branch, branch.k, branch.s, value)
    return True


def _go_on(scheduler: "Scheduler", branch: Branch, k: Frame, s: Segment, value: Value) -> None:
    scheduler.table.schedule(branch, (k[0], value, k, s))
