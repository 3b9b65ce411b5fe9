"""The permissions that a program needs: servers of models, executables, and files that are written
or lie outside its folder. Only names in the text are found. Operations of the program that nothing
answers need a person, who answers where the run pauses."""

import re
from collections.abc import Iterator
from posixpath import normpath
from typing import Any

from sexplang.analysis.domain.values import Constant
from sexplang.analysis.interpreter.interpreter import AbstractInterpreter
from sexplang.analysis.own_nodes import is_own, own_nodes, own_units
from sexplang.terms import core
from sexplang.terms.classes.node import field, frozen
from sexplang.terms.host.file_command import Listing, parse_listing, words_of
from sexplang.terms.host.host_operations import HOST_OPERATIONS, HostOperation
from sexplang.terms.program import Program
from sexplang.terms.source import Span
from sexplang.terms.values.sequences import LISTS
from sexplang.terms.values.value import Operation, Task

_HOST = re.compile(r"https?://([a-z0-9._-]+|\[[0-9a-f:.]+\])(?=[:/?#]|$)", re.IGNORECASE)


PAUSE = "--pause"


@frozen
class Need:
    """A permission: its option (`--allow-net`, `--allow-run`), and its `name`, a host, an
    executable or a path. That of a Python file is as the program's own path is written. `--pause`
    has the name of an operation."""

    option: str
    name: str
    why: str
    span: Span | None = field(eq=False)

    def __str__(self) -> str:
        if self.option == PAUSE:
            return f"needs a handler of `{self.name}`, or {PAUSE} {self.name}"
        return f"needs {self.option} {self.name} for {self.why}"

    def plain(self) -> dict[str, Any]:
        return {
            "option": self.option,
            "name": self.name,
            "why": self.why,
            "span": self.span.plain() if self.span is not None else None,
        }


def needs_of(m: AbstractInterpreter, performed: tuple[str, ...] = ()) -> tuple[Need, ...]:
    """Return each need once, needs of tasks first. `performed` are the operations of a run that no
    handler of the program takes."""
    program = m.program
    found = [
        Need("--allow-python", each.source.name, "the functions that it imports", each.imported)
        for each in program.python
    ]
    for task in program.tasks:
        found += _of_task(task)
    names = {each.index: each.name for each in program.functions if not is_own(each.span)}
    answered = {name for name in _NAMED if program.handles(_PERFORMED.get(name, name))}
    asks = not program.handles("model")
    for node in own_nodes(program):
        if asks:
            found += _of_model(node)
        found += _of_call(m, node, names, answered)
    found += _of_own_operations(program, performed)
    return tuple(dict.fromkeys(found))


def _of_own_operations(program: Program, performed: tuple[str, ...]) -> Iterator[Need]:
    """Yield a need for each operation of the program's `define-effect`s that nothing answers."""
    in_python = {each.name for file in program.python for each in file.functions}
    own = {name for unit in own_units(program) for name in unit.operations}
    for name in performed:
        if name in own and name not in in_python and name not in program.defaults:
            places = [node.span for node in own_nodes(program) if _performs(node, name)]
            yield Need(PAUSE, name, "an operation that nothing answers", next(iter(places), None))


def _performs(node: Any, name: str) -> bool:
    if isinstance(node, core.PerformOp):
        return node.operation == name
    return isinstance(node, core.Call) and _callee_name(node, {}) == name


def _of_task(task: Task) -> Iterator[Need]:
    template = task.template
    span = template.span
    yield from _server(template.model_name, f"the model of `{template.name}`", span)
    places = template.file_paths.paths
    if template.file_paths.source == "command":
        command = parse_listing(words_of(template.file_paths.text) or ())
        places = command.places if isinstance(command, Listing) else ()
    for path in places:
        yield from _read(path, span, f"the files of `{template.name}`")


def _server(model: Any, why: str, span: Span | None) -> Iterator[Need]:
    """Yield the need of a model that is the address of a server."""
    host = _HOST.match(model) if isinstance(model, str) else None
    if host is not None:
        yield Need("--allow-net", host[1].lower(), why, span)


def _of_model(node: Any) -> Iterator[Need]:
    """Yield the needs of a model that a call or a payload names."""
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


