"""Keys and values of model payloads and call settings that are refused."""

from collections.abc import Iterator
from typing import Any

from sexplang.analysis.own_nodes import is_own, own_nodes
from sexplang.terms.core import Call, Clause, Const, Known, MakeTable, PerformOp
from sexplang.terms.diagnostic import Diagnostic, Label
from sexplang.terms.model.payload import HISTORY, OPTIONS, PAYLOAD, flaw, option_meant, suggest_key
from sexplang.terms.program import Program
from sexplang.terms.source import Made
from sexplang.terms.values.boundary import plain
from sexplang.terms.values.value import Fault, Operation


def misread_payloads(program: Program) -> Iterator[Diagnostic]:
    """Yield a diagnostic for each wrong entry of a literal table in `(model {…})`. A program that
    handles `model` takes any payload."""
    tables: list[Any] = []
    for node in own_nodes(program):
        if isinstance(node, Clause) and node.operation == "model":
            return
        asks = (isinstance(node, PerformOp) and node.operation == "model") or (
            isinstance(node, Call) and _is_model(node.callee)
        )
        if asks and node.arguments and is_own(node.span) and not isinstance(node.span, Made):
            tables.append(node.arguments[0])
    for table in tables:
        yield from _of_table(table)


def misread_settings(program: Program) -> Iterator[Diagnostic]:
    """Yield a diagnostic for each wrong entry of a literal `options:` or `history_config:`."""
    for node in own_nodes(program):
        written = isinstance(node, Call) and is_own(node.span) and not isinstance(node.span, Made)
        if written and node.labels and _is_by_name(program, node.callee):
            labelled = node.arguments[-len(node.labels) :]
            for label, table in zip(node.labels, labelled, strict=True):
                if label in _SETTINGS:
                    yield from _of_settings(label, table)


def _is_by_name(program: Program, callee: Any) -> bool:
    if not isinstance(callee, Known):
        return False
    function = program.functions[callee.function]
    return function.name == "call-atomic-task" and not is_own(function.span)


_SETTINGS = {"options": OPTIONS, "history_config": HISTORY}


def _of_settings(label: str, table: Any) -> Iterator[Diagnostic]:
    known = _SETTINGS[label]
    for written, value in _entries(table):
        key = written if label == "options" else written.replace("-", "_")
        if key not in known:
            title = f"`{label}` has no setting `{written}`"
            hint = option_meant(key) if label == "options" else f"there are {', '.join(known)}"
            yield Diagnostic("unknown-clause", title, (Label(table.span),), hint=hint)
        elif value:
            fits = value[0] is None or known[key].test(value[0])
            why = flaw(key, *value) if label == "options" else None
            why = why or (None if fits else f"is not {known[key].words}")
            if why is not None:
                title = f"`{key}` in `{label}` {why}"
                yield Diagnostic("malformed-form", title, (Label(table.span),))


def _is_model(callee: Any) -> bool:
    operation = callee.value if isinstance(callee, Const) else None
    return isinstance(operation, Operation) and operation.name == "model"


def _of_table(table: Any) -> Iterator[Diagnostic]:
    for key, value in _entries(table):
        if key not in PAYLOAD:
            title = f"the payload of `model` has no key `{key}`"
            yield Diagnostic("bad-payload", title, (Label(table.span),), hint=suggest_key(key))
            continue
        why = flaw(key, *value) if value else None
        if why is not None:
            title = f"`{key}` in the payload of `model` {why}"
            yield Diagnostic("bad-payload", title, (Label(table.span),))


def _entries(table: Any) -> Iterator[tuple[str, tuple[Any, ...]]]:
    """Yield the keys, with their values if they are literals."""
    if isinstance(table, MakeTable):
        for key, node in zip(table.keys, table.values, strict=True):
            yield key, _literal(node.value) if isinstance(node, Const) else ()
    elif isinstance(table, Const) and isinstance(table.value, dict):
        for key, value in table.value.items():
            yield key, _literal(value)


def _literal(value: Any) -> tuple[Any, ...]:
    try:
        return (plain(value),)
    except Fault:
        return ()
