"""A caught name that is taken for what was raised: it is the error, a table."""

from collections.abc import Iterator
from typing import Any

from sexplang.analysis.own_nodes import nodes_in
from sexplang.terms.core import (
    Call,
    CallPrimitive,
    Clause,
    Const,
    Handle,
    If,
    Let,
    Local,
    Seq,
)
from sexplang.terms.diagnostic import Diagnostic, Edit, Label
from sexplang.terms.source import Made
from sexplang.terms.values.value import Higher, Symbol

_COMPARING = frozenset(("equal?", "eq?", "string=?", "=", "!="))
_JOINING = frozenset(("str", "string-append"))


def find_caught_errors(nodes: list[Any]) -> Iterator[Diagnostic]:
    """Yield a diagnostic for each caught name that is compared with a text, a symbol or a number,
    joined to a text, or given back for a value that was raised."""
    for node in nodes:
        for clause in node.clauses if isinstance(node, Handle) else ():
            if clause.operation == "error" and not isinstance(clause.span, Made):
                yield from _find_uses(clause)
                yield from _find_answer(node, clause)


def _find_uses(clause: Clause) -> Iterator[Diagnostic]:
    for node in nodes_in([clause.body]):
        if not isinstance(node, CallPrimitive) or isinstance(node.span, Made):
            continue
        name = node.primitive.name
        caught = [each for each in node.arguments if _is_caught(each, clause)]
        if caught and name in _JOINING:
            yield _finding(caught[0], "becomes a text", "message")
        elif caught and name in _COMPARING and len(node.arguments) > 1:
            (other, *_) = [each for each in node.arguments if each is not caught[0]]
            field = _field_of(other)
            if field:
                yield _finding(caught[0], "is compared with a value", field, other)


def _is_caught(node: Any, clause: Clause) -> bool:
    return isinstance(node, Local) and node.name == clause.params[0]


def _field_of(node: Any) -> str:
    """Return the field of an error that is meant by a comparison with a literal."""
    value = node.value if isinstance(node, Const) else None
    if isinstance(value, Symbol):
        return "reason"
    if isinstance(value, str):
        return "message"
    return "details.value" if type(value) in (int, float) else ""


def _find_answer(node: Handle, clause: Clause) -> Iterator[Diagnostic]:
    """Yield a diagnostic where a program raises a plain value, and gives the error of it back."""
    last = clause.body
    while isinstance(last, (Let, Seq, If)):
        last = last.body if isinstance(last, Let) else _last_of(last)
    if _is_caught(last, clause) and any(map(_raises_plain, nodes_in([node.body]))):
        yield _finding(last, "is given back", "details.value")


def _last_of(node: Any) -> Any:
    return node.items[-1] if isinstance(node, Seq) else node.then


def _raises_plain(node: Any) -> bool:
    callee = node.callee if isinstance(node, Call) else None
    value = callee.value if isinstance(callee, Const) else None
    if not isinstance(value, Higher) or value.name != "raise" or not node.arguments:
        return False
    (given,) = node.arguments[:1]
    return isinstance(given, Const) and isinstance(given.value, (str, int, float, tuple))


def _finding(node: Any, what: str, field: str, other: Any = None) -> Diagnostic:
    meant = f"{node.name}.{field}"
    more = ", or what it says, " + f"`{node.name}.message`" if field == "details.value" else ""
    hint = f"write `{meant}`{more}"
    if field == "reason":
        word = getattr(other.value, "name", "word")
        hint = (
            f'write `(equal? {meant} "{word}")`: the symbol that was raised is the reason, a text'
        )
    is_plain = node.span is not None and node.span.text == node.name and field == "message"
    return Diagnostic(
        "foreign-call",
        f"`{node.name}` {what}, and is the error itself, with the fields reason, message, details",
        (Label(node.span),),
        hint=hint,
        severity="warning",
        edits=(Edit(node.span, meant),) if is_plain else (),
    )
