"""The loop that drives a suspended run to its end with performers.

Performers that do not wait are called inline, without an event loop. `event_loop.py` takes over at
the first awaitable reply.
"""

from contextlib import suppress
from time import monotonic
from typing import TYPE_CHECKING

from sexplang.guards.interrupt import GRACE, GraceOver, Interrupt, ending, interruptible
from sexplang.machine import Failed, Outcome, Suspended
from sexplang.runtime.driver.current_request import AttemptHistory
from sexplang.runtime.driver.requests import OutputLost, Performers, Watch
from sexplang.runtime.driver.run import Run
from sexplang.runtime.journal.journal import Journal

if TYPE_CHECKING:
    from sexplang.runtime.traces.tree import Trace


def drive(
    outcome: Outcome,
    performers: Performers,
    *,
    journal: Journal | None = None,
    parallel: int = 16,
    single_flight: bool = False,
    on_event: Watch | None = None,
    grace: float = GRACE,
    trace: "Trace | None" = None,
    history: AttemptHistory | None = None,
) -> Outcome:
    """Perform the requests of a run until it is Done or Failed, or Suspended where all that is open
    waits for a person. Works inside a running event loop too.

    At most `parallel` model calls are in flight. With `single_flight`, equal calls that are open at
    the same time are sent once. Ctrl-C cancels the run, gives its `finally` bodies `grace` seconds,
    and is raised again when nothing is left running; its cause is the Failed with the partial
    results. An OSError of the output is handled in the same way. `history` is that of a run that is
    kept.
    """
    with interruptible(grace) as interrupt:
        kept = journal if journal is not None else Journal()
        many = max(1, parallel), single_flight
        run = Run(
            outcome,
            performers,
            kept,
            on_event,
            interrupt,
            *many,
            trace,
            history or AttemptHistory(),
        )
        try:
            while isinstance(run.outcome, Suspended) and not run.awaitables and run.step():
                pass
            run.commit()
            if not run.ended and not run.interrupted and not run.is_parked:
                from sexplang.runtime.driver.event_loop import block

                block(run, grace)
            if interrupt.pressed:
                raise KeyboardInterrupt
        except (KeyboardInterrupt, GraceOver, OutputLost) as raised:
            with suppress(KeyboardInterrupt):  # pressed again before the loop starts
                _abandon_now(run, grace)
            run.give_up()
            failed = run.outcome if isinstance(run.outcome, Failed) else None
            raise raised.error if isinstance(raised, OutputLost) else KeyboardInterrupt from failed
        run.commit()
        if run.is_parked:
            run.park()
    return run.outcome


async def adrive(
    outcome: Outcome,
    performers: Performers,
    *,
    journal: Journal | None = None,
    parallel: int = 16,
    single_flight: bool = False,
    on_event: Watch | None = None,
    grace: float = GRACE,
    trace: "Trace | None" = None,
    history: AttemptHistory | None = None,
) -> Outcome:
    """Drive a run from a coroutine, under asyncio or trio. Otherwise the same as `drive`."""
    from sexplang.runtime.driver.event_loop import finish

    kept = journal if journal is not None else Journal()
    many = max(1, parallel), single_flight
    run = Run(
        outcome, performers, kept, on_event, Interrupt(), *many, trace, history or AttemptHistory()
    )
    try:
        await finish(run, grace)
    except OutputLost as lost:
        raise lost.error from None
    run.commit()
    if run.is_parked:
        run.park()
    return run.outcome


def _abandon_now(run: Run, grace: float) -> None:
    """Run the `finally` bodies of an interrupted run, unless their grace time is over."""
    if run.abandoned:
        return
    left = run.interrupt.seconds_left(grace)
    until = monotonic() + left
    with suppress(GraceOver, OutputLost), ending(run.interrupt, left):
        run.abandon()
        while not run.ended and not run.awaitables and monotonic() < until and run.step():
            pass
        if run.awaitables:
            from sexplang.runtime.driver.event_loop import block

            block(run, max(0.0, until - monotonic()), abandoned=True)
