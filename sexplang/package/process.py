"""This process: its memory, its protection, and the signals that end it."""

import _signal as signal  # type: ignore[import-not-found]  # without enums
import sys
from atexit import _ncallbacks
from collections.abc import Callable
from io import FileIO
from posix import _exit, sysconf

# This is loaded before the command can say what Ctrl-C does, so it loads no `typing`.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn

_PAGE = sysconf("SC_PAGE_SIZE")
_DUMPABLE = 4
"""PR_SET_DUMPABLE of prctl."""


CREDENTIALS = ("_KEY", "_TOKEN", "_SECRET", "_PASSWORD")
"""Endings of variables' names whose values are credentials if they look like one."""

ADDRESSES = ("_URL", "_URI", "_DSN", "_ENDPOINT", "_PROXY")
"""Endings of variables' names whose values may be addresses with a credential."""

HEADERS = ("_HEADERS",)
"""Endings of variables' names whose values are headers."""


def is_named(name: str, endings: tuple[str, ...]) -> bool:
    """Return whether a variable's name has such an ending, in any case; `TOKEN` alone has it."""
    return f"_{name.upper()}".endswith(endings)


def growth() -> Callable[[], int]:
    """Return a function that returns the bytes by which this process has grown since."""
    before = memory_in_use()
    return lambda: memory_in_use() - before


def memory_in_use() -> int:
    """Return the bytes in main memory; 0 if the system does not say."""
    try:
        with FileIO("/proc/self/statm") as file:
            return int(file.read().split()[1]) * _PAGE
    except OSError:
        return 0


def hide() -> None:
    """Deny other processes of the same user the environment and the memory of this one.

    The environment may hold a key. A superuser can still read them.
    """
    import ctypes

    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_DUMPABLE, 0, 0, 0, 0)


ENDING: dict[int, str] = {signal.SIGTERM: "terminated", signal.SIGHUP: "hung up"}
"""Signals that end the command like Ctrl-C, and the word for each."""

_ended_by: list[int] = []


def begin() -> None:
    """Let Ctrl-C end this process at once, while nothing needs cleaning up."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, lambda number, frame: _exit(128 + number))


def heed() -> None:
    """Let Ctrl-C, SIGTERM and SIGHUP raise KeyboardInterrupt, unless they are ignored."""
    if signal.getsignal(signal.SIGINT) != signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    for number in ENDING:
        if signal.getsignal(number) == signal.SIG_DFL:
            signal.signal(number, end)


def leave(status: int) -> "NoReturn":
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
        if signal.getsignal(number) is end:
            signal.signal(number, signal.SIG_DFL)


def end(number: int, frame: object) -> None:
    """Handle SIGTERM or SIGHUP outside of a run."""
    note(number)
    raise KeyboardInterrupt


def note(number: int) -> None:
    """Note that a signal has come; of several the first counts."""
    if number in ENDING and not _ended_by:
        _ended_by.append(number)


def ending_signal() -> int:
    """Return the signal that ends this process: SIGINT if there was no other."""
    return _ended_by[0] if _ended_by else int(signal.SIGINT)


def is_ending() -> bool:
    """Return whether the process is to end, not only its current work."""
    return bool(_ended_by)
