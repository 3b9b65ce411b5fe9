"""What a program can only do if whoever runs it permits it, as far as its text names it: servers
of models, and executables."""

import re
from collections.abc import Iterator
from typing import Any

from sexplang.analysis.own import own_nodes
from sexplang.terms import core
from sexplang.terms.node import field, frozen
from sexplang.terms.program import Program
from sexplang.terms.source import Span
from sexplang.terms.value import Operation, Task

_HOST = re.compile(r"https?://([a-z0-9._-]+|\[[0-9a-f:.]+\])(?=[:/?#]|$)", re.IGNORECASE)

_RUNS = ("run-script", "system:run_script")


@frozen
class Need:
    """A permission, by its option (`--allow-net`, `--allow-run`) and what it is for: `name` is a
    host or an executable. `command` is the whole text of a command that names files."""

    option: str
    name: str
    why: str
    span: Span | None = field(eq=False)
    command: str = field(default="", eq=False)

    def __str__(self) -> str:
        return f"needs {self.option} {self.name} for {self.why}"

    def plain(self) -> dict[str, Any]:
        return {
            "option": self.option,
            "name": self.name,
            "why": self.why,
            "span": self.span.plain() if self.span is not None else None,
        }


def needs_of(program: Program) -> tuple[Need, ...]:
    """Each need once, those of its tasks first."""
    found: list[Need] = []
    for task in program.tasks:
        found += _of_task(task)
    names = {each.index: each.name for each in program.functions}
    runs = not program.handles("run-script")
    asks = not program.handles("model")
    for node in own_nodes(program):
        if asks:
            found += _of_model(node)
        if runs:
            found += _of_script(node, names)
    return tuple(dict.fromkeys(found))


def _of_task(task: Task) -> Iterator[Need]:
    template = task.template
    span = template.span
    yield from _server(template.model, f"the model of `{template.name}`", span)
    command = template.file_paths.text if template.file_paths.source == "command" else ""
    first = command.split(maxsplit=1)[:1]
    for name in first:
        yield Need("--allow-run", name, f"the files of `{template.name}`", span, command)


def _server(model: Any, why: str, span: Span | None) -> Iterator[Need]:
    """A model by the address of its server."""
    host = _HOST.match(model) if isinstance(model, str) else None
    if host is not None:
        yield Need("--allow-net", host[1].lower(), why, span)


def _of_model(node: Any) -> Iterator[Need]:
    """A model that a call names, or a payload."""
    named: list[tuple[str, Any]] = []
    if isinstance(node, core.Const) and isinstance(node.value, dict):
        yield from _server(node.value.get("model"), "a model", node.span)
    elif isinstance(node, core.MakeTable):
        named = list(zip(node.keys, node.values, strict=True))
    elif isinstance(node, core.Call) and node.labels:
        named = list(zip(node.labels, node.arguments[-len(node.labels) :], strict=True))
    for name, value in named:
        if name == "model" and isinstance(value, core.Const):
            yield from _server(value.value, "a model", value.span)


def _of_script(node: Any, names: dict[int, str]) -> Iterator[Need]:
    """An executable that a call names."""
    given: Any = None
    if isinstance(node, core.PerformOp) and node.operation in _RUNS:
        given = node.arguments[:1]
    elif isinstance(node, (core.Call, core.CallKnown)) and _called(node, names) in _RUNS:
        labels = node.labels if isinstance(node, core.Call) else ()
        count = len(node.arguments) - len(labels)
        given = node.arguments[: min(count, 1)] or [
            value
            for label, value in zip(labels, node.arguments[count:], strict=True)
            if label == "command"
        ]
    for value in given or ():
        if isinstance(value, core.Const) and isinstance(value.value, str) and value.value:
            yield Need("--allow-run", value.value, "a script", value.span)


def _called(node: core.Call | core.CallKnown, names: dict[int, str]) -> str:
    if isinstance(node, core.CallKnown):
        return names.get(node.function, "")
    if isinstance(node.callee, core.Known):
        return names.get(node.callee.function, "")
    value = node.callee.value if isinstance(node.callee, core.Const) else None
    return value.name if isinstance(value, Operation) else ""
