"""A process between the interpreter and a command: when the command has ended, or nobody waits for
it any more, none of the processes that it started is left.

    python -I -S supervisor.py LINE SECONDS MARK EXECUTABLE NAME ARGUMENT…

LINE is the number of a socket to the interpreter. On it comes one line that says how it ended:
`exit N`, `timeout`, `error ERRNO`. When the other end closes it, by being killed too, everything
ends. MARK is the limit by which the interpreter knows what is ours (`reaper.py`). Standard input,
output and error are the command's alone.

interpreter ── guard ── keeper ── command ── whatever it starts

Guard and keeper adopt every process below them that has lost its parent, so setting itself apart
(a new session, a double fork) helps none of them. The guard is there for the case that the keeper
is killed or stopped; `stopped.py` for the case that the guard is, `reaper.py` for the case that
both are killed. Imports nothing of the package, so that it starts quickly.
"""

import _signal as signal  # type: ignore[import-not-found]  # without enums: a third of the start
import ctypes
import os
import resource
import select
import sys
import time

SUBREAPER, DEATH_SIGNAL, NO_NEW_PRIVILEGES = 36, 1, 38

PULSE = 1.0
"""Seconds between two looks at whether the parent is still there."""

_libc = ctypes.CDLL(None, use_errno=True)

IGNORED = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
"""What a command may send to its parent without being rid of it."""


def main(line: int, seconds: float, mark: int, executable: str, command: list[str]) -> None:
    os.set_inheritable(line, False)
    put_mark(mark)
    prctl(SUBREAPER, 1)
    prctl(DEATH_SIGNAL, signal.SIGCONT)  # should it be stopped when the interpreter ends
    for number in IGNORED:
        signal.signal(number, signal.SIG_IGN)
    interpreter = os.getppid()
    keeper = os.fork()
    if keeper == 0:
        keep(line, seconds, executable, command)
    os.close(line)
    silence()
    watch(keeper, interpreter)
    sweep(None)
    os._exit(0)


def put_mark(mark: int) -> None:
    """Marks this process and all below it. Where no such limit is known, none can be adopted."""
    try:
        resource.setrlimit(resource.RLIMIT_RTTIME, (mark, mark))
    except (OSError, ValueError):
        return


def keep(line: int, seconds: float, executable: str, command: list[str]) -> None:
    """Runs the command, ends all of it, and says how it ended. Does not return."""
    prctl(SUBREAPER, 1)  # not inherited
    guard = os.getppid()
    os.setsid()
    started = os.fork()
    if started == 0:
        become(line, executable, command)
    silence()
    ended = wait(started, line, guard, seconds)
    status = sweep(started)
    code = os.waitstatus_to_exitcode(status)
    tell(line, ended or f"exit {code if code >= 0 else 128 - code}")
    os._exit(0)


def become(line: int, executable: str, command: list[str]) -> None:
    """The command itself: a session of its own, no new rights, nothing of ours but the pipes."""
    try:
        os.setsid()
        prctl(DEATH_SIGNAL, signal.SIGKILL)
        prctl(NO_NEW_PRIVILEGES, 1)  # a process with other rights could not be ended
        signal.pthread_sigmask(signal.SIG_SETMASK, [])
        for number in (*IGNORED, signal.SIGPIPE, signal.SIGXFSZ):
            signal.signal(number, signal.SIG_DFL)
        os.execve(executable, command, os.environ)
    except OSError as error:
        tell(line, f"error {error.errno}")
    finally:
        os._exit(127)


def wait(started: int, line: int, guard: int, seconds: float) -> str:
    """Until the command has ended (""), its time is up, or nobody is there any more."""
    until = time.monotonic() + seconds
    poll = select.poll()
    command = os.pidfd_open(started)
    for file in (command, line):
        poll.register(file, select.POLLIN)
    while True:
        left = until - time.monotonic()
        if left <= 0:
            return "timeout"
        ready = [file for file, _ in poll.poll(1000 * min(left, PULSE))]
        if command in ready:
            return ""
        if line in ready or os.getppid() != guard:
            return "gone"
        reap(started)


def watch(keeper: int, interpreter: int) -> None:
    """Until the keeper has ended; it must where nobody is there any more, or it was stopped."""
    poll = select.poll()
    poll.register(os.pidfd_open(keeper), select.POLLIN)
    while not poll.poll(1000 * PULSE):
        if os.getppid() != interpreter or is_stopped(keeper):
            kill(keeper)


def is_stopped(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            return file.read().rpartition(b")")[2].split()[0] == b"T"
    except OSError:
        return False


def reap(started: int) -> None:
    """Buries what was adopted and has ended; the command itself is kept for `sweep`."""
    flags = os.WEXITED | os.WNOHANG | os.WNOWAIT
    found = os.waitid(os.P_ALL, 0, flags)
    while found is not None and found.si_pid != started:
        os.waitpid(found.si_pid, 0)
        found = os.waitid(os.P_ALL, 0, flags)


def sweep(started: int | None) -> int:
    """Kills until nothing below this process is left; the status of `started`.

    Only our own children are killed, whose numbers nobody else can have got; what they started
    becomes ours when they are dead.
    """
    status = 0
    if started is not None:
        kill(-started)  # its group at once, before any of them can fork again
    while True:
        for pid in children():
            kill(pid)
        buried = False
        try:
            pid, found = os.waitpid(-1, os.WNOHANG)
            while pid:
                buried, status = True, found if pid == started else status
                pid, found = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return status
        if not buried:  # else there may be one that starts another and ends, all the time
            time.sleep(0.001)


def children() -> list[int]:
    """The children of this process, of which some may have ended."""
    try:
        with open(f"/proc/self/task/{os.getpid()}/children") as file:
            return [int(pid) for pid in file.read().split()]
    except FileNotFoundError:  # not every kernel keeps the list
        return find_children()


def find_children() -> list[int]:
    """The same, looked up among all processes."""
    found, own = [], str(os.getpid()).encode()
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{name}/stat", "rb") as file:
                parent = file.read().rpartition(b")")[2].split()[1]
        except OSError:
            continue
        if parent == own:
            found.append(int(name))
    return found


def kill(pid: int) -> None:
    try:
        os.kill(pid, signal.SIGKILL)
    except OSError:
        return  # it is gone


def silence() -> None:
    """Lets go of the command's pipes, which end when it has ended."""
    nowhere = os.open(os.devnull, os.O_RDWR)
    for file in range(3):
        os.dup2(nowhere, file)
    os.close(nowhere)


def tell(line: int, words: str) -> None:
    try:
        os.write(line, words.encode() + b"\n")
    except OSError:
        return  # nobody is there


def prctl(option: int, value: int) -> None:
    if _libc.prctl(option, value, 0, 0, 0) != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


if __name__ == "__main__":
    try:
        number, seconds, mark, executable, *words = sys.argv[1:]
        main(int(number), float(seconds), int(mark), executable, words)
    except OSError as error:  # no more processes, or a system that forbids what we need
        tell(int(sys.argv[1]), f"error {error.errno}")