def _of_call(
    m: AbstractInterpreter, node: Any, names: dict[int, str], answered: set[str]
) -> Iterator[Need]:
    """Yield the needs of a call's literal arguments and of names of the program."""
    if isinstance(node, core.PerformOp):
        given: dict[int | str, Any] = dict(enumerate(node.arguments))
        name = node.operation
    elif isinstance(node, (core.Call, core.CallKnown)):
        labels = node.labels if isinstance(node, core.Call) else ()
        count = len(node.arguments) - len(labels)
        given = dict(enumerate(node.arguments[:count]))
        given |= dict(zip(labels, node.arguments[count:], strict=True))
        name = _callee_name(node, names)
    else:
        return
    for at, label, kind in () if name in answered else _NAMED.get(name, ()):
        argument = given.get(label, given.get(at))
        if argument is None or (kind == "test" and given.keys() & {5, "validator"}):
            continue
        text = _text_of(m, node, argument)
        if text:
            yield from _NEEDS[kind](text, argument.span)


def _run(command: str, span: Span) -> Iterator[Need]:
    # A command in one text is always refused; a path may hold a space.
    yield from (
        [Need("--allow-run", command, "a script", span)] if "/" in command else _test(command, span)
    )


def _test(command: str, span: Span) -> Iterator[Need]:
    for name in command.split(maxsplit=1)[:1]:
        yield Need("--allow-run", name, "a script", span)


def _write(path: str, span: Span) -> Iterator[Need]:
    yield Need("--allow-write", path, "a file", span)


def _read(path: str, span: Span | None, why: str = "a file") -> Iterator[Need]:
    """Yield the need of a path outside the program's folder, or of one that must be named."""
    place = _WILD.split(path, maxsplit=1)[0].rpartition("/")[0] if _WILD.search(path) else path
    parts = normpath(place or ".").split("/")
    is_hidden = any(part.startswith(".") and part != "." for part in parts)
    if path.startswith("/") or is_hidden:
        yield Need("--allow-read", place, why, span)


_WILD = re.compile(r"[*?\[{]")


def _net(address: str, span: Span) -> Iterator[Need]:
    yield from _server(address, "a page", span)


_NEEDS: dict[str, Any] = {
    "run": _run,
    "test": _test,
    "write": _write,
    "read": _read,
    "net": _net,
}


def _place_of(operation: HostOperation) -> Iterator[tuple[int, str, str]]:
    at = operation.place
    if at is not None and operation.right is not None:
        yield at, operation.params[at].name, operation.right


_PERFORMED = {"system:run_script": "run-script", "iterative-loop": "run-script"}
"""Functions of the library that perform an operation with a permission."""

_NAMED: dict[str, tuple[tuple[int, str, str], ...]] = {
    **{each.name: tuple(_place_of(each)) for each in HOST_OPERATIONS.values()},
    "system:run_script": ((0, "command", "run"),),
    "iterative-loop": ((2, "test_command", "test"),),
}
"""The argument that needs a permission, by position and by label."""


def _text_of(m: AbstractInterpreter, node: Any, argument: Any) -> str | None:
    """Return the text of an argument: a literal, or its only value in every interpretation. For a
    command that is a list, return the first item."""
    if isinstance(argument, core.Const):
        value = argument.value
    elif isinstance(argument, core.CallPrimitive) and argument.primitive.name == "list":
        first = argument.arguments[0] if argument.arguments else None
        value = first.value if isinstance(first, core.Const) else None
    else:
        at = node.arguments.index(argument)
        seen = {values[at] for _, values in m.observations.calls.get(node, {})}
        (one,) = seen if len(seen) == 1 else (None,)
        value = one.value if isinstance(one, Constant) else None
    if type(value) in LISTS:
        value = value[0] if value else None
    return value if isinstance(value, str) else None


def _callee_name(node: core.Call | core.CallKnown, names: dict[int, str]) -> str:
    if isinstance(node, core.CallKnown):
        return names.get(node.function, "")
    if isinstance(node.callee, core.Known):
        return names.get(node.callee.function, "")
    value = node.callee.value if isinstance(node.callee, core.Const) else None
    return value.name if isinstance(value, Operation) else ""
