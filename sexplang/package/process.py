"""This process: how much memory it holds, who may look into it, and the signals that end it."""

import _signal as signal  # type: ignore[import-not-found]  # without enums
import sys
from collections.abc import Callable
from io import FileIO
from posix import _exit
from resource import getpagesize

_PAGE = getpagesize()
_DUMPABLE = 4
"""PR_SET_DUMPABLE, which decides it."""


CREDENTIALS = ("_KEY", "_TOKEN", "_SECRET", "_PASSWORD")
"""How names of variables end whose values are credentials, if they look like it."""

ADDRESSES = ("_URL", "_URI", "_DSN", "_ENDPOINT", "_PROXY")
"""The same of those whose values may be addresses with a credential in them."""

HEADERS = ("_HEADERS",)
"""The same of those whose values are headers."""


def is_named(name: str, endings: tuple[str, ...]) -> bool:
    """Whether a variable has such a name, in large or small letters; `TOKEN` alone is one, too."""
    return f"_{name.upper()}".endswith(endings)


def growth() -> Callable[[], int]:
    """A function that says how many bytes this process holds more than now."""
    before = memory_in_use()
    return lambda: memory_in_use() - before


def memory_in_use() -> int:
    """Bytes in main memory; 0 where the system does not say."""
    try:
        with FileIO("/proc/self/statm") as file:
            return int(file.read().split()[1]) * _PAGE
    except OSError:
        return 0


def hide() -> None:
    """From here on no other process of the same user can look into this one: at its environment,
    in which there may be a key, or at its memory. Nobody can keep that from a superuser."""
    import ctypes

    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_DUMPABLE, 0, 0, 0, 0)


ENDING: dict[int, str] = {signal.SIGTERM: "terminated", signal.SIGHUP: "hung up"}
"""Signals that end the command as Ctrl-C does, and what it says then."""

_ended_by: list[int] = []


def begin() -> None:
    """From here on Ctrl-C ends this process at once: nothing is there yet that would be left."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, lambda number, frame: _exit(128 + number))


def heed() -> None:
    """From here on Ctrl-C, SIGTERM and SIGHUP raise KeyboardInterrupt, unless they are ignored."""
    _ended_by.clear()
    if signal.getsignal(signal.SIGINT) != signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    for number in ENDING:
        if signal.getsignal(number) == signal.SIG_DFL:
            signal.signal(number, end)


def leave(status: int) -> int:
    """The status to end with. Python takes a moment to do so; after Ctrl-C another one is to change
    nothing any more, the other signals end it at once."""
    if status > 128:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        status = 128 + ending_signal()
    restore_signals()
    return status


def restore_signals() -> None:
    """From here on they end this process at once."""
    for number in ENDING:
        if signal.getsignal(number) is end:
            signal.signal(number, signal.SIG_DFL)


def end(number: int, frame: object) -> None:
    """What SIGTERM and SIGHUP do where no run has them."""
    note(number)
    raise KeyboardInterrupt


def note(number: int) -> None:
    """Such a signal has come; of several the first counts."""
    if number in ENDING and not _ended_by:
        _ended_by.append(number)


def ending_signal() -> int:
    """The signal that ends this process: Ctrl-C's if it is no other one."""
    return _ended_by[0] if _ended_by else int(signal.SIGINT)


def is_ending() -> bool:
    """Whether this process is to end, and not only what it does."""
    return bool(_ended_by)
