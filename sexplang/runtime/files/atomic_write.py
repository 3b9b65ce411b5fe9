"""Atomic replacement of a file by a new one in the same folder.

Law: no name is checked first and replaced afterwards. The two files exchange names in one step
(`renameat2`). The old file is then checked under its new name, and removed or put back.
"""

import errno
import os
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from typing import Any

_NO_REPLACE, _EXCHANGE = 1, 2

_TRIES = 100
"""Maximum of attempts while another process creates and removes the name."""

_UNAVAILABLE = "the system has no way to replace a file that nobody can get in between"


def replace_file(folder: int, new: str, file: int, name: str, check: Callable[[str], Any]) -> Any:
    """Put `new`, open as `file`, in the place of `name` in the open folder. No entry remains under
    `new`.

    Return the result of `check`, called with the old file's new name, or None if there was no old
    file. An exception of `check` puts the old file back and passes. Raises OSError too.
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
    """Remove the old file, or exchange it back until the new file returns.

    If another replaceable file returns, another process has taken the new file: it was in place, so
    the write is complete. If another process removed the new file, the old one is removed too.
    """
    first = os.stat(old, dir_fd=folder, follow_symlinks=False)
    for _ in range(_TRIES):
        try:
            found = check(old)
        # Whatever is raised, the old file has its name again.
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
    """Put the old file back. Return whether the new file, or none, stood in its place."""
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
    import ctypes  # loaded only by programs that write files

    names = os.fsencode(old), os.fsencode(new)
    if _call()(folder, names[0], folder, names[1], how):
        number = ctypes.get_errno()
        # The file system does not support the flag.
        if number in (errno.EINVAL, errno.ENOSYS):
            raise _unavailable()
        raise OSError(number, os.strerror(number), new)


@cache
def _call() -> Any:
    """Return `renameat2` of the C library. Raises OSError where it is missing."""
    import ctypes

    function = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    if function is None:
        raise _unavailable()
    return function


def _busy(name: str) -> OSError:
    return OSError(errno.EBUSY, "it comes and goes", name)


def _unavailable() -> OSError:
    return OSError(errno.EOPNOTSUPP, _UNAVAILABLE)
