"""A new file and a name in the same folder → the file under that name; what stood there is looked
at when it can no longer change places.

Law: no name is checked first and replaced afterwards. The two files exchange their names at one
blow (`renameat2`); what came out is removed if it may be replaced, and else put back.
"""

import ctypes
import errno
import os
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from typing import Any

_NO_REPLACE, _EXCHANGE = 1, 2

_TRIES = 100
"""How often a name may come and go under our hands."""

_UNAVAILABLE = "the system has no way to replace a file that nobody can get in between"


def placed(folder: int, new: str, name: str, check: Callable[[str], Any]) -> Any:
    """`new` takes the place of `name` in the open folder, and nothing is left under `new`.

    What stood there gives what `check` gives of it under the name `new`, nothing None. An exception
    of `check` puts it back. Raises OSError.
    """
    for _ in range(_TRIES):
        with suppress(FileExistsError):
            _rename(folder, new, name, _NO_REPLACE)
            return None
        with suppress(FileNotFoundError):
            _rename(folder, new, name, _EXCHANGE)
            break
    else:
        raise OSError(errno.EBUSY, "it comes and goes", name)
    try:
        found = check(new)
    except BaseException:
        _back(folder, new, name)
        raise
    os.unlink(new, dir_fd=folder)
    return found


def _back(folder: int, old: str, name: str) -> None:
    try:
        _rename(folder, old, name, _EXCHANGE)
    except FileNotFoundError:
        _rename(folder, old, name, _NO_REPLACE)


def _rename(folder: int, old: str, new: str, how: int) -> None:
    names = os.fsencode(old), os.fsencode(new)
    if _call()(folder, names[0], folder, names[1], how):
        number = ctypes.get_errno()
        # A file system that does not know this way.
        if number in (errno.EINVAL, errno.ENOSYS):
            raise _unavailable()
        raise OSError(number, os.strerror(number), new)


@cache
def _call() -> Any:
    """`renameat2` of the C library. Raises OSError where it has none."""
    function = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    if function is None:
        raise _unavailable()
    return function


def _unavailable() -> OSError:
    return OSError(errno.EOPNOTSUPP, _UNAVAILABLE)
