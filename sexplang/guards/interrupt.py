"""Ctrl-C as the cancellation of a run, with KeyboardInterrupt at its end; for the command SIGTERM
and SIGHUP too.

The signal handler counts presses. A run that computes looks at the count between two steps, and an
event loop looks at it at intervals. Anything else is interrupted at once, except the loading of an
event loop.
"""

import _signal as signal  # type: ignore[import-not-found]  # without enums
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from time import monotonic

from sexplang.machine import COMPUTING, STOPPED, stop_turn
from sexplang.package.signals import ENDING, note_signal, raise_interrupt
from sexplang.terms.classes.node import define

GRACE = 5.0
"""Seconds for the `finally` bodies of a run that was interrupted."""


class GraceOver(BaseException):
    """The grace time of an interrupted run is over and it still computes."""


@define(eq=False)
class Interrupt:
    """The number of presses of Ctrl-C, and the end of the time to clean up."""

    presses: int = 0
    until: float = 0.0
    is_watched: bool = False
    """Whether an event loop of this thread looks at the presses."""

    @property
    def pressed(self) -> bool:
        return self.presses > 0

    def seconds_left(self, grace: float) -> float:
        """Return the seconds left of the grace time; all of it before a press."""
        return max(0.0, self.until - monotonic()) if self.pressed else grace

    def check(self, until: float = 0.0) -> bool:
        """Return whether Ctrl-C was pressed. Raises GraceOver after the grace time, which ends at
        `until` if nothing was pressed."""
        until = self.until or until
        if until and monotonic() > until:
            raise GraceOver
        return self.presses > 0


_CURRENT: ContextVar[Interrupt | None] = ContextVar("interrupt", default=None)


@contextmanager
def interruptible(grace: float = GRACE) -> Iterator[Interrupt]:
    """Turn the first Ctrl-C into a cancellation of the run in this context.

    Its `finally` bodies have `grace` seconds. A second Ctrl-C ends that time, and a third one
    raises in any case. After any Ctrl-C the end of the context raises KeyboardInterrupt. SIGTERM
    and SIGHUP do the same if the process heeds them.

    Only the main thread can be interrupted, and only if no other handler has the signal. A context
    inside another one is the outer one.
    """
    outer = _CURRENT.get()
    if outer is not None:
        yield outer
        return
    interrupt = Interrupt()

    def press(number: int, frame: object) -> None:
        note_signal(number)
        interrupt.presses += 1
        interrupt.until = monotonic() + (grace if interrupt.presses == 1 else 0.0)
        if COMPUTING.get():
            if interrupt.presses > 1:
                raise GraceOver
            stop_turn()
        elif interrupt.presses == 1 and _is_loading():
            pass  # the next step of the run looks at the presses
        elif not interrupt.is_watched or interrupt.presses > 2:
            raise KeyboardInterrupt

    kept = _CURRENT.set(interrupt), STOPPED.set(interrupt.check)
    ours = {}
    with suppress(ValueError):  # not the main thread
        for number in (signal.SIGINT, *ENDING):
            free = signal.default_int_handler if number == signal.SIGINT else raise_interrupt
            if signal.getsignal(number) is free:
                signal.signal(number, press)
                ours[number] = free
    try:
        yield interrupt
    except GraceOver:
        raise KeyboardInterrupt from None
    finally:
        for number, free in ours.items():
            signal.signal(number, free)
        _CURRENT.reset(kept[0])
        STOPPED.reset(kept[1])
    if interrupt.pressed:
        raise KeyboardInterrupt


def _is_loading() -> bool:
    """Whether a module of an event loop is being loaded. Cut in its midst, it cannot be loaded
    again: its package would miss the modules that are loaded already."""
    for name, module in [*sys.modules.items()]:
        if name.partition(".")[0] in _LOOPS:
            spec = getattr(module, "__spec__", None)
            if getattr(spec, "_initializing", False):
                return True
    return False


_LOOPS = frozenset({"asyncio", "anyio"})


@contextmanager
def ending(interrupt: Interrupt, grace: float) -> Iterator[None]:
    """Raise GraceOver in a run that still computes after `grace` seconds."""
    until = monotonic() + grace
    kept = STOPPED.set(lambda: interrupt.check(until))
    try:
        yield
    finally:
        STOPPED.reset(kept)
