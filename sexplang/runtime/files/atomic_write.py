"""A new file and a name in the same folder → the file under that name; what stood there is looked
at when it can no longer change places.

Law: no name is checked first and replaced afterwards. The two files exchange their names at one
blow (`renameat2`); what came out is removed if it may be replaced, and else put back.
"""

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


def replace_file(folder: int, new: str, file: int, name: str, check: Callable[[str], Any]) -> Any:
    """`new`, which is open as `file`, takes the place of `name` in the open folder, and nothing is
    left under `new`.

    What stood there gives what `check` gives of it under the name `new`, nothing gives None. Where
    `check` raises, it goes back. Raises OSError too.
    """
    for _ in range(_TRIES):
        with suppress(FileExistsError):
            _rename(folder, new, name, _NO_REPLACE)
            return None
        with suppress(FileNotFoundError):
            _rename(folder, new, name, _EXCHANGE)
            return _remove_old(folder, new, file, name, check)
    raise _busy(name)


def _remove_old(folder: int, old: str, file: int, name: str, check: Callable[[str], Any]) -> Any:
    """What came out is removed, or goes back until the new file comes out for it.

    If instead something that may be replaced comes out, somebody took the new file from its place
    meanwhile: it was there, so all is done. If somebody removed the new file, they meant what it
    stood for, which goes too.
    """
    first = os.stat(old, dir_fd=folder, follow_symlinks=False)
    for _ in range(_TRIES):
        try:
            found = check(old)
        except BaseException:
            here = os.stat(old, dir_fd=folder, follow_symlinks=False)
            if os.fstat(file).st_nlink == 0 and os.path.samestat(first, here):
                os.unlink(old, dir_fd=folder)
                raise
            if _is_back(folder, old, file, name):
                raise
        else:
            os.unlink(old, dir_fd=folder)
            return found
    raise _busy(name)


def _is_back(folder: int, old: str, file: int, name: str) -> bool:
    """Puts it back; whether it was the new file, or nothing, that stood there."""
    try:
        _rename(folder, old, name, _EXCHANGE)
    except FileNotFoundError:
        with suppress(FileExistsError):
            _rename(folder, old, name, _NO_REPLACE)
            return True
        return False
    return is_named(folder, old, file)


def is_named(folder: int, name: str, file: int) -> bool:
    """Whether an open file has this name in the folder."""
    try:
        there = os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return False
    return os.path.samestat(there, os.fstat(file))


def _rename(folder: int, old: str, new: str, how: int) -> None:
    import ctypes  # a program that writes no file does without

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
    import ctypes

    function = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    if function is None:
        raise _unavailable()
    return function


def _busy(name: str) -> OSError:
    return OSError(errno.EBUSY, "it comes and goes", name)


def _unavailable() -> OSError:
    return OSError(errno.EOPNOTSUPP, _UNAVAILABLE)
