"""Ctrl-C while an event loop runs → the run's cancellation, and KeyboardInterrupt at the end.

asyncio's own handling waits for the program to wait, which one that computes does not do.
"""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

from attrs import define


@define(eq=False)
class Interrupt:
    """Whether Ctrl-C was pressed, and what it does to a run that waits."""

    cancel: Callable[[], object] | None = None
    pressed: bool = False


class GraceOver(BaseException):
    """The grace time of an interrupted run is over, and it still computes."""


@contextmanager
def ending(grace: float, computes: Callable[[], bool]) -> Iterator[None]:
    """Within this, a computation that goes on after `grace` seconds raises GraceOver.

    Only the main thread can be interrupted, and only where nobody else has taken the alarm. The
    alarm comes back, since a computation may begin when the time is already up.
    """

    def over(number: int, frame: FrameType | None) -> None:
        if computes():
            raise GraceOver

    ours = (
        threading.current_thread() is threading.main_thread()
        and hasattr(signal, "setitimer")
        and signal.getsignal(signal.SIGALRM) is signal.SIG_DFL
    )
    if not ours:
        yield
        return
    signal.signal(signal.SIGALRM, over)
    signal.setitimer(signal.ITIMER_REAL, max(grace, 0.001), 0.1)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, signal.SIG_DFL)


@contextmanager
def interruptible(computes: Callable[[], bool]) -> Iterator[Interrupt]:
    """Within this, Ctrl-C raises in the midst of computing and cancels what waits; a second one
    raises in any case. Only where nobody else has taken the signal."""
    interrupt = Interrupt()

    def press(number: int, frame: FrameType | None) -> None:
        again, interrupt.pressed = interrupt.pressed, True
        if again or computes() or interrupt.cancel is None:
            raise KeyboardInterrupt
        interrupt.cancel()

    ours = (
        threading.current_thread() is threading.main_thread()
        and signal.getsignal(signal.SIGINT) is signal.default_int_handler
    )
    if not ours:
        yield interrupt
        return
    signal.signal(signal.SIGINT, press)
    try:
        yield interrupt
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)
