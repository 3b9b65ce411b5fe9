"""The end of orphans whose two supervisors were killed.

While a script runs, the interpreter adopts orphans below it (PR_SET_CHILD_SUBREAPER). They may
belong to an embedding program. So each supervisor starts with a unique resource limit, which all
its descendants inherit, whatever session or environment they set.
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
"""The limit's name in /proc. Its value, about 146,000 years, limits nothing."""

NESTED = 1000
"""The step between marks. Limits can only be lowered, so nested interpreters use lower ones."""


@define(eq=False)
class _Adoption:
    """The threads of this process that need adoption at present."""

    guards: set[int] = field(factory=set)
    count: int = 0
    before: int = 0
    lock: Lock = field(factory=Lock)


_adopting = _Adoption()


def mark() -> int:
    """Return the limit of this process's scripts."""
    hard = resource.getrlimit(resource.RLIMIT_RTTIME)[1]
    return (hard if 0 < hard < 1 << 62 else 1 << 62) - 1


@contextmanager
def adopt_orphans() -> Iterator[None]:
    """Adopt orphans within the context. After the last context, the former state is restored."""
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
    """Start a guard and register it as a live process until `end_guard`."""
    with _adopting.lock:
        popen = start()
        _adopting.guards.add(popen.pid)
    return popen


def end_guard(guard: int) -> None:
    """Unregister a guard that has ended."""
    with _adopting.lock:
        _adopting.guards.discard(guard)


def end_orphans() -> bool:
    """Kill the orphans adopted from scripts. Return whether there were any. Their children are
    adopted next, so the caller repeats it."""
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
    """Kill and reap a process if its id still belongs to an orphan."""
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
