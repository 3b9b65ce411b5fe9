"""Four walks through the package: how many calls, hops from file to file, and files each takes.

    a  the XML of a task to its core; a call of it to the open request; the reply to the result
    b  an operation to the run that waits; its reply to the end; the same with a driver around it
    c  a request for a subtask to its first model request; its reply to the parent's next one
    d  `--budget usd=0.5` to the account; a call that does not fit to its refusal

A call is one of a Python function of `sexplang/`, and a hop is a call whose caller is in another
file of it. The files of a walk are those of all its legs. Each walk is done twice, with other
words, and counted the second time. A leg that begins in the middle of a program begins with a reply
to its operation `go`. The first leg of `d` is the difference that the option makes.

Only public names are used, so that other versions of the package can be counted in the same way.

    python benchmarks/journeys.py [--files]
"""

import argparse
import sys
from collections import Counter
from collections.abc import Callable
from contextlib import chdir, redirect_stdout, suppress
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory
from types import CodeType, FrameType
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import sexplang
from sexplang.__main__ import main as command

PACKAGE = str(Path(sexplang.__file__).parent) + "/"

Step = tuple[CodeType, str | None]
"""A function that was called, and the file of the package that its caller is in."""
Legs = dict[str, list[Step]]


class Watch:
    """The calls of the package's functions from `begin` to `end`; also a context."""

    def __init__(self) -> None:
        self.steps: list[Step] = []

    def begin(self) -> None:
        sys.setprofile(self._see)

    def end(self) -> None:
        sys.setprofile(None)

    def __enter__(self) -> "Watch":
        self.begin()
        return self

    def __exit__(self, *raised: object) -> None:
        self.end()

    def _see(self, frame: FrameType, event: str, _: Any) -> None:
        code = frame.f_code
        if event != "call" or not code.co_filename.startswith(PACKAGE):
            return
        above = frame.f_back
        while above is not None and not above.f_code.co_filename.startswith(PACKAGE):
            above = above.f_back
        self.steps.append((code, above.f_code.co_filename if above is not None else None))


def watched(function: Callable[[], Any]) -> tuple[Any, list[Step]]:
    """What the function gives, and the calls that it takes."""
    with Watch() as watch:
        given = function()
    return given, watch.steps


def added(steps: list[Step], without: list[Step]) -> list[Step]:
    """The calls beyond those that are made without something."""
    left = Counter(without)
    found = []
    for step in steps:
        if left[step]:
            left[step] -= 1
        else:
            found.append(step)
    return found


# -- What is run --------------------------------------------------------------------------------

TASK = """<task name="NAME" type="atomic">
  <description>Two sentences about a text.</description>
  <params><param name="text"/><param name="style"/></params>
  <system>You are terse.</system>
  <instructions>Summarize in a {{style}} style, in two sentences: {{text}}</instructions>
</task>
"""
CALLING = """(import "NAME.xml")
(define-effect (go))
(go)
(call-task NAME "Tea grows in wet hills." style: "dry")
"""
PERFORMING = """(define-effect (go))
(define-effect (NAME x))
(go)
(+ 1 (NAME 2))
"""
DELEGATING = """(define-effect (go))
(defatom NAME (params (about string)) (instructions "Report on {{about}}.")
  (allowed_tools spawn_subtask))
(defatom look-up (params (what string)) (instructions "Look up {{what}}."))
(go)
(NAME "tea")
"""
SPENDING = """(define-effect (go))
(define (ask) (model {model: "claude-opus-5-5" messages: [{role: "user" content: "NAME"}]}))
(ask)
(go)
(ask)
"""
PLAIN = '"NAME"'
COMMAND = ("run", "--parallel", "3", "--model", "scripted:replies.json", "-e")
BUDGET = ("--budget", "usd=0.5")


def reply(*content: dict[str, Any]) -> dict[str, Any]:
    """A model's reply as its protocol has it."""
    return {
        "content": list(content),
        "stop_reason": "tool_use" if content[0]["type"] == "tool_use" else "end_turn",
        "usage": {"input_tokens": 40, "output_tokens": 12},
        "model": "stub",
    }


def text(words: str) -> dict[str, Any]:
    return reply({"type": "text", "text": words})


def waiting(source: str, **given: Any) -> Any:
    """The run of a program that waits at its `go`."""
    return sexplang.start(sexplang.build(source), **given)


def onward(outcome: Any, given: Any = None) -> tuple[Any, list[Step]]:
    """The run after a reply to its only request that is no deadline."""
    (request,) = [each for each in outcome.requests if each.operation != "timer"]
    return watched(lambda: outcome.resume(request.id, given))


def asks(outcome: Any, operation: str) -> Any:
    """The same outcome, which waits for this."""
    found = [request.operation for request in getattr(outcome, "requests", ())]
    if found != [operation]:
        raise SystemExit(f"the run should wait for `{operation}`: {outcome}")
    return outcome


