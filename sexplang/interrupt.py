"""Ctrl-C → a run's cancellation, and KeyboardInterrupt at the end; in the command SIGTERM and
SIGHUP do the same.

A run that computes is left between two steps, so that whatever it has entered is left like
anything else; one that waits is cancelled by its event loop; all else is interrupted at once.
"""

import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from time import monotonic
from types import CodeType, FrameType
from typing import Any

from sexplang.machine import SETTLING, STEPPING, STOPPED, Interruption
from sexplang.process import ENDING, end, note, press_again
from sexplang.terms.node import define

GRACE = 5.0
"""Seconds for the `finally` bodies of a run that was interrupted."""

_PATIENCE = 1.0
"""Seconds that an event loop has to hear of Ctrl-C, and to end when it is pressed again."""


@define(eq=False)
class Interrupt:
    """Whether Ctrl-C was pressed, until when there is time to clean up, and what ends a wait."""

    cancel: Callable[[], object] | None = None
    """Tells the event loop that is at work, which hears of it when it comes to it."""
    pressed: bool = False
    until: float = 0.0
    untold: float = 0.0
    """Since when the loop has not heard what it was told; 0 where it has."""
    hurried: float = 0.0
    """When it was pressed again; 0 before that."""

    def left(self, grace: float) -> float:
        """The seconds that are left of a grace time, which begins now unless it has begun."""
        return max(0.0, self.until - monotonic()) if self.pressed else grace

    def tell(self) -> bool:
        """Whether a loop is at work that is told of a press. Nothing may be raised in the midst of
        it; but one that does not hear, or does not end, has to be torn."""
        now = monotonic()
        late = min([since for since in (self.untold, self.hurried) if since], default=now)
        if self.cancel is None or now - late > _PATIENCE:
            return False
        self.untold = self.untold or now
        self.cancel()
        return True

    def hurry(self) -> bool:
        """Whether a loop at work is told that the time to clean up is over."""
        self.until = monotonic()
        is_told = self.tell()
        self.hurried = self.hurried or self.until
        return is_told


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
    around = sys._getframe(2)  # whoever enters this

    def press(number: int, frame: FrameType | None) -> None:
        note(number)
        if _is_delicate(frame, around):
            press_again(number)
            return
        if interrupt.pressed:
            if not interrupt.hurry():
                raise KeyboardInterrupt
            alarm.close()
            alarm.enter_context(ending(0.0))
            if _is_in(frame, SETTLING):
                raise GraceOver
            return
        interrupt.pressed, interrupt.until = True, monotonic() + grace
        alarm.enter_context(ending(grace))
        is_told = interrupt.tell()
        if _is_in(frame, STEPPING):
            raise Interruption
        if not is_told and not _is_in(frame, SETTLING):
            raise KeyboardInterrupt

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
        if _is_in(frame, SETTLING):
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


def _is_delicate(frame: FrameType | None, around: FrameType) -> bool:
    """Whether nothing may be raised now, by what is at work inside of `around`: an import, which
    may drop what is raised, make another error of it, or leave a lock taken for which other threads
    wait; or half an event loop is there."""
    events = sys.modules.get("asyncio.events")
    new_event_loop = None if events is None else vars(events).get("new_event_loop")
    making = None if new_event_loop is None else new_event_loop.__code__
    while frame is not None and frame is not around:
        code = frame.f_code
        if code is making or code.co_filename.startswith("<frozen importlib"):
            return True
        frame = frame.f_back
    return False
