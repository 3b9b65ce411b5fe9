"""This process: how much memory it holds, who may look into it, and Ctrl-C that came too early."""

import sys
from _thread import interrupt_main, start_new_thread
from collections.abc import Callable
from io import FileIO
from resource import getpagesize
from time import sleep

_PAGE = getpagesize()
_DUMPABLE = 4
"""PR_SET_DUMPABLE, which decides it."""


_SOON = 0.01
"""Seconds until Ctrl-C comes again."""


def growth() -> Callable[[], int]:
    """A function that says how many bytes this process holds more than now."""
    before = held()
    return lambda: held() - before


def held() -> int:
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


def press_again() -> None:
    """Ctrl-C once more, very soon: where it came now, nothing can be raised."""

    def press() -> None:
        sleep(_SOON)
        interrupt_main()

    start_new_thread(press, ())
