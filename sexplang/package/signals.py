"""The signals that end this process: Ctrl-C, and SIGTERM and SIGHUP like it."""

import _signal as signal  # type: ignore[import-not-found]  # without enums
import sys
from atexit import _ncallbacks
from posix import _exit

# This is loaded before the command can say what Ctrl-C does, so it loads no `typing`.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn

ENDING: dict[int, str] = {signal.SIGTERM: "terminated", signal.SIGHUP: "hung up"}
"""Signals that end the command like Ctrl-C, and the word for each."""

_ended_by: list[int] = []


def exit_on_interrupt() -> None:
    """Let Ctrl-C end this process at once, while nothing needs cleaning up."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, lambda number, frame: _exit(128 + number))


def raise_on_signals() -> None:
    """Let Ctrl-C, SIGTERM and SIGHUP raise KeyboardInterrupt, unless they are ignored."""
    if signal.getsignal(signal.SIGINT) != signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    for number in ENDING:
        if signal.getsignal(number) == signal.SIG_DFL:
            signal.signal(number, raise_interrupt)


def exit_process(status: int) -> "NoReturn":
    """End the process with a status. From here on Ctrl-C changes nothing; the other signals end
    the process at once."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    restore_signals()
    status = 128 + ending_signal() if status > 128 else status
    is_measured = sys.gettrace() is not None or sys.getprofile() is not None
    if not (is_measured or "threading" in sys.modules or _ncallbacks()):
        # Nothing waits for the end of Python, which would take all modules apart first: a
        # twentieth of the time of a short run.
        try:
            sys.stdout.flush()
            sys.stderr.flush()
            _exit(status)
        except (OSError, ValueError, AttributeError):  # a stream is closed, or there is none
            pass
    sys.exit(status)


def restore_signals() -> None:
    """Let the signals end this process at once."""
    for number in ENDING:
        if signal.getsignal(number) is raise_interrupt:
            signal.signal(number, signal.SIG_DFL)


def raise_interrupt(number: int, frame: object) -> None:
    """Handle SIGTERM or SIGHUP outside of a run."""
    note_signal(number)
    raise KeyboardInterrupt


def note_signal(number: int) -> None:
    """Note that a signal has come; of several the first counts."""
    if number in ENDING and not _ended_by:
        _ended_by.append(number)


def ending_signal() -> int:
    """Return the signal that ends this process: SIGINT if there was no other."""
    return _ended_by[0] if _ended_by else int(signal.SIGINT)


def is_ending() -> bool:
    """Return whether the process is to end, not only its current work."""
    return bool(_ended_by)
