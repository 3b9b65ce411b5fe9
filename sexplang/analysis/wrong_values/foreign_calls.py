"""Calls in the manner of another language: they run, and mean something else here."""

import re
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from sexplang.analysis.signs import TOTALS
from sexplang.terms.core import (
    Call,
    CallPrimitive,
    Const,
    Lambda,
    Par,
    Path,
    Race,
    Repeat,
)
from sexplang.terms.diagnostic import Diagnostic, Label
from sexplang.terms.program import Function, Program
from sexplang.terms.source import Made
from sexplang.terms.values.value import Higher, Operation


def find_foreign_calls(program: Program, nodes: list[Any]) -> Iterator[Diagnostic]:
    """Yield a diagnostic for each of them."""
    for node in nodes:
        if isinstance(getattr(node, "span", None), Made):
            continue
        if isinstance(node, CallPrimitive):
            yield from _primitive(node)
        elif isinstance(node, Call) and isinstance(node.callee, Const):
            if isinstance(node.callee.value, Higher):
                yield from _higher(program, node, node.callee.value.name)
            elif isinstance(node.callee.value, Operation) and node.callee.value.name == "log":
                yield from _log(node)
        elif isinstance(node, Path):
            yield from _path(node)
        elif isinstance(node, (Par, Race)):
            yield from _branches(node)
        elif isinstance(node, Repeat) and isinstance(node.body, Lambda):
            yield _warn(
                node.body,
                "this function is made each time and never called",
                "the body of `(loop n e…)` is no function: write what is to be done",
            )


def _higher(program: Program, node: Call, name: str) -> Iterator[Diagnostic]:
    given = node.arguments
    if name == "sort" and len(given) == 2 and _subtracts(program, given[1]):
        yield _warn(
            given[1],
            "`sort` asks whether a stands before b, and every number is true",
            f"write `(sort {given[0].span.text} <)`, or `(lambda (a b) (< a b))`",
        )
    elif name in ("fold", "reduce") and len(given) == 3:
        if isinstance(given[2], Const) and given[2].value == () and not _is_empty(given[1]):
            yield _warn(
                given[2], f"`{name}` goes through the empty list", f"write `({name} f init xs)`"
            )
        function = _function(program, given[0])
        params = [each.name for each in function.params] if function is not None else []
        if len(params) == 2 and params[1] in TOTALS and params[0] not in TOTALS:
            yield _warn(
                given[0],
                f"`{name}` calls `(f acc x)`: what was so far comes first",
                f"write `(lambda ({params[1]} {params[0]}) …)`",
            )


def _log(node: Call) -> Iterator[Diagnostic]:
    """Yield a diagnostic for a logarithm with a base."""
    level = node.arguments[0] if len(node.arguments) == 2 else None
    if isinstance(level, Const) and type(level.value) in (int, float):
        x, base = [each.span.text for each in node.arguments]
        hint = f"write `(/ (ln {x}) (ln {base}))`"
        yield _warn(node, "`log` writes a line of the log, and its level is no number", hint)


def _is_empty(node: Any) -> bool:
    return isinstance(node, Const) and node.value == ()


def _function(program: Program, node: Any) -> Function | None:
    return program.functions[node.function] if isinstance(node, Lambda) else None


def _subtracts(program: Program, node: Any) -> bool:
    """Return whether a function gives the difference of its two parameters."""
    if isinstance(node, Const):
        return getattr(node.value, "name", "") == "-"
    function = _function(program, node)
    body = function.body if function is not None else None
    if not isinstance(body, CallPrimitive):
        return False
    name = body.primitive.name
    return name == "-" and len(body.arguments) == 2


