"""The command as a person runs it: a process of its own, its output and its status."""

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, suppress
from fcntl import LOCK_EX, flock
from functools import cache
from itertools import count
from pathlib import Path
from tempfile import gettempdir, mkdtemp

from support.markdown import ROOT, fences
from support.warm_client import ask

SEXPLANG = [sys.executable, "-m", "sexplang"]
"""A process that starts from nothing."""

HERE = Path(__file__).resolve().parent
COLD = 2
"""So many commands of a worker start from nothing; then it is worth while to keep one warm."""
_begun = count()


@cache
def socket_of(kind="commands"):
    """The socket of the process that has loaded already what commands load, or `servers` of tools:
    `warm.py`. All workers of the tests share it; who needs it first begins it."""
    worker = os.environ.get("PYTEST_XDIST_TESTRUNUID")
    owner = os.getppid() if worker else os.getpid()
    if worker:
        folder = Path(gettempdir()) / f"sexplang-tests-{worker}-{kind}"
        folder.mkdir(mode=0o700, exist_ok=True)
    else:
        folder = Path(mkdtemp(prefix="sexplang-tests-"))
    path = folder / "socket"
    with (folder / "lock").open("w") as lock:
        flock(lock, LOCK_EX)
        if not path.exists():
            _begin(path, owner, kind)
    return str(path)


def _begin(*words):
    process = subprocess.Popen(
        [sys.executable, HERE / "warm.py", *map(str, words)],
        cwd=ROOT,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
    )
    with process.stdout:
        assert process.stdout.readline() == b"ready\n"
    process.returncode = 0  # it outlives this worker


def warm(kind="commands"):
    """The command, by a process that is warm; of the kind `servers`, Python."""
    return [sys.executable, "-I", "-S", str(HERE / "warm_client.py"), socket_of(kind)]


def sexplang(*words, text=None, cwd=ROOT, **environment):
    """Runs the command to its end; where Python itself is to see its environment, it starts from
    nothing."""
    is_cold = any(name.startswith("PYTHON") for name in environment) or next(_begun) < COLD
    environment = os.environ | {"PYTHONPATH": str(ROOT), "NO_COLOR": "1"} | environment
    if is_cold:
        return subprocess.run(
            [*SEXPLANG, *map(str, words)],
            cwd=cwd,
            input=text,
            capture_output=True,
            encoding="utf-8",
            timeout=60,
            env=environment,
        )
    return _run_warm([*map(str, words)], text, cwd, environment)


def _run_warm(words, text, cwd, environment):
    encoded = {os.fsencode(name): os.fsencode(value) for name, value in environment.items()}
    own, theirs = zip(*[os.pipe()[::-1], os.pipe(), os.pipe()], strict=True)
    given = theirs if text is not None else (0, *theirs[1:])
    asking = ask(socket_of(), words, given, os.fsencode(cwd), encoded)
    for each in theirs:
        os.close(each)
    with closing(asking), ThreadPoolExecutor(2) as readers, ExitStack() as files:
        output, errors = (
            readers.submit(files.enter_context(open(each, "rb")).read) for each in own[1:]
        )
        with suppress(BrokenPipeError), open(own[0], "wb") as sending:
            sending.write((text or "").encode())
        asking.settimeout(60)
        try:
            status = int(asking.recv(20))
        except TimeoutError:
            asking.close()  # which kills it
            raise
        said = [each.result().decode().replace("\r\n", "\n") for each in (output, errors)]
    return subprocess.CompletedProcess(words, status, *said)


def served(script=HERE / "mcp_server.py"):
    """The words of the command of a server of tools, which is a script in Python. What such a
    server is made of is loaded already: it begins in a moment."""
    return [*warm("servers"), str(script)]


def console_blocks(path, name=None) -> Iterator[tuple[str, str]]:
    """The commands in a document's `console` blocks, each with the output that it should have; with
    a `name`, those of the blocks that have it."""
    for fence in fences(path.read_text(encoding="utf-8")):
        if fence.kind == "console" and fence.name == name:
            for part in re.split(r"^\$ ", fence.text, flags=re.MULTILINE)[1:]:
                line, _, output = part.partition("\n")
                yield line, output


def run_line(line, cwd=ROOT, **environment):
    """Runs a line of a `console` block, which begins with `sexplang`; its whole output."""
    name, *words = shlex.split(line)
    assert name == "sexplang", line
    done = sexplang(*words, cwd=cwd, **environment)
    return done.stdout + done.stderr
