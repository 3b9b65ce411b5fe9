"""Functions that are asked for true or false, and always give a number, a text or a list."""

from collections.abc import Iterator
from typing import Any

from sexplang.analysis.signs import PREDICATED, is_empty, library_name
from sexplang.analysis.wrong_values.constants import value_of, values_by_name
from sexplang.analysis.wrong_values.true_values import body_of, kind_of_results
from sexplang.terms.core import Const, Local
from sexplang.terms.diagnostic import Diagnostic, Label
from sexplang.terms.program import Program
from sexplang.terms.source import Made
from sexplang.terms.values.text import to_source


def find_constant_predicates(program: Program, nodes: list[Any]) -> Iterator[Diagnostic]:
    """Yield a diagnostic for each predicate whose value is never false."""
    calls = [(node, library_name(program, node)) for node in nodes]
    asked = [(node, name) for node, name in calls if name in PREDICATED]
    if not asked:
        return
    values = values_by_name(program, nodes)
    for node, name in asked:
        at = 1 if name == "sort" else 0
        if len(node.arguments) <= at or isinstance(node.arguments[at].span, Made):
            continue
        function = node.arguments[at]
        kind = kind_of_results(program, function, values)
        if kind is None and _gives_itself(program, function):
            yield from _find_empty_item(name, node, values)
        if kind is not None and not (name == "sort" and _is_difference(program, function)):
            yield _finding(program, name, function, kind)


def _gives_itself(program: Program, node: Any) -> bool:
    """Return whether a function is `identity`, or a lambda that gives its parameter."""
    if isinstance(node, Const):
        return getattr(node.value, "name", "") == "identity"
    body = body_of(program, node)
    return isinstance(body, Local) and body.depth == 0 and body.index == 1


def _find_empty_item(name: str, node: Any, values: dict[str, Any]) -> Iterator[Diagnostic]:
    """Yield a diagnostic for an item of a written list that other languages take for false."""
    items = value_of(node.arguments[-1], values)
    written = items.value if isinstance(items, Const) and type(items.value) is tuple else ()
    empty = next((each for each in written if is_empty(each)), None)
    if empty is not None:
        shown = to_source(empty)
        asked = "(not (= x 0))" if type(empty) in (int, float) else "(not (empty? x))"
        yield Diagnostic(
            "constant-test",
            f"`{name}` asks whether an item holds, and {shown} is true: only false and nil are "
            "false",
            (Label(node.arguments[0].span, f"gives {shown} for {shown}"),),
            hint=f"write `(lambda (x) {asked})`",
            severity="warning",
        )


def _is_difference(program: Program, node: Any) -> bool:
    """Return whether a function gives a difference, which is reported as a foreign call."""
    if isinstance(node, Const):
        return getattr(node.value, "name", "") == "-"
    return library_name(program, body_of(program, node)) == "-"


def _finding(program: Program, name: str, node: Any, kind: str) -> Diagnostic:
    body = body_of(program, node)
    written = body.span.text if body is not None and not isinstance(body.span, Made) else ""
    if name == "sort":
        title = "`sort` asks whether a stands before b"
        hint = "give a function that says so: `<`, `string<?`, or `(lambda (a b) (< a b))`"
    else:
        title = f"`{name}` asks whether this holds"
        hint = _ask(kind, written) if 0 < len(written) < 60 else _ask(kind, "(f x)")
    what = "a value" if kind == "value" else f"a {kind}"
    return Diagnostic(
        "constant-test",
        f"{title}, and {what} is always true: only false and nil are false",
        (Label(node.span, f"this gives {what}"),),
        hint=hint,
        severity="warning",
    )


def _ask(kind: str, written: str) -> str:
    if kind == "number":
        return f"write `(not (= {written} 0))`, or what is asked of the number"
    if kind == "value":
        return "write what is asked, such as `(= x 0)` or `(empty? x)`"
    return f"write `(not (empty? {written}))`, or what is asked of the {kind}"
