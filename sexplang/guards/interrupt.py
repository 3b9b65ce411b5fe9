"""Ctrl-C as the cancellation of a run, with KeyboardInterrupt at its end; for the command SIGTERM
and SIGHUP too.

A run that computes is left between two steps and unwinds as usual. A run that waits is cancelled by
its event loop. Anything else is interrupted at once.
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
"""Seconds for an event loop to notice Ctrl-C, and to end when it is pressed again."""


@define(eq=False)
class Interrupt:
    """The number of presses of Ctrl-C, the time left to clean up, and the event loop to cancel."""

    cancel: Callable[[], object] | None = None
    """Cancels the running event loop, when it comes to it."""
    presses: int = 0
    until: float = 0.0
    unheard: float = 0.0
    """The time since which the loop has not noticed; 0 if it has."""

    @property
    def pressed(self) -> bool:
        return self.presses > 0

    def seconds_left(self, grace: float) -> float:
        """Return the seconds left of the grace time; all of it before a press."""
        return max(0.0, self.until - monotonic()) if self.pressed else grace

    def tell(self) -> bool:
        """Cancel the running loop, if there is one that has not ignored a press for a second.

        Return whether it was cancelled. No exception may be raised inside a loop that was.
        """
        now = monotonic()
        if self.cancel is None or (self.unheard and now - self.unheard > _PATIENCE):
            return False
        self.unheard = self.unheard or now
        self.cancel()
        return True

    def hear(self) -> bool:
        """Note that the loop has noticed; return whether it is to end without cleaning up."""
        if self.presses < 2:
            self.unheard = 0.0
        return self.presses > 1


class GraceOver(BaseException):
    """The grace time of an interrupted run is over and it still computes."""


_CURRENT: ContextVar[Interrupt | None] = ContextVar("interrupt", default=None)


@contextmanager
def interruptible(grace: float = GRACE) -> Iterator[Interrupt]:
    """Turn the first Ctrl-C into a cancellation of the run in this context.

    Its `finally` bodies have `grace` seconds. A second Ctrl-C ends that time, and a later one
    raises in any case. After any Ctrl-C the end of the context raises KeyboardInterrupt. SIGTERM
    and SIGHUP do the same if the process heeds them.

    Only the main thread can be interrupted, and only if no other handler has the signal. A context
    inside another one is the outer one.
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
            return  # the run sees the flag
        if not is_told:
            raise KeyboardInterrupt
        if _may_end(frame):
            raise GraceOver

    kept = _CURRENT.set(interrupt), STOPPED.set(lambda: interrupt.presses > 0)
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
    """Raise GraceOver in a run that still computes after `grace` seconds.

    It works only if no other handler has the alarm. The alarm repeats, because a computation may
    begin when the time is already up.
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
        signal.signal(number, free)  # no change: only the main thread may set it
    except ValueError:
        return False
    return True


def _is_in(frame: FrameType | None, codes: frozenset[CodeType]) -> bool:
    """Return whether a frame or one of its callers runs one of the codes."""
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
