"""The end of a process tree whose supervisor was stopped by the script.

A process cannot refuse SIGSTOP, and a stopped one cannot end others. So the interpreter does it.
"""

import os
import signal
from contextlib import suppress


def is_stopped(pid: int) -> bool:
    """Whether a process is stopped by a signal."""
    return _stat(pid)[:1] == ["T"]


def end_below(root: int) -> None:
    """Wake a process and kill its descendants except its child, the keeper, which is woken too.
    Both then reap the others. The caller repeats this while processes are started or stopped again.
    """
    tree = _tree(root)
    keepers = tree.get(root, [])
    for pid in (root, *keepers):
        with suppress(OSError):
            os.kill(pid, signal.SIGCONT)
    work = [pid for keeper in keepers for pid in tree.get(keeper, [])]
    while work:
        pid = work.pop()
        work += tree.get(pid, [])
        _kill(pid, tree)


def _kill(pid: int, tree: dict[int, list[int]]) -> None:
    """Kill a process if its id still belongs to the tree."""
    with suppress(OSError):
        file = os.pidfd_open(pid)
        try:
            if pid in tree.get(parent_of(pid), ()):
                signal.pidfd_send_signal(file, signal.SIGKILL)
        finally:
            os.close(file)


def _tree(root: int) -> dict[int, list[int]]:
    """Return the children of each process."""
    found: dict[int, list[int]] = {}
    for name in filter(str.isdigit, os.listdir("/proc")):
        found.setdefault(parent_of(int(name)), []).append(int(name))
    return found


def is_over(pid: int) -> bool:
    """Whether a process has ended, reaped or not."""
    return _stat(pid)[:1] in ([], ["Z"])


def parent_of(pid: int) -> int:
    """Return the parent of a process; 0 if there is no such process."""
    fields = _stat(pid)
    return int(fields[1]) if fields else 0


def _stat(pid: int) -> list[str]:
    """Return the fields of /proc/PID/stat from the state on; empty if there is no such process."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            return file.read().rpartition(b")")[2].decode().split()
    except OSError:
        return []
