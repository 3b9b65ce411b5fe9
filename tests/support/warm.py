"""Commands in processes of their own that need not start from nothing.

A process for each worker of the tests has loaded what commands load, and makes a copy of itself for
each command: with the descriptors, the directory and the environment of whoever asked, it runs
`sexplang.__main__` from its first line. Loading is most of what the tests of commands would take.
What is loaded when, and how long that takes, is asked of processes that start from nothing.

    python warm.py SOCKET           (ends when its standard input does)
    python warm.py SOCKET servers   (has loaded what servers of tools load, and runs any script)
"""

import gc
import os
import runpy
import select
import signal
import socket
import sys
import threading
import traceback
from contextlib import redirect_stderr, redirect_stdout, suppress
from importlib import import_module
from pathlib import Path

LOADED = (
    *(
        "sexplang.hosts.cli.run",
        "sexplang.hosts.settings.run_arguments",
        "sexplang.hosts.cli.commands",
    ),
    *(
        "sexplang.runtime.journal.recording_reader",
        "sexplang.runtime.traces",
        "click",
        "lxml.etree",
    ),
    *("xmlschema", "jsonschema_rs", "anyio", "asyncio", "aiohttp", "anthropic"),
    *("mcp", "genai_prices", "pygments", "sexplang.hosts.language_server.server"),
)
USED = (
    ("run", "-e", "(map (lambda (n) (str n)) (range 3))"),
    ("run", "--json", "-e", '(raise "x")'),
    ("run", "-e", "(one two)"),
    ("run", "--help"),
    ("check", "--effects", "stdlib/loops.sexp"),
    ("fmt", "--check", "stdlib/state.sexp"),
)
"""Commands that are run once, for what they load. None has a thread."""


def main(path, kind="commands"):
    command = load_servers() if kind == "servers" else load_commands()
    assert threading.active_count() == 1
    gc.collect()
    gc.freeze()
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(path)
        listening.listen()
        print("ready", flush=True)
        os.dup2(os.open(os.devnull, os.O_RDWR), 1)
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)
        while sys.stdin not in select.select([listening, sys.stdin], [], [])[0]:
            asking, _ = listening.accept()
            if os.fork() == 0:
                keep(asking, command)
            asking.close()


def load_commands():
    """What runs a command: `sexplang WORD…`."""
    for name in LOADED:
        import_module(name)
    from sexplang.__main__ import main as command

    with open(os.devnull, "w") as nowhere, redirect_stdout(nowhere), redirect_stderr(nowhere):
        for words in USED:
            sys.argv = ["sexplang", *words]
            with suppress(SystemExit):
                command()
    return command


def load_servers():
    """What runs a script: `python SCRIPT WORD…`."""
    import_module("mcp_server")

    def command():
        del sys.argv[0]
        sys.path[0] = str(Path(sys.argv[0]).resolve().parent)
        runpy.run_path(sys.argv[0], run_name="__main__")

    return command


def keep(asking, command):
    """One command: begun as it was asked for, ended with whoever asked, its status told."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    asked, descriptors, _, _ = socket.recv_fds(asking, 1 << 20, 3)
    length, _, said = asked.partition(b"\n")
    while len(said) < int(length):
        said += asking.recv(1 << 20)
    pid = os.fork()
    if pid == 0:
        asking.close()
        os._exit(run(said, descriptors, command))
    ended = os.pidfd_open(pid)
    if asking in select.select([asking, ended], [], [])[0]:
        os.kill(pid, signal.SIGKILL)
    _, status = os.waitpid(pid, 0)
    asking.sendall(str(os.waitstatus_to_exitcode(status)).encode())
    os._exit(0)


def run(said, descriptors, command):
    for to, descriptor in enumerate(descriptors):
        os.dup2(descriptor, to)
        os.close(descriptor)
    where, count, *rest = map(os.fsdecode, said.split(b"\0"))
    os.chdir(where)
    words, pairs = rest[: int(count)], rest[int(count) :]
    os.environ.clear()
    os.environ.update(pair.split("=", 1) for pair in pairs)
    sys.argv = ["sexplang", *words]
    status = 1
    try:
        command()
    except SystemExit as ending:
        status = ending.code or 0
    except BaseException:
        traceback.print_exc()
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            status = 120
    return status


if __name__ == "__main__":
    main(*sys.argv[1:])