def _primitive(node: CallPrimitive) -> Iterator[Diagnostic]:
    name, given = node.primitive.name, node.arguments
    if name in ("get", "nth") and len(given) == 2 and _is_negative(given[1]):
        back = -given[1].value  # type: ignore[union-attr]
        xs = given[0].span.text
        hint = f"write `(last {xs})`" if back == 1 else f"write `(first (take-right {xs} {back}))`"
        yield _warn(given[1], "no item has a negative index", hint)
    elif name in ("equal?", "=", "!=") and len(given) == 2:
        places = [each for each in given if _name(each) in _FINDERS]
        if places and any(_is_negative(each) for each in given):
            yield _warn(
                node,
                f"`{_name(places[0])}` gives nil where nothing is found, never -1",
                f"write `(nil? {places[0].span.text})`",
            )
    elif name == "string-join" and len(given) == 1 and _are_letters(given[0]):
        yield _warn(
            node,
            "`string-join` without a separator puts a space between the letters",
            f"write `(list->string {given[0].span.text})`",
        )
    elif name in ("re-find", "re-matches", "re-seq", "re-split", "re-replace"):
        texts = [each.value for each in given if isinstance(each, Const)]
        if len(texts) == len(given) and all(isinstance(each, str) for each in texts):
            yield from _find_swapped_pattern(node, [str(each) for each in texts])


def _are_letters(node: Any) -> bool:
    """Return whether a node is a list of the characters of a text, maybe in another order."""
    work = [node]
    while work:
        each = work.pop()
        if _name(each) == "string->list":
            return True
        if _name(each) in ("reverse", "append", "take", "drop", "rest", "distinct") or (
            isinstance(each, Call) and _higher_name(each) in ("map", "filter", "sort")
        ):
            work += each.arguments
    return False


def _higher_name(node: Call) -> str:
    callee = node.callee.value if isinstance(node.callee, Const) else None
    return callee.name if isinstance(callee, Higher) else ""


_FINDERS = ("index-of", "string-index", "string-index-right")


_MAPS = ("(map ", "(par-map ")


def _name(node: Any) -> str:
    return node.primitive.name if isinstance(node, CallPrimitive) else ""


def _is_negative(node: Any) -> bool:
    value = node.value if isinstance(node, Const) else None
    return isinstance(value, int) and not isinstance(value, bool) and value < 0


def _find_swapped_pattern(node: CallPrimitive, texts: list[str]) -> Iterator[Diagnostic]:
    """Yield a diagnostic where the pattern is nowhere in the text, and would be after a swap."""
    pattern, text, *more = texts
    if _finds(pattern, text):
        return
    written = [each.span.text for each in node.arguments]
    orders = [(0, 2, 1), (1, 0, 2)] if more else [(1, 0)]
    for order in orders:
        if (
            _finds(texts[order[0]], texts[order[1]])
            and re.escape(texts[order[0]]) != texts[order[0]]
        ):
            ordered = " ".join([node.primitive.name, *[written[at] for at in order]])
            yield _warn(node, f"this pattern is nowhere in {written[1]}", f"write `({ordered})`")
            return


def _finds(pattern: str, text: str) -> bool:
    with suppress(re.error):
        return re.search(pattern, text) is not None
    return False


def _path(node: Path) -> Iterator[Diagnostic]:
    marked = [field for field in node.fields if field.endswith(("?", "!")) and len(field) > 1]
    if marked and "?." in f"{node.span.text}.":
        plain = node.span.text.replace("?.", ".").rstrip("?!")
        yield _warn(
            node,
            f"`.{marked[0]}` reads a field of that name, its mark included",
            f"write `{plain}`: a field of nil is nil",
        )


def _branches(node: Par | Race) -> Iterator[Diagnostic]:
    if len(node.branches) == 1:
        (branch,) = node.branches
        text = branch.span.text
        mapped = text.partition(" ")[2] if text.startswith(_MAPS) else ""
        if mapped and isinstance(node, Par):
            yield _warn(
                branch,
                "this is one branch: `par` gives a list with its one value",
                f"write `(par-map {mapped}`" if len(mapped) < 80 else "write `(par-map f xs)`",
            )
        elif mapped:
            hint = "write each expression by itself: `(race a b)`"
            yield _warn(branch, "this is one branch, whose value is a list", hint)
        if _name(branch) == "list" and text.startswith("["):
            word = "par" if isinstance(node, Par) else "race"
            inner = " ".join([each.span.text for each in branch.arguments])  # type: ignore[union-attr]
            yield _warn(
                branch,
                f"this is one branch, a list: `{word}` takes expressions",
                f"write `({word} {inner})`" if len(inner) < 80 else f"write `({word} a b)`",
            )


def _warn(node: Any, title: str, hint: str) -> Diagnostic:
    return Diagnostic("foreign-call", title, (Label(node.span),), hint=hint, severity="warning")
