"""The fold of a run over its rows: the outcome after them, without any performer.

A replay is another thing: it serves the replies of models and performs the rest again.
"""

from collections.abc import Callable, Iterable, Iterator
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
            f"the recording has a reply to request {row.id} ({row.operation}), which this "
            "run does not make here",
            hint="replay with the program and inputs that were recorded",
            expected=row.id,
            waiting=waiting,
        )
    if digest(request.operation, request.arguments) != row.digest:
        return refuse(
            "journal-mismatch",
            f"request {row.id} differs from the recorded one",
            hint="replay with the program and inputs that were recorded",
            expected=dump(pack((row.operation, row.arguments))),
            got=dump(pack((request.operation, request.arguments))),
        )
    return None


def fold(outcome: Any, rows: Iterable[Row], *, goes_on: bool = False) -> Any:
    """Deliver rows to a run from its start. Return the outcome after the last row. A run that
    `goes_on` may compute there: it had not come to its next request when its process ended.

    Raises a Refusal `journal-mismatch` at a row that does not fit.
    """
    rows = [*rows]
    slice = find_slice(rows)
    last = find_slice(rows, is_last=True) if goes_on else slice
    for _, after in fold_steps(outcome, rows, slice, last):
        outcome = after
    return outcome if goes_on else _compute(outcome, None, slice)


def find_failure(outcome: Any, rows: Iterable[Row]) -> int | None:
    """Return the index of the row that ended the run: the cancellation, or the first reply after
    which it failed; None if no row did."""
    from sexplang.machine import Failed, Suspended, state_of

    rows = [*rows]
    for at, row in enumerate(rows):
        if row.operation == CANCEL:
            return at
    for at, after in fold_steps(outcome, rows, find_slice(rows), find_slice(rows)):
        if isinstance(after, Suspended):
            if state_of(after).scheduler.failing is not None:
                return at
        elif isinstance(after, Failed):
            return at
    return None


def fold_steps(
    outcome: Any,
    rows: list[Row],
    slice: Any,
    last: Any,
    watch: Callable[[Any], None] = lambda computed: None,
) -> Iterator[tuple[int, Any]]:
    """Yield each row's index and the outcome after it. Rows of withdrawals belong to the row before
    them. `watch` is told each outcome that is computed between two rows."""
    until = max([at for at, row in enumerate(rows) if row.operation != CUT], default=0)
    for at, row, so_far in _pair_with_withdrawals(rows):
        outcome = _compute(outcome, row, slice, watch)
        slice = last if at == until else slice
        if row.operation == PASSED:
            outcome = _pass_deadline(outcome, row, slice, so_far)
        elif row.operation == CANCEL:
            outcome = outcome.cancel(so_far=so_far, slice=slice)
        elif row.operation == ATTEMPT:
            outcome = _hold_attempt(row, outcome)
        else:
            problem = mismatch(row, getattr(outcome, "requests", ()))
            if problem is not None:
                raise problem
            answer = outcome.fail if row.failed else outcome.resume
            outcome = answer(row.id, row.reply, so_far=so_far, slice=slice)
        yield at, outcome


def find_slice(rows: Iterable[Row], *, is_last: bool = False) -> Any:
    """Return a slice that stops where deadlines fired, or None if none did. The last slice of a run
    that goes on is one of its driver."""
    places = [row.arguments for row in rows if row.operation == PASSED]
    if not places and not is_last:
        return None
    from sexplang.machine import Slice  # to show a recording needs no machine
    from sexplang.runtime.driver.deadlines import group_stops

    stops = group_stops((str(at), int(steps)) for at, steps, _ in places)
    return Slice(stops=stops) if is_last else Slice(_MAX_STEPS, stops)


_MAX_STEPS = 1_000_000
"""Steps of a slice when no clock is checked."""


def _compute(
    outcome: Any,
    row: Row | None,
    slice: Any,
    watch: Callable[[Any], None] = lambda computed: None,
) -> Any:
    """Compute until the deadline of a deadline row fires, or until every branch waits."""
    if slice is None:
        return outcome
    from sexplang.machine import Suspended, advance, state_of

    while isinstance(outcome, Suspended) and (pause := state_of(outcome).pause) is not None:
        here = [pause.at, pause.steps, STEPS]
        if row is not None and row.operation == PASSED and [*row.arguments] == here:
            break
        outcome = advance(outcome, slice)
        watch(outcome)
    return outcome


def _pass_deadline(outcome: Any, row: Row, slice: Any, so_far: SoFar) -> Any:
    """Fire a deadline in a computing run."""
    from sexplang.machine import Suspended, advance, state_of

    pause = state_of(outcome).pause if isinstance(outcome, Suspended) else None
    if pause is None or row.id not in [scope.id for scope in pause.scopes]:
        raise refuse(
            "journal-mismatch",
            f"in the recording, the deadline {row.id} passed at a point that this run does not "
            "reach",
            hint="replay with the program, inputs and version that were recorded",
            expected=row.id,
        )
    return advance(outcome, slice, row.id, so_far)


def _pair_with_withdrawals(rows: Iterable[Row]) -> Iterator[tuple[int, Row, SoFar]]:
    """Yield each row and its index with the partial replies that its delivery withdrew, by
    request."""
    last: tuple[int, Row] | None = None
    parts: dict[str, Part] = {}
    for at, row in enumerate(rows):
        if row.operation == CUT:
            parts[row.id] = row.reply
            continue
        if last is not None:
            yield *last, parts.get
        last, parts = (at, row), {}
    if last is not None:
        yield *last, parts.get


def _hold_attempt(row: Row, outcome: Any) -> Any:
    """Reserve the usage of a failed attempt."""
    from sexplang.machine import hold_attempt  # to show a recording needs no machine

    asked = [request.id for request in getattr(outcome, "requests", ())]
    held = hold_attempt(outcome, row.id, row.reply) if row.id in asked else None
    if held is None:
        raise refuse(
            "journal-mismatch",
            f"the recording has one more attempt at request {row.id} than this run can make",
            hint="replay with the program, inputs and budget that were recorded",
            expected=row.id,
        )
    return held
