"""A suspended run and performers → its end: what is open is performed, what is withdrawn ends.

Performers that never wait are called inline, without an event loop; `waiting.py` takes over at
the first reply that has to be awaited.
"""

from contextlib import suppress
from time import monotonic
from typing import TYPE_CHECKING

from sexplang.guards.interrupt import GRACE, GraceOver, Interrupt, ending, interruptible
from sexplang.machine import Done, Failed, Outcome
from sexplang.runtime.driver.answers import OutputLost, Performers, Watch
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
) -> Done | Failed:
    """Perform what a run asks for until it is Done or Failed. Works inside a running loop too.

    At most `parallel` model calls are in flight; with `single_flight`, equal ones that are open at
    the same time are sent once. Ctrl-C cancels the run, gives its `finally`
    bodies `grace` seconds and is raised again when nothing is left running, from the Failed that
    tells what the run had been given. An OSError of what takes the output does the same.
    """
    with interruptible(grace) as interrupt:
        kept = journal if journal is not None else Journal()
        many = max(1, parallel), single_flight
        run = Run(outcome, performers, kept, on_event, interrupt, *many, trace)
        try:
            while not run.ended and not run.waiting and run.step():
                pass
            if not run.ended and not run.interrupted:
                from sexplang.runtime.driver.event_loop import block

                block(run, grace)
            if interrupt.pressed:
                raise KeyboardInterrupt
        except (KeyboardInterrupt, OutputLost) as raised:
            with suppress(KeyboardInterrupt):  # pressed again before a loop is there
                _abandon_now(run, grace)
            run.give_up()
            failed = run.outcome if isinstance(run.outcome, Failed) else None
            raise raised.error if isinstance(raised, OutputLost) else raised from failed
    return run.end()


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
) -> Done | Failed:
    """`drive` for callers that have an event loop: asyncio's or trio's."""
    from sexplang.runtime.driver.event_loop import finish

    kept = journal if journal is not None else Journal()
    many = max(1, parallel), single_flight
    run = Run(outcome, performers, kept, on_event, Interrupt(), *many, trace)
    try:
        await finish(run, grace)
    except OutputLost as lost:
        raise lost.error from None
    return run.end()


def _abandon_now(run: Run, grace: float) -> None:
    """The `finally` bodies of an interrupted run, unless they have had their time."""
    if run.abandoned:
        return
    left = run.interrupt.seconds_left(grace)
    until = monotonic() + left
    with suppress(GraceOver, OutputLost), ending(left):
        run.abandon()
        while not run.ended and not run.waiting and monotonic() < until and run.step():
            pass
        if run.waiting:
            from sexplang.runtime.driver.event_loop import block

            block(run, max(0.0, until - monotonic()), abandoned=True)