def ends(outcome: Any, kind: type) -> None:
    if not isinstance(outcome, kind):
        raise SystemExit(f"the run should be {kind.__name__}: {outcome}")


# -- The walks ----------------------------------------------------------------------------------


def call_of_a_task(name: str) -> Legs:
    """In the working folder: builds the files of a program and calls its task."""
    Path(f"{name}.xml").write_text(TASK.replace("NAME", name))
    file = Path(f"{name}.sexp")
    file.write_text(CALLING.replace("NAME", name))
    program, built = watched(lambda: sexplang.build(file))
    outcome, called = onward(asks(sexplang.start(program), "go"))
    outcome, replied = onward(asks(outcome, "model"), text("Tea grows in wet hills."))
    ends(outcome, sexplang.Done)
    return {"XML, task, core": built, "call, request": called, "reply, TaskResult": replied}


def operation(name: str) -> Legs:
    source = PERFORMING.replace("NAME", name)
    outcome, performed = onward(asks(waiting(source), "go"))
    outcome, resumed = onward(asks(outcome, name), 3)
    ends(outcome, sexplang.Done)
    driver = Watch()

    def go() -> None:
        driver.begin()

    def answer(x: int) -> int:
        driver.end()
        return x

    sexplang.run(source, effects={"go": go, name: answer})
    return {"perform, Suspended": performed, "resume, Done": resumed, "with a driver": driver.steps}


def subtask(name: str) -> Legs:
    outcome, _ = onward(asks(waiting(DELEGATING.replace("NAME", name)), "go"))
    wanted = {"description": "look it up", "name": "look-up", "inputs": {"what": "tea"}}
    use = {"type": "tool_use", "id": "a", "name": "spawn_subtask", "input": wanted}
    outcome, continued = onward(asks(outcome, "model"), reply(use))
    outcome, returned = onward(asks(outcome, "model"), text("Three billion cups a day."))
    outcome, _ = onward(asks(outcome, "model"), text("Much tea is drunk."))
    ends(outcome, sexplang.Done)
    return {"CONTINUATION, child's request": continued, "child's reply, parent's": returned}


def budget(name: str) -> Legs:
    Path("replies.json").write_text('["Tea."]')

    def started(*more: str) -> list[Step]:
        sys.argv = ["sexplang", *COMMAND, PLAIN.replace("NAME", name), *more]
        output = StringIO()
        with redirect_stdout(output), suppress(SystemExit):
            _, steps = watched(ended)
        if name not in output.getvalue():
            raise SystemExit(f"the command should print {name}: {output.getvalue()}")
        return steps

    def ended() -> None:
        with suppress(SystemExit):
            command()

    started(*BUDGET)
    added_by_it = added(started(*BUDGET), started())
    outcome = asks(waiting(SPENDING.replace("NAME", name), budget={"usd": 0.5}), "model")
    outcome, _ = onward(outcome, {**text("Tea."), "usage": {"output_tokens": 100_000}})
    outcome, refused = onward(asks(outcome, "go"))
    ends(outcome, sexplang.Failed)
    return {"--budget, account": added_by_it, "call, refusal": refused}


WALKS: dict[str, Callable[[str], Legs]] = {
    "a  a call of a task": call_of_a_task,
    "b  an operation": operation,
    "c  a subtask": subtask,
    "d  a budget": budget,
}


# -- Counting -----------------------------------------------------------------------------------


def files(steps: list[Step]) -> list[str]:
    """The files of the functions, in the order of their first calls."""
    return list(dict.fromkeys(code.co_filename.removeprefix(PACKAGE) for code, _ in steps))


def hops(steps: list[Step]) -> int:
    return sum(above not in (None, code.co_filename) for code, above in steps)


def report(name: str, legs: Legs, with_files: bool) -> None:
    """Prints a walk: its legs and its sum."""
    print(f"{name:34}{'calls':>8}{'hops':>8}{'files':>8}")
    for leg, steps in legs.items():
        print(f"   {leg:31}{len(steps):>8}{hops(steps):>8}{len(files(steps)):>8}")
        if with_files:
            print(*[f"      {file}" for file in files(steps)], sep="\n")
    every = [step for steps in legs.values() for step in steps]
    print(f"   {'the walk':31}{len(every):>8}{hops(every):>8}{len(files(every)):>8}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--files", action="store_true", help="list the files of each leg")
    options = parser.parse_args()

    with TemporaryDirectory() as place, chdir(place):
        for walk in WALKS.values():
            walk("before")
        walked = {name: walk("again") for name, walk in WALKS.items()}
    for name, legs in walked.items():
        report(name, legs, options.files)
    return 0


if __name__ == "__main__":
    sys.exit(main())
