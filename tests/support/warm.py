"""Commands in processes of their own that need not start from nothing.

One process for all workers of the tests has loaded what commands load, and makes a copy of itself
for each command: with the descriptors, the directory and the environment of whoever asked, it runs
`sexplang.__main__` from its first line. Loading is most of what the tests of commands would take.
What is loaded when, and how long that takes, is asked of processes that start from nothing.

    python warm.py SOCKET OWNER           (ends when the process OWNER does)
    python warm.py SOCKET OWNER servers   (has loaded what servers of tools load: runs any script)
"""

import gc
import os
import runpy
import selectors
import shutil
import signal
import socket
import sys
import threading
import traceback
from contextlib import redirect_stderr, redirect_stdout, suppress
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages

LOADED = (
    *("click", "lxml.etree", "xmlschema", "jsonschema_rs", "pygments", "genai_prices", "pygls"),
    *("anyio", "asyncio", "trio", "aiohttp", "httpcore2", "anthropic", "mcp"),
    *("ctypes", "difflib", "sqlite3", "tomllib"),
)
"""Besides the package itself, all of it."""
USED = (
    ("run", "-e", "(map (lambda (n) (str n)) (range 3))"),
    ("run", "--json", "-e", '(raise "x")'),
    ("run", "-e", "(one two)"),
    ("run", "--help"),
    ("check", "--effects", "stdlib/loops.sexp"),
    ("fmt", "--check", "stdlib/state.sexp"),
)
"""Commands that are run once, for what they load. None has a thread."""


def main(path, owner, kind="commands"):
    owned = os.pidfd_open(int(owner))
    command = load_servers() if kind == "servers" else load_commands()
    assert threading.active_count() == 1
    gc.collect()
    gc.freeze()
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(path)
        listening.listen(100)
        print("ready", flush=True)
        os.dup2(os.open(os.devnull, os.O_RDWR), 1)
        serve(listening, owned, command)
    shutil.rmtree(Path(path).parent)


def load_commands():
    """What runs a command: `sexplang WORD…`."""
    import sexplang

    for name in LOADED:
        import_module(name)
    for module in walk_packages(sexplang.__path__, "sexplang."):
        import_module(module.name)
    command = import_module("sexplang.__main__").main

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


def serve(listening, owned, command):
    """Until the owner has ended: begin each command as it is asked for, end it with whoever asked,
    and tell its status."""
    waits = selectors.DefaultSelector()
    waits.register(listening, selectors.EVENT_READ)
    waits.register(owned, selectors.EVENT_READ)
    jobs = set()
    while True:
        for key, _ in waits.select():
            if key.fd == owned:
                for pid, _, _ in jobs:
                    os.kill(pid, signal.SIGKILL)
                return
            if key.fileobj is listening:
                asking, _ = listening.accept()
                if pid := begin(asking, command):
                    job = (pid, asking, os.pidfd_open(pid))
                    jobs.add(job)
                    for each in job[1:]:
                        waits.register(each, selectors.EVENT_READ, job)
            elif key.data in jobs:  # not if it has ended already, seen by its other descriptor
                jobs.remove(key.data)
                for each in key.data[1:]:
                    waits.unregister(each)
                end(*key.data, is_left=key.fileobj is key.data[1])


def begin(asking, command):
    """The number of the process of one command; 0 if whoever asked has left."""
    asked, descriptors, _, _ = socket.recv_fds(asking, 1 << 20, 3)
    if not asked:
        asking.close()
        return 0
    length, _, said = asked.partition(b"\n")
    while len(said) < int(length):
        said += asking.recv(1 << 20)
    pid = os.fork()
    if pid == 0:
        os._exit(run(said, descriptors, command))
    for each in descriptors:
        os.close(each)
    return pid


def end(pid, asking, descriptor, is_left):
    if is_left:
        os.kill(pid, signal.SIGKILL)
    _, status = os.waitpid(pid, 0)
    os.close(descriptor)
    with asking, suppress(OSError):
        asking.sendall(str(os.waitstatus_to_exitcode(status)).encode())


def run(said, descriptors, command):
    for to, descriptor in enumerate(descriptors):
        os.dup2(descriptor, to)
    os.closerange(3, 1000)
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
