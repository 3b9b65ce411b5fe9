"""The command as a person runs it: a process of its own, its output and its status."""

import atexit
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory

from support.markdown import ROOT, fences

SEXPLANG = [sys.executable, "-m", "sexplang"]
"""A process that starts from nothing."""

HERE = Path(__file__).resolve().parent
COLD = 2
"""So many commands of a worker start from nothing; then it is worth while to keep one warm."""
_begun = count()


@cache
def warm(kind="commands"):
    """The command, by a process that has loaded already what commands load: `warm.py`. Of the kind
    `servers`, Python, by a process that has loaded what servers of tools load."""
    place = TemporaryDirectory()
    path = f"{place.name}/socket"
    process = subprocess.Popen(
        [sys.executable, HERE / "warm.py", path, kind],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
    )
    assert process.stdout.readline() == b"ready\n"
    atexit.register(lambda: (process.communicate(), place.cleanup()))
    return [sys.executable, "-I", "-S", str(HERE / "warm_client.py"), path]


def sexplang(*words, text=None, cwd=ROOT, **environment):
    """Runs the command to its end; where Python itself is to see its environment, it starts from
    nothing."""
    is_cold = any(name.startswith("PYTHON") for name in environment) or next(_begun) < COLD
    command = SEXPLANG if is_cold else warm()
    return subprocess.run(
        [*command, *map(str, words)],
        cwd=cwd,
        input=text,
        capture_output=True,
        encoding="utf-8",
        timeout=60,
        env=os.environ | {"PYTHONPATH": str(ROOT), "NO_COLOR": "1"} | environment,
    )


def served(script=HERE / "mcp_server.py"):
    """The words of the command of a server of tools, which is a script in Python. What such a
    server is made of is loaded already: it begins in a moment."""
    return [*warm("servers"), str(script)]


def console_blocks(path) -> Iterator[tuple[str, str]]:
    """The commands in a document's `console` blocks, each with the output that it should have."""
    for fence in fences(path.read_text(encoding="utf-8")):
        if fence.kind == "console":
            for part in re.split(r"^\$ ", fence.text, flags=re.MULTILINE)[1:]:
                line, _, output = part.partition("\n")
                yield line, output


def run_line(line, cwd=ROOT):
    """Runs a line of a `console` block, which begins with `sexplang`; its whole output."""
    name, *words = shlex.split(line)
    assert name == "sexplang", line
    done = sexplang(*words, cwd=cwd)
    return done.stdout + done.stderr
