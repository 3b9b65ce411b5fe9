"""The output of `run --stream`: the text of the program's last task on stdout as it arrives.

The last task is the one whose answer is the value of the program's last form, else the last that
the form names, else any. Of two such calls at once, the first has stdout.
"""

import sys
from collections.abc import Iterator
from contextlib import suppress
from typing import TextIO

from sexplang.analysis.own_nodes import nodes_in
from sexplang.hosts.terminal.show import draw_hidden
from sexplang.runtime.driver.events import Event, Finished, Retrying, Said, Started, Withdrawn
from sexplang.runtime.driver.requests import OutputLost
from sexplang.terms.classes.node import define, field
from sexplang.terms.core import (
    Attempt,
    Budgeted,
    Call,
    CallKnown,
    Const,
    Core,
    Finally,
    Handle,
    If,
    Let,
    Loop,
    Or,
    Seq,
    Timed,
)
from sexplang.terms.program import Bind, Program
from sexplang.terms.values.value import Task


@define(eq=False)
class TextOutput:
    """A listener that writes the text of replies. It needs their content."""

    tasks: frozenset[str]
    """The names of the last tasks."""
    is_verbose: bool = False
    """Whether the text of other tasks goes to stderr, with their name."""
    output: TextIO = field(factory=lambda: sys.stdout)
    others: TextIO = field(factory=lambda: sys.stderr)
    text: str = ""
    """The text of the last reply on stdout."""
    _holder: str | None = None
    """The call whose text goes to stdout."""
    _lines: dict[str, str] = field(factory=dict)
    """The unfinished line of each other call."""

    def __call__(self, event: Event) -> None:
        if event.operation != "model":
            return
        if isinstance(event, Started):
            if self._holder is None and self._is_last(event):
                self._holder = event.id
                self.end_line()
                self.text = ""
        elif isinstance(event, Said):
            self._write(event)
        elif isinstance(event, (Retrying, Finished, Withdrawn)):
            self._end(event)

    def end_line(self) -> None:
        """End the line on stdout, if one is begun."""
        if self.text and not self.text.endswith("\n"):
            self._put("\n")

    def close(self) -> None:
        """End the line that is begun, however the run ended."""
        with suppress(OutputLost):  # the run has ended by that
            self.end_line()

    def has_written(self, line: str) -> bool:
        """Return whether the last text on stdout is this line."""
        return self.text.strip() == line.strip() != ""

    def _is_last(self, event: Event) -> bool:
        return len(event.request.context.conversations) == 1 and event.task in self.tasks

    def _write(self, event: Said) -> None:
        text = event.text or ""
        if event.id == self._holder:
            self._put(text)
        elif self.is_verbose:
            *lines, rest = (self._lines.get(event.id, "") + text).split("\n")
            self._lines[event.id] = rest
            self._write_others(event, lines)

    def _put(self, text: str) -> None:
        self.text += text
        try:
            self.output.write(text)
            self.output.flush()
        except OSError as error:
            raise OutputLost(error) from None

    def _write_others(self, event: Event, lines: list[str]) -> None:
        name = draw_hidden(event.task or "model")
        for line in lines:
            self.others.write(f"{name}: {draw_hidden(line)}\n")

    def _end(self, event: Retrying | Finished | Withdrawn) -> None:
        rest = self._lines.pop(event.id, "")
        if rest:
            self._write_others(event, [rest])
        if event.id != self._holder:
            return
        if not isinstance(event, Retrying):
            self._holder = None
        elif self.text:
            self.end_line()
            self.text = ""
            self.others.write("the reply broke off and begins again\n")


def last_tasks(program: Program) -> frozenset[str]:
    """Return the names of the tasks whose text `run --stream` writes."""
    items = program.units[-1].items
    if not items:
        return frozenset()
    last = items[-1].value if isinstance(items[-1], Bind) else items[-1]
    named = [
        node.value.name
        for node in nodes_in([last])
        if isinstance(node, Const) and isinstance(node.value, Task)
    ]
    at_end = [*_in_tail(program, last, set())]
    return frozenset(at_end or named[-1:] or [task.name for task in program.tasks])


def _in_tail(program: Program, node: Core, seen: set[int]) -> Iterator[str]:
    """Yield the tasks whose calls give the value of a node."""
    match node:
        case If():
            yield from _in_tail(program, node.then, seen)
            yield from _in_tail(program, node.otherwise, seen)
        case Seq() | Or():
            yield from _in_tail(program, node.items[-1], seen)
        case Let() | Loop() | Handle() | Finally() | Attempt() | Timed() | Budgeted():
            yield from _in_tail(program, node.body, seen)
        case Call(callee=Const(value=Task() as task)):
            yield task.name
        case CallKnown(function=function) if function not in seen:
            seen.add(function)
            yield from _in_tail(program, program.functions[function].body, seen)
