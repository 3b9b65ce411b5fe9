"""The person's command that is told of new questions: `on-question` in the configuration."""

import json
import subprocess
import sys
import time
from tempfile import TemporaryFile

from sexplang.runtime.journal.questions import Question

SECONDS = 30
"""The time that all commands have together."""

_STDERR = 2
"""Where the output of a command goes: standard output is the program's."""

_AT_ONCE = 16
"""The number of commands that run at the same time."""


def tell_questions(hook: list[str], questions: list[Question]) -> None:
    """Run a command for each question, which it gets as JSON on its standard input. A warning says
    that one has failed, or was not over in time and is ended."""
    until = time.monotonic() + SECONDS
    for at in range(0, len(questions), _AT_ONCE):
        begun = [_begin(hook, each) for each in questions[at : at + _AT_ONCE]]
        for process in begun:
            if process is not None:
                _wait(hook, process, until)


def _begin(hook: list[str], question: Question) -> "subprocess.Popen[bytes] | None":
    with TemporaryFile() as told:
        told.write(json.dumps(question.plain(), ensure_ascii=False).encode())
        told.seek(0)
        try:
            return subprocess.Popen(hook, stdin=told, stdout=_STDERR)
        except OSError as problem:
            _warn(hook, problem.strerror or "it cannot be started")
            return None


def _wait(hook: list[str], process: "subprocess.Popen[bytes]", until: float) -> None:
    try:
        status = process.wait(max(0.0, until - time.monotonic()))
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
        _warn(hook, f"it was not over in {SECONDS} seconds, and is ended")
    else:
        if status:
            _warn(hook, f"it failed with status {status}")


def _warn(hook: list[str], why: str) -> None:
    print(f"warning: the command of on-question, {hook[0]}: {why}", file=sys.stderr)
