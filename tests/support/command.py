"""The command as a person runs it: a process of its own, its output and its status."""

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator

from support.markdown import ROOT, fences

SEXPLANG = [sys.executable, "-m", "sexplang"]


def sexplang(*words, text=None, cwd=ROOT, **environment):
    """Runs the command to its end."""
    return subprocess.run(
        [*SEXPLANG, *map(str, words)],
        cwd=cwd,
        input=text,
        capture_output=True,
        encoding="utf-8",
        timeout=60,
        env=os.environ | {"PYTHONPATH": str(ROOT), "NO_COLOR": "1"} | environment,
    )


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
