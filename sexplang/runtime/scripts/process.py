"""A command's process under a supervisor: three pipes and the status of its end.

Law: no process that it started outlives the `async with`, nor this interpreter.
"""

import os
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from math import inf
from pathlib import Path
from time import monotonic

import anyio

from sexplang.runtime.scripts import reaper
from sexplang.runtime.scripts.process_tree import end_below, is_over, is_stopped
from sexplang.terms.classes.node import define, frozen

GRACE = 5.0
"""Seconds to confirm that all processes are gone. The supervisor continues after them."""

PULSE = 1.0
"""Seconds between two checks whether the supervisor was stopped."""

SOON = 0.01
"""Seconds between two checks of adopted processes."""

PIECE = 65536

_SUPERVISOR = str(Path(__file__).with_name("supervisor.py"))


@frozen
class Command:
    """A command to run: file, name, arguments and complete environment."""

    executable: str
    words: tuple[str, ...]
    environment: Mapping[str, str]
    folder: str
    seconds: float = inf
    """Seconds after which it is ended."""


@define(eq=False)
class Process:
    """A running command. Its pipes do not block; each has one reader or writer at a time."""

    popen: "subprocess.Popen[bytes]"
    line: socket.socket
    until: float
    """The monotonic time of the command's end if the supervisor does not report it."""
    is_gone: bool = False
    """Whether all its processes are confirmed to be gone."""

    async def send(self, data: bytes) -> None:
        """Write to the standard input. Raises OSError if it has no reader any more."""
        assert self.popen.stdin is not None
        file, rest = self.popen.stdin.fileno(), memoryview(data)
        while rest:
            await anyio.wait_writable(file)
            with suppress(BlockingIOError):
                rest = rest[os.write(file, rest) :]

    def close_input(self) -> None:
        """Close the standard input."""
        assert self.popen.stdin is not None
        self.popen.stdin.close()

    async def receive(self, *, errors: bool = False) -> bytes:
        """Return a piece of output; empty at the end."""
        pipe = self.popen.stderr if errors else self.popen.stdout
        assert pipe is not None
        while True:
            # Waiting first lets other tasks run, even if the command writes fast.
            await anyio.wait_readable(pipe.fileno())
            with suppress(BlockingIOError):
                return os.read(pipe.fileno(), PIECE)

    async def wait_for_end(self) -> str:
        """Return the status after the end of all processes: `exit N`, `timeout`, `error ERRNO`, or
        "" if it is unknown."""
        unheard = False
        while True:
            with anyio.move_on_after(PULSE):
                await anyio.wait_readable(self.line)
                return self.line.recv(100).partition(b"\n")[0].decode()
            if monotonic() > self.until:
                return "timeout"
            if unheard or is_stopped(self.popen.pid):
                return ""
            unheard = is_over(self.popen.pid)


def can_supervise() -> bool:
    """Whether this system can end all processes of a command."""
    if sys.platform != "linux" or not sys.executable or not os.path.exists("/proc/self/stat"):
        return False
    try:
        os.close(os.pidfd_open(os.getpid()))
    except (AttributeError, OSError):  # an old kernel, a sandbox
        return False
    return True


@asynccontextmanager
async def supervise(command: Command) -> AsyncIterator[Process]:
    """Start a command; all its processes end with the context. Raises OSError."""
    with reaper.adopt_orphans():
        ours, theirs = socket.socketpair()
        try:
            with theirs:
                popen = reaper.start_guard(lambda: _start(command, theirs.fileno()))
            ours.setblocking(False)
            pipes = [pipe for pipe in (popen.stdin, popen.stdout, popen.stderr) if pipe is not None]
            for pipe in pipes:
                os.set_blocking(pipe.fileno(), False)
        # Our end of the supervisor's pipe is closed whatever is raised: the supervisor ends then.
        except BaseException:
            ours.close()
            raise
        process = Process(popen, ours, monotonic() + command.seconds + PULSE)
        try:
            yield process
        finally:
            ours.close()
            with anyio.CancelScope(shield=True), anyio.move_on_after(GRACE):
                await _wait_until_gone(popen)
                process.is_gone = True
            for pipe in pipes:
                pipe.close()


def _start(command: Command, line: int) -> "subprocess.Popen[bytes]":
    words = [sys.executable, "-I", "-S", _SUPERVISOR, str(line), str(command.seconds)]
    words.append(str(reaper.mark()))
    return subprocess.Popen(
        [*words, command.executable, *command.words],
        bufsize=0,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        pass_fds=(line,),
        cwd=command.folder,
        env=dict(command.environment),
        start_new_session=True,  # the interpreter handles Ctrl-C
    )


async def _wait_until_gone(popen: "subprocess.Popen[bytes]") -> None:
    try:
        await _wait_for_exit(popen)
        status = popen.wait()
    finally:
        reaper.end_guard(popen.pid)
    while status and reaper.end_orphans():  # it was killed and has left orphans
        await anyio.sleep(SOON)


async def _wait_for_exit(popen: "subprocess.Popen[bytes]") -> None:
    try:
        file = os.pidfd_open(popen.pid)
    except ProcessLookupError:  # another thread has reaped it
        return
    try:
        ended = False
        while not ended:
            with anyio.move_on_after(PULSE):
                await anyio.wait_readable(file)
                ended = True
            if not ended:
                end_below(popen.pid)
    finally:
        os.close(file)
