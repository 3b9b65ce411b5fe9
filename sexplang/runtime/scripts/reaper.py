"""Both supervisors of a script killed → what it started ended all the same, by the interpreter.

While one runs, the interpreter adopts what loses its parent below it (PR_SET_CHILD_SUBREAPER). That
may be a process of an embedding program too. So each supervisor begins with a limit that nothing
else has, which what it starts inherits, whatever session or environment it gives itself.
"""

import ctypes
import os
import resource
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from subprocess import Popen
from threading import Lock

from sexplang.runtime.scripts.process_tree import parent_of
from sexplang.terms.classes.node import define, field

SUBREAPER, IS_SUBREAPER = 36, 37

MARK = "Max realtime timeout"
"""The limit as the system writes it. It bounds nothing here: it is 146,000 years."""

NESTED = 1000
"""A limit can only be lowered: a script that runs the interpreter has others below its own."""


@define(eq=False)
class _Adopting:
    """Who needs it at present, in all threads of this process."""

    guards: set[int] = field(factory=set)
    count: int = 0
    before: int = 0
    lock: Lock = field(factory=Lock)


_adopting = _Adopting()


def mark() -> int:
    """The limit with which the scripts of this process run."""
    hard = resource.getrlimit(resource.RLIMIT_RTTIME)[1]
    return (hard if 0 < hard < 1 << 62 else 1 << 62) - 1


@contextmanager
def adopt_orphans() -> Iterator[None]:
    """Inside, this process adopts; behind the last one it is as it was before the first."""
    with _adopting.lock:
        if not _adopting.count:
            _adopting.before = _is_subreaper()
            _set_subreaper(1)
        _adopting.count += 1
    try:
        yield
    finally:
        with _adopting.lock:
            _adopting.count -= 1
            if not _adopting.count:
                _set_subreaper(_adopting.before)


def start_guard(start: "Callable[[], Popen[bytes]]") -> "Popen[bytes]":
    """A guard, which is to be left alone until it is `over`."""
    with _adopting.lock:
        popen = start()
        _adopting.guards.add(popen.pid)
    return popen


def over(guard: int) -> None:
    """A guard has ended."""
    with _adopting.lock:
        _adopting.guards.discard(guard)


def end_orphans() -> bool:
    """Kills what this process has adopted from its scripts; whether there was anything. What that
    had started is adopted next: once is not enough."""
    with _adopting.lock:
        found = [pid for pid in _pids() if _is_orphan(pid)]
        for pid in found:
            _end(pid)
    return bool(found)


def _pids() -> list[int]:
    return [int(name) for name in os.listdir("/proc") if name.isdigit()]


def _is_orphan(pid: int) -> bool:
    return parent_of(pid) == os.getpid() and pid not in _adopting.guards and _is_marked(pid)


def _is_marked(pid: int) -> bool:
    try:
        lines = Path(f"/proc/{pid}/limits").read_text().splitlines()
    except OSError:
        return False
    most = mark()
    hard = [line.split()[-2] for line in lines if line.startswith(MARK)]
    return any(each.isdigit() and most - NESTED < int(each) <= most for each in hard)


def _end(pid: int) -> None:
    """Ends and buries a process, if the number is still that of an orphan."""
    with suppress(OSError):
        file = os.pidfd_open(pid)
        try:
            if _is_orphan(pid):
                signal.pidfd_send_signal(file, signal.SIGKILL)
                os.waitpid(pid, os.WNOHANG)
        finally:
            os.close(file)


def _is_subreaper() -> int:
    found = ctypes.c_int()
    ctypes.CDLL(None).prctl(IS_SUBREAPER, ctypes.byref(found), 0, 0, 0)
    return found.value


def _set_subreaper(value: int) -> None:
    ctypes.CDLL(None).prctl(SUBREAPER, value, 0, 0, 0)
