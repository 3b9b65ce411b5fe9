"""The fold of a run over its rows: the outcome after them, without any performer.

A replay is another thing: it serves the replies of models and performs the rest again.
"""

from collections.abc import Iterable, Iterator
from typing import Any

from sexplang.runtime.journal.rows import ATTEMPT, CANCEL, CUT, PASSED, Row, digest
from sexplang.runtime.refusal import Refusal, refuse
from sexplang.terms.effect import Part, Request, SoFar
from sexplang.terms.json.tagged import dump, pack
from sexplang.terms.quota import STEPS


def mismatch(row: Row, requests: Iterable[Request]) -> Refusal | None:
    """Return the refusal of a row that cannot be delivered now, or None."""
    asked = {request.id: request for request in requests}
    request = asked.get(row.id)
    if request is None:
        waiting = ", ".join(asked) or "none"
        return refuse(
            "journal-mismatch",
            f"the recording answers request {row.id} ({row.operation}), which does not wait here",
            hint="replay with the program and inputs that were recorded",
            expected=row.id,
            waiting=waiting,
        )
    if digest(request.operation, request.arguments) != row.digest:
        return refuse(
            "journal-mismatch",
            f"request {row.id} was recorded as another one",
            hint="replay with the program and inputs that were recorded",
            expected=dump(pack((row.operation, row.arguments))),
            got=dump(pack((request.operation, request.arguments))),
        )
    return None


def fold(outcome: Any, rows: Iterable[Row]) -> Any:
    """Deliver rows to a run from its start. Return the outcome after the last row.

    Raises a Refusal `journal-mismatch` at a row that does not fit.
    """
    rows = [*rows]
    slice = _deadline_slice(rows)
    for row, so_far in _pair_with_withdrawals(rows):
        outcome = _compute(outcome, row, slice)
        if row.operation == PASSED:
            outcome = _pass_deadline(outcome, row, slice, so_far)
            continue
        if row.operation == CANCEL:
            outcome = outcome.cancel(so_far=so_far, slice=slice)
            continue
        if row.operation == ATTEMPT:
            outcome = _hold_attempt(row, outcome)
            continue
        problem = mismatch(row, getattr(outcome, "requests", ()))
        if problem is not None:
            raise problem
        answer = outcome.fail if row.failed else outcome.resume
        outcome = answer(row.id, row.reply, so_far=so_far, slice=slice)
    return _compute(outcome, None, slice)


def _deadline_slice(rows: list[Row]) -> Any:
    """Return a slice that stops where deadlines fired, or None if none did."""
    places = [row.arguments for row in rows if row.operation == PASSED]
    if not places:
        return None
    from sexplang.machine import Slice  # to show a recording needs no machine
    from sexplang.runtime.driver.deadlines import group_stops

    return Slice(_MAX_STEPS, group_stops((str(at), int(steps)) for at, steps, _ in places))


_MAX_STEPS = 1_000_000
"""Steps of a slice when no clock is checked."""


def _compute(outcome: Any, row: Row | None, slice: Any) -> Any:
    """Compute until the deadline of a deadline row fires, or until every branch waits."""
    if slice is None:
        return outcome
    from sexplang.machine import Suspended, advance, state_of

    while isinstance(outcome, Suspended) and (pause := state_of(outcome).pause) is not None:
        here = [pause.at, pause.steps, STEPS]
        if row is not None and row.operation == PASSED and [*row.arguments] == here:
            break
        outcome = advance(outcome, slice)
    return outcome


def _pass_deadline(outcome: Any, row: Row, slice: Any, so_far: SoFar) -> Any:
    """Fire a deadline in a computing run."""
    from sexplang.machine import Suspended, advance, state_of

    pause = state_of(outcome).pause if isinstance(outcome, Suspended) else None
    if pause is None or row.id not in [scope.id for scope in pause.scopes]:
        raise refuse(
            "journal-mismatch",
            f"the deadline {row.id} passed in the recording where this run does not come",
            hint="replay with the program, inputs and version that were recorded",
            expected=row.id,
        )
    return advance(outcome, slice, row.id, so_far)


def _pair_with_withdrawals(rows: Iterable[Row]) -> Iterator[tuple[Row, SoFar]]:
    """Yield each row with the partial replies that its delivery withdrew, by request."""
    last: Row | None = None
    parts: dict[str, Part] = {}
    for row in rows:
        if row.operation == CUT:
            parts[row.id] = row.reply
            continue
        if last is not None:
            yield last, parts.get
        last, parts = row, {}
    if last is not None:
        yield last, parts.get


def _hold_attempt(row: Row, outcome: Any) -> Any:
    """Reserve the usage of a failed attempt."""
    from sexplang.machine import hold_attempt  # to show a recording needs no machine

    asked = [request.id for request in getattr(outcome, "requests", ())]
    held = hold_attempt(outcome, row.id, row.reply) if row.id in asked else None
    if held is None:
        raise refuse(
            "journal-mismatch",
            f"the recording has another attempt at request {row.id}, which has no room for it here",
            hint="replay with the program, inputs and budget that were recorded",
            expected=row.id,
        )
    return held
