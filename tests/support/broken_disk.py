"""Disks that fail: syncs that the kernel refuses, a file system that is full, and rights that a
process has lost."""

import ctypes
import errno
import os
import platform
import struct
from pathlib import Path
from sqlite3 import OperationalError
from typing import Any

_LIBC = ctypes.CDLL(None, use_errno=True)

_SYNCS = {"x86_64": (74, 75), "aarch64": (82, 83)}
"""The numbers of the system calls `fsync` and `fdatasync`."""

_PR_SET_SECCOMP, _PR_SET_NO_NEW_PRIVS, _MODE_FILTER = 22, 38, 2
_LOAD, _JUMP_IF_EQUAL, _RETURN = 0x20, 0x15, 0x06
_ALLOW, _FAIL = 0x7FFF0000, 0x00050000

_CLONE_NEWNS, _MS_REMOUNT, _MS_REC, _MS_PRIVATE = 0x20000, 32, 16384, 1 << 18

NOBODY = 65_534


class _Filter(ctypes.Structure):
    """The `sock_fprog` of the kernel."""

    _fields_ = (("length", ctypes.c_ushort), ("code", ctypes.c_void_p))


def refuse_syncs() -> bool:
    """Let each further sync of this process fail with EIO. Return False where the kernel has no
    such filters."""
    rules = [(_LOAD, 0, 0, 0)]
    for number in _SYNCS.get(platform.machine(), ()):
        rules += [(_JUMP_IF_EQUAL, 0, 1, number), (_RETURN, 0, 0, _FAIL | errno.EIO)]
    rules.append((_RETURN, 0, 0, _ALLOW))
    code = ctypes.create_string_buffer(b"".join([struct.pack("HBBI", *rule) for rule in rules]))
    given = _Filter(len(rules), ctypes.addressof(code))
    _LIBC.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    is_set = 0 == _LIBC.prctl(_PR_SET_SECCOMP, _MODE_FILTER, ctypes.byref(given), 0, 0)
    return is_set and len(rules) > 2


class FailingSyncs:
    """A connection of SQLite whose process can sync no more from its N-th write on. Where the
    kernel cannot do that, the writes fail."""

    def __init__(self, db: Any, number: int) -> None:
        self.db, self.number, self.is_refused = db, number, False

    def execute(self, statement: str, *given: Any) -> Any:
        if statement.startswith(("insert", "update", "commit")):
            self.number -= 1
            if self.number == 0:
                self.is_refused = not refuse_syncs()
            if self.is_refused:
                raise OperationalError("disk I/O error")
        return self.db.execute(statement, *given)

    def executemany(self, statement: str, *given: Any) -> Any:
        return self.db.executemany(statement, *given)

    def close(self) -> None:
        self.db.close()


def mount_small(folder: Path, size: int) -> bool:
    """Mount a file system of so many bytes on a folder, for this process alone; or change the size
    of that which is there. Return False where this process may not."""
    data = f"size={size}".encode()
    is_there = os.path.ismount(folder)
    if not is_there:
        if _LIBC.unshare(_CLONE_NEWNS) != 0:
            return False
        _LIBC.mount(b"none", b"/", None, _MS_REC | _MS_PRIVATE, None)
    flags = _MS_REMOUNT if is_there else 0
    return 0 == _LIBC.mount(b"tmpfs", bytes(folder), b"tmpfs", flags, data)


def become_nobody() -> None:
    """Give up the rights of the superuser, who may write everywhere."""
    if os.geteuid() == 0:
        os.setgroups([])
        os.setegid(NOBODY)
        os.seteuid(NOBODY)
