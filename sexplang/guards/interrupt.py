"""Ctrl-C → a run's cancellation, and KeyboardInterrupt at the end; in the command SIGTERM and
SIGHUP do the same.

A run that computes is left between two steps, so that whatever it has entered is left like
anything else; one that waits is cancelled by its event loop; all else is interrupted at once.
"""

import signal
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from time import monotonic
from types import CodeType, FrameType
from typing import Any

from sexplang.machine import SETTLING, STEPPING, STOPPED, Interruption
from sexplang.package.process import ENDING, end, note
from sexplang.terms.classes.node import define

GRACE = 5.0
"""Seconds for the `finally` bodies of a run that was interrupted."""

_PATIENCE = 1.0
"""Seconds that an event loop has to hear of Ctrl-C, and to end when it is pressed again."""


@define(eq=False)
class Interrupt:
    """How often Ctrl-C was pressed, the time left to clean up, and the event loop to cancel."""

    cancel: Callable[[], object] | None = None
    """Tells the event loop that is at work, which hears of it when it comes to it."""
    presses: int = 0
    until: float = 0.0
    unheard: float = 0.0
    """Since when the loop has been told and has not obeyed; 0 where it has."""

    @property
    def pressed(self) -> bool:
        return self.presses > 0

    def seconds_left(self, grace: float) -> float:
        """The seconds that are left of a grace time, which begins now unless it has begun."""
        return max(0.0, self.until - monotonic()) if self.pressed else grace

    def tell(self) -> bool:
        """Whether a loop at work is told of a press. Nothing may be raised in the midst of it; one
        that has not obeyed for a second has to be torn."""
        now = monotonic()
        if self.cancel is None or (self.unheard and now - self.unheard > _PATIENCE):
            return False
        self.unheard = self.unheard or now
        self.cancel()
        return True

    def hear(self) -> bool:
        """The loop has heard of a press; whether it is to end without cleaning up."""
        if self.presses < 2:
            self.unheard = 0.0
        return self.presses > 1


class GraceOver(BaseException):
    """The grace time of an interrupted run is over, and it still computes."""


_CURRENT: ContextVar[Interrupt | None] = ContextVar("interrupt", default=None)


@contextmanager
def interruptible(grace: float = GRACE) -> Iterator[Interrupt]:
    """Within this the first Ctrl-C cancels the run, whose `finally` bodies then have `grace`
    seconds; a second one ends that time, and a later one raises in any case. Where there was any,
    the end raises KeyboardInterrupt. So do SIGTERM and SIGHUP, where the process heeds them.

    Only the main thread can be interrupted, and only where nobody else has taken the signal.
    Inside another one it is that one.
    """
    outer = _CURRENT.get()
    ours = {signal.SIGINT: signal.default_int_handler} | dict.fromkeys(ENDING, end)
    ours = {number: free for number, free in ours.items() if _is_ours(number, free)}
    if outer is not None or not ours:
        yield outer or Interrupt()
        return
    interrupt = Interrupt()
    alarm = ExitStack()

    def press(number: int, frame: FrameType | None) -> None:
        note(number)
        interrupt.presses += 1
        is_first = interrupt.presses == 1
        interrupt.until = monotonic() + (grace if is_first else 0.0)
        is_told = interrupt.tell()
        alarm.close()
        alarm.enter_context(ending(interrupt.seconds_left(grace)))
        if is_first and _is_in(frame, STEPPING):
            raise Interruption
        if is_first and _is_in(frame, SETTLING):
            return  # it sees the flag
        if not is_told:
            raise KeyboardInterrupt
        if _may_end(frame):
            raise GraceOver

    kept = _CURRENT.set(interrupt), STOPPED.set(lambda: interrupt.pressed)
    for number in ours:
        signal.signal(number, press)
    try:
        yield interrupt
    except GraceOver:
        raise KeyboardInterrupt from None
    finally:
        for number, free in ours.items():
            signal.signal(number, free)
        alarm.close()
        _CURRENT.reset(kept[0])
        STOPPED.reset(kept[1])
    if interrupt.pressed:
        raise KeyboardInterrupt


@contextmanager
def ending(grace: float) -> Iterator[None]:
    """Within this, a run that still computes after `grace` seconds is ended by GraceOver.

    Only where nobody else has taken the alarm. It comes back, since a computation may begin when
    the time is already up.
    """

    def over(number: int, frame: FrameType | None) -> None:
        if _may_end(frame):
            raise GraceOver

    if not _is_ours(signal.SIGALRM, signal.SIG_DFL):
        yield
        return
    signal.signal(signal.SIGALRM, over)
    signal.setitimer(signal.ITIMER_REAL, max(grace, 0.001), 0.1)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, signal.SIG_DFL)


def _is_ours(number: int, free: Any) -> bool:
    if signal.getsignal(number) is not free:
        return False
    try:
        signal.signal(number, free)  # nothing changes, and only the main thread may
    except ValueError:
        return False
    return True


def _is_in(frame: FrameType | None, codes: frozenset[CodeType]) -> bool:
    """Whether one of these is at work in a frame."""
    while frame is not None:
        if frame.f_code in codes:
            return True
        frame = frame.f_back
    return False


def _may_end(frame: FrameType | None) -> bool:
    """Whether a run computes in a frame and an exception would end it. In the callback of a weak
    reference it would not: Python prints it and goes on. The alarm comes again."""
    while frame is not None:
        if frame.f_code in SETTLING:
            return True
        if frame.f_globals.get("__name__") in ("weakref", "_weakrefset"):
            return False
        frame = frame.f_back
    return False
