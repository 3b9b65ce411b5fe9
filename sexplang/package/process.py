"""This process: its memory, its protection, and the variables of its environment that hold
credentials."""

import sys
from collections.abc import Callable
from io import FileIO
from posix import sysconf

_PAGE = sysconf("SC_PAGE_SIZE")
_DUMPABLE = 4
"""PR_SET_DUMPABLE of prctl."""

CREDENTIALS = ("_KEY", "_TOKEN", "_SECRET", "_PASSWORD")
"""Endings of variables' names whose values are credentials if they look like one."""

ADDRESSES = ("_URL", "_URI", "_DSN", "_ENDPOINT", "_PROXY")
"""Endings of variables' names whose values may be addresses with a credential."""

HEADERS = ("_HEADERS",)
"""Endings of variables' names whose values are headers."""


IDEMPOTENCY_KEY = "SEXPLANG_IDEMPOTENCY_KEY"
"""The variable of scripts that holds the key of their request. It is no credential."""


def is_named(name: str, endings: tuple[str, ...]) -> bool:
    """Return whether a variable's name has such an ending, in any case; `TOKEN` alone has it."""
    return name != IDEMPOTENCY_KEY and f"_{name.upper()}".endswith(endings)


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
