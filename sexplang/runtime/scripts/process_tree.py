"""A supervisor that its script has stopped → its processes ended all the same.

No process can refuse to be stopped. One that is cannot end anything, so whoever waits for it does.
"""

import os
import signal
from contextlib import suppress


def is_stopped(pid: int) -> bool:
    """Whether a process stands still because somebody has told it to."""
    return _stat(pid)[:1] == ["T"]


def end_below(root: int) -> None:
    """Wakes a process, and kills what is below it but for its own child, the keeper, which is woken
    too: they bury the others. Once is not enough where somebody starts more, or stops them again.
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
    """Ends a process, if the number is still that of one in the tree."""
    with suppress(OSError):
        file = os.pidfd_open(pid)
        try:
            if pid in tree.get(parent_of(pid), ()):
                signal.pidfd_send_signal(file, signal.SIGKILL)
        finally:
            os.close(file)


def _tree(root: int) -> dict[int, list[int]]:
    """The children of each process."""
    found: dict[int, list[int]] = {}
    for name in filter(str.isdigit, os.listdir("/proc")):
        found.setdefault(parent_of(int(name)), []).append(int(name))
    return found


def is_over(pid: int) -> bool:
    """Whether a process has ended, though nobody may have waited for it."""
    return _stat(pid)[:1] in ([], ["Z"])


def parent_of(pid: int) -> int:
    """The process that has started or adopted it; 0 where there is no such process."""
    fields = _stat(pid)
    return int(fields[1]) if fields else 0


def _stat(pid: int) -> list[str]:
    """State, parent and so on; nothing where there is no such process."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            return file.read().rpartition(b")")[2].decode().split()
    except OSError:
        return []
