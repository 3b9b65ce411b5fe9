"""Patterns of requests in tests.

A pattern is `(op argument…)`. Arguments left out at the end and `_` match anything, a table needs
only the keys that it names, and a symbol also matches the text of its name.
"""

from typing import Any

from sexplang.terms.effect import Request
from sexplang.terms.form import Form, ListForm, Literal, Name, TableForm, VectorForm
from sexplang.terms.values.boundary import value_of
from sexplang.terms.values.text import to_source
from sexplang.terms.values.value import Record, Symbol, Value

LONGEST = 600


def operation_of(pattern: Form) -> str | None:
    """Return the operation that a pattern names; None if it is no pattern."""
    head = pattern.items[0] if isinstance(pattern, ListForm) and pattern.items else None
    return head.text if isinstance(head, Name) else None


def fits(pattern: Form, request: Request) -> bool:
    """Return whether a request matches a pattern."""
    if operation_of(pattern) != request.operation:
        return False
    assert isinstance(pattern, ListForm)
    wanted = pattern.items[1:]
    given = [value_of(argument) for argument in request.arguments]
    given += [None] * (len(wanted) - len(given))
    work = list(zip(wanted, given, strict=False))
    while work:
        parts = _parts(*work.pop())
        if parts is None:
            return False
        work += parts
    return True


def show_request(request: Request) -> str:
    """Return a request as a test writes it, cut if it is long."""
    text = " ".join([request.operation, *[to_source(value_of(each)) for each in request.arguments]])
    return f"({text})" if len(text) <= LONGEST else f"({text[:LONGEST]} …)"


def suggest_pattern(request: Request) -> str:
    """Return a pattern that matches a request."""
    arguments = [to_source(value_of(each)) for each in request.arguments]
    short = [each if len(each) <= 60 else "_" for each in arguments]
    while short and short[-1] == "_":
        short.pop()
    return f"({' '.join([request.operation, *short])})"


def _parts(wanted: Form, given: Value) -> list[tuple[Form, Value]] | None:
    """Return the pairs still to compare of a datum and a value; None if they differ here."""
    if isinstance(given, Record):
        given = given.fields
    if isinstance(wanted, Name):
        return [] if wanted.text == "_" or _text_of(given) == wanted.text else None
    if isinstance(wanted, ListForm) and operation_of(wanted) == "quote" and len(wanted.items) == 2:
        return [(wanted.items[1], given)]
    if isinstance(wanted, (VectorForm, ListForm)):
        if not isinstance(given, tuple) or len(given) != len(wanted.items):
            return None
        return list(zip(wanted.items, given, strict=True))
    if isinstance(wanted, TableForm):
        pairs = list(wanted.entries()) if isinstance(given, dict) else []
        if not isinstance(given, dict) or any(label.text not in given for label, _ in pairs):
            return None
        return [(item, given[label.text]) for label, item in pairs]
    assert isinstance(wanted, Literal)
    value = wanted.value
    return [] if isinstance(value, bool) == isinstance(given, bool) and value == given else None


def _text_of(value: Value) -> Any:
    return value.name if isinstance(value, Symbol) else value
