"""A command → its process under a supervisor: three pipes, and word of how it ended.

Law: nothing that it started outlives the `async with`, nor this interpreter.
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
"""Seconds to see that all is gone. The supervisor goes on after them, with nobody to tell."""

PULSE = 1.0
"""Seconds between two looks at whether the supervisor has been stopped."""

SOON = 0.01
"""Seconds between two looks at what was adopted."""

PIECE = 65536

_SUPERVISOR = str(Path(__file__).with_name("supervisor.py"))


@frozen
class Command:
    """What is to be run: a file, its name and arguments, and all that it sees of ours."""

    executable: str
    words: tuple[str, ...]
    environment: Mapping[str, str]
    folder: str
    seconds: float = inf
    """After these it is ended."""


@define(eq=False)
class Process:
    """A command that runs. Its pipes do not block; each has one reader or writer at a time."""

    popen: "subprocess.Popen[bytes]"
    line: socket.socket
    until: float
    """When its time is up, on the monotonic clock, should the supervisor not say so."""
    is_gone: bool = False
    """Whether it has been seen that nothing of it is left."""

    async def send(self, data: bytes) -> None:
        """Writes to its standard input. Raises OSError when nobody reads it any more."""
        assert self.popen.stdin is not None
        file, rest = self.popen.stdin.fileno(), memoryview(data)
        while rest:
            await anyio.wait_writable(file)
            with suppress(BlockingIOError):
                rest = rest[os.write(file, rest) :]

    def close_input(self) -> None:
        """Ends its standard input."""
        assert self.popen.stdin is not None
        self.popen.stdin.close()

    async def receive(self, *, errors: bool = False) -> bytes:
        """A piece of its output; empty at the end."""
        pipe = self.popen.stderr if errors else self.popen.stdout
        assert pipe is not None
        while True:
            # Waiting first lets others run, too, however fast it writes.
            await anyio.wait_readable(pipe.fileno())
            with suppress(BlockingIOError):
                return os.read(pipe.fileno(), PIECE)

    async def wait_for_end(self) -> str:
        """How it ended, all that it started with it: `exit N`, `timeout`, `error ERRNO`; "" if
        nobody can say."""
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
    """Whether this system has what it takes to leave no process behind."""
    if sys.platform != "linux" or not sys.executable or not os.path.exists("/proc/self/stat"):
        return False
    try:
        os.close(os.pidfd_open(os.getpid()))
    except (AttributeError, OSError):  # an old kernel, a sandbox
        return False
    return True


@asynccontextmanager
async def supervise(command: Command) -> AsyncIterator[Process]:
    """Starts a command; whatever happens inside, all its processes end with it. Raises OSError."""
    with reaper.adopt_orphans():
        ours, theirs = socket.socketpair()
        try:
            with theirs:
                popen = reaper.start_guard(lambda: _start(command, theirs.fileno()))
            ours.setblocking(False)
            pipes = [pipe for pipe in (popen.stdin, popen.stdout, popen.stderr) if pipe is not None]
            for pipe in pipes:
                os.set_blocking(pipe.fileno(), False)
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
        start_new_session=True,  # Ctrl-C on the terminal is ours to pass on
    )


async def _wait_until_gone(popen: "subprocess.Popen[bytes]") -> None:
    try:
        await _over(popen)
        status = popen.wait()
    finally:
        reaper.over(popen.pid)
    while status and reaper.end_orphans():  # it was killed, and has left what it watched over
        await anyio.sleep(SOON)


async def _over(popen: "subprocess.Popen[bytes]") -> None:
    try:
        file = os.pidfd_open(popen.pid)
    except ProcessLookupError:  # somebody else has waited for it
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
