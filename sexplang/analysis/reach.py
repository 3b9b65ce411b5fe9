"""The parts of a program that are never evaluated, as far as the text shows."""

from collections.abc import Iterator
from typing import Any

from sexplang.analysis.interpreter.interpreter import children, parts
from sexplang.terms.core import And, Call, Const, Handle, If, Or, Repeat, Seq
from sexplang.terms.diagnostic import Diagnostic, Label
from sexplang.terms.program import Program
from sexplang.terms.source import Made, Source, Span
from sexplang.terms.values.value import Higher, Operation, Procedure, truth


def unreachable(program: Program) -> list[Diagnostic]:
    """Return a diagnostic for each unreachable part in the program's own files."""
    found: dict[tuple[str, int, int], Diagnostic] = {}
    goes_on = _goes_on_after_errors(program)
    work: list[Any] = parts(program)
    for unit in program.units:
        work.append(Seq(unit.items, span=_WHOLE))  # type: ignore[arg-type]
    while work:
        node = work.pop()
        for dead, reason, why in _dead(node, goes_on):
            span = dead.span
            is_ours = (
                node.span is _WHOLE or _is_within(span, node.span)
            ) and not span.source.name.startswith("std/")
            # A literal from a macro's template says nothing about the use.
            if is_ours and not any(isinstance(one, Made) for one in (span, reason, node.span)):
                key = (span.source.name, span.start, span.end)
                found.setdefault(key, _finding(span, reason, why))
        work.extend(children(node) if node.span is not _WHOLE else ())
    return list(found.values())


_WHOLE = Span(Source("a whole file", ""), 0, 0)


def _is_within(inner: Span, outer: Span) -> bool:
    """Return whether a span is inside another. An implicit `else` has the span of the whole
    form."""
    whole = inner.start == outer.start and inner.end == outer.end
    return inner.source is outer.source and not whole


def _dead(node: Any, goes_on: bool) -> Iterator[tuple[Any, Span, str]]:
    """Yield the parts of a node that are never evaluated, each with the span of the deciding part
    and the reason."""
    kind = type(node)
    if kind is If and _is_constant(node.test):
        chosen = truth(node.test.value)
        yield (
            node.otherwise if chosen else node.then,
            node.test.span,
            _why(node.test.value),
        )
    elif kind is And or kind is Or:
        for at, item in enumerate(node.items[:-1]):
            if _is_constant(item) and truth(item.value) is (kind is Or):
                yield node.items[at + 1], item.span, _why(item.value)
                return
    elif kind is Repeat and type(node.count) is Const and node.count.value == 0:
        yield node.body, node.count.span, "nothing is done no times"
    elif kind is Seq and not goes_on:
        for at, item in enumerate(node.items[:-1]):
            if _fails(getattr(item, "value", item)) or _fails(item):
                yield node.items[at + 1], item.span, "this always fails"
                return
    elif kind is Handle:
        takes_all: Any = None
        for clause in node.clauses:
            if clause.operation == "error" and clause.kind == "never":
                if takes_all is not None:
                    yield clause, takes_all.span, "this takes every error"
                takes_all = clause if takes_all is None and not clause.words else takes_all


def _why(value: Any) -> str:
    """Return the truth of a constant, in words."""
    if not truth(value):
        return "this is always false"
    is_odd = value is not True and value in (0, "", (), {})
    return "this is always true" + (": only false and nil are false" if is_odd else "")


def _is_constant(node: Any) -> bool:
    """Return whether a node is a literal that is no function and that its author can see."""
    return type(node) is Const and not isinstance(node.value, Procedure)


def _fails(node: Any) -> bool:
    """Return whether a node is `(raise …)` or `(error …)`."""
    if type(node) is not Call or type(node.callee) is not Const:
        return False
    shape = node.callee.value
    return isinstance(shape, (Higher, Operation)) and shape.name in ("raise", "error")


def _goes_on_after_errors(program: Program) -> bool:
    """Return whether some handler may resume after an error."""
    work: list[Any] = parts(program)
    while work:
        node = work.pop()
        if (
            getattr(node, "operation", None) == "error"
            and getattr(node, "kind", "never") != "never"
        ):
            return True
        work.extend(children(node))
    return False


def _finding(span: Span, reason: Span, why: str) -> Diagnostic:
    return Diagnostic(
        "unreachable",
        "no run comes here",
        (Label(span, "never evaluated"), Label(reason, why)),
        hint="leave it out, or test something that can turn out either way",
        severity="warning",
    )
