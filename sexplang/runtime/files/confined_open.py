"""Opening files that certainly lie below a folder.

Law: no path is checked first and opened afterwards, so swapping a link in between has no effect.
The kernel resolves the path (`openat2` with RESOLVE_BENEATH). Where it cannot, each component is
opened on its own and no link is followed.
"""

import errno
import os
import stat
from functools import cache
from typing import Any

_OPENAT2 = 437
_BENEATH_NO_MAGICLINKS = 0x08 | 0x02
_NO_SYMLINKS = 0x04
_AT_FDCWD = -100


def open_confined(root: str, relative: str, flags: int) -> int:
    """Open `relative` (no `..`, not absolute) below the folder `root`. Raises OSError."""
    folder = os.open(root, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        return open_inside(folder, relative, flags, links=True)
    finally:
        os.close(folder)


def open_inside(folder: int, relative: str, flags: int, *, links: bool = False) -> int:
    """Open a path below an open folder. Without `links`, a link in the path raises OSError."""
    flags |= os.O_CLOEXEC
    if _kernel_resolves():
        how = _BENEATH_NO_MAGICLINKS | (0 if links else _NO_SYMLINKS)
        return _openat2(folder, relative or ".", flags, how)
    return _step_by_step(folder, relative or ".", flags)


def real_path_of(file: int) -> str | None:
    """Return the real path of an open file, or None if the system does not know it."""
    try:
        return os.readlink(f"/proc/self/fd/{file}")
    except OSError:
        return None


def _openat2(folder: int, relative: str, flags: int, resolve: int) -> int:
    import ctypes

    how = (ctypes.c_uint64 * 3)(flags, 0, resolve)  # struct open_how
    size = ctypes.c_size_t(ctypes.sizeof(how))
    name = ctypes.c_char_p(os.fsencode(relative))
    for _ in range(8):  # EAGAIN: a folder moved while the kernel resolved `..` in a link
        file: int = _syscall()(_OPENAT2, folder, name, ctypes.byref(how), size)
        if file >= 0:
            return file
        number = ctypes.get_errno()
        if number not in (errno.EAGAIN, errno.EINTR):
            break
    raise OSError(number, os.strerror(number), relative)


def _step_by_step(folder: int, relative: str, flags: int) -> int:
    *folders, name = relative.split("/")
    here = os.dup(folder)
    try:
        for part in folders:
            step = os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
            below = _folder(part, step, here)
            os.close(here)
            here = below
        return os.open(name, flags | os.O_NOFOLLOW, dir_fd=here)
    finally:
        os.close(here)


def _folder(name: str, flags: int, here: int) -> int:
    try:
        return os.open(name, flags, dir_fd=here)
    except NotADirectoryError:
        if stat.S_ISLNK(os.stat(name, dir_fd=here, follow_symlinks=False).st_mode):
            raise OSError(errno.ELOOP, "a link in it is not followed", name) from None
        raise


@cache
def _syscall() -> Any:
    import ctypes

    function = ctypes.CDLL(None, use_errno=True).syscall
    function.restype = ctypes.c_long
    return function


@cache
def _kernel_resolves() -> bool:
    try:
        os.close(_openat2(_AT_FDCWD, ".", os.O_PATH | os.O_CLOEXEC, _BENEATH_NO_MAGICLINKS))
    except (OSError, AttributeError):  # an old kernel, a sandbox, another system
        return False
    return True
