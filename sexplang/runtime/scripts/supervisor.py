"""The process between the interpreter and a command. When the command or the interpreter has ended,
it ends all processes that the command started.

    python -I -S supervisor.py LINE SECONDS MARK EXECUTABLE NAME ARGUMENT…

LINE is the number of a socket to the interpreter. The supervisor writes one line with the status to
it: `exit N`, `timeout`, `error ERRNO`. If the interpreter closes it or is killed, everything ends.
MARK is the limit that marks the descendants (`reaper.py`). Standard input, output and error belong
to the command.

interpreter ── guard ── keeper ── command ── whatever it starts

Guard and keeper adopt every orphan below them, so a new session or a double fork does not help to
escape. The guard acts if the keeper is killed or stopped; `process_tree.py` acts if the guard is,
and `reaper.py` if both are killed. The module imports nothing of the package, to start quickly.
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
"""Seconds between two checks whether the parent exists."""

_libc = ctypes.CDLL(None, use_errno=True)

IGNORED = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
"""Signals that a command may send to its parent without ending it."""


def main(line: int, seconds: float, mark: int, executable: str, command: list[str]) -> None:
    os.set_inheritable(line, False)
    put_mark(mark)
    prctl(SUBREAPER, 1)
    prctl(DEATH_SIGNAL, signal.SIGCONT)  # in case it is stopped when the interpreter ends
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
    """Set the mark's limit for this process and its descendants. Systems without this limit cannot
    adopt."""
    try:
        resource.setrlimit(resource.RLIMIT_RTTIME, (mark, mark))
    except (OSError, ValueError):
        return


def keep(line: int, seconds: float, executable: str, command: list[str]) -> None:
    """Run the command, end all its processes, and report its status. Does not return."""
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
    """Execute the command in its own session, with no new privileges and only its pipes."""
    try:
        os.setsid()
        prctl(DEATH_SIGNAL, signal.SIGKILL)
        prctl(NO_NEW_PRIVILEGES, 1)  # a process with more rights could not be ended
        signal.pthread_sigmask(signal.SIG_SETMASK, [])
        for number in (*IGNORED, signal.SIGPIPE, signal.SIGXFSZ):
            signal.signal(number, signal.SIG_DFL)
        os.execve(executable, command, os.environ)
    except OSError as error:
        tell(line, f"error {error.errno}")
    finally:
        os._exit(127)


def wait(started: int, line: int, guard: int, seconds: float) -> str:
    """Wait until the command has ended (""), its time is over, or the interpreter is gone. Return
    the status."""
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
    """Wait until the keeper has ended. End it if the interpreter is gone or the keeper was
    stopped."""
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
    """Reap adopted processes that have ended. The command itself is left for `sweep`."""
    flags = os.WEXITED | os.WNOHANG | os.WNOWAIT
    found = os.waitid(os.P_ALL, 0, flags)
    while found is not None and found.si_pid != started:
        os.waitpid(found.si_pid, 0)
        found = os.waitid(os.P_ALL, 0, flags)


def sweep(started: int | None) -> int:
    """Kill until no process below this one is left. Return the status of `started`.

    Only own children are killed: their ids cannot be reused. Their children become ours when they
    are dead.
    """
    status = 0
    if started is not None:
        kill(-started)  # the whole group at once, before a member can fork again
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
        if not buried:  # otherwise processes may start others and end, forever
            time.sleep(0.001)


def children() -> list[int]:
    """Return the children of this process, some of which may have ended."""
    try:
        with open(f"/proc/self/task/{os.getpid()}/children") as file:
            return [int(pid) for pid in file.read().split()]
    except FileNotFoundError:  # some kernels lack the list
        return find_children()


def find_children() -> list[int]:
    """Return the children of this process by searching all processes."""
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
    """Close the command's pipes, so that they end with the command."""
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
    except OSError as error:  # too many processes, or a system without the needed rights
        tell(int(sys.argv[1]), f"error {error.errno}")
