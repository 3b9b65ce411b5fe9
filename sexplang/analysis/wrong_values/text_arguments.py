"""Calls of text functions whose arguments are swapped: they can never match."""

import re
from collections.abc import Iterator
from typing import Any

from sexplang.analysis.own_nodes import is_own
from sexplang.terms.core import CallPrimitive, Const
from sexplang.terms.diagnostic import Diagnostic, Edit, Label
from sexplang.terms.source import Made


def find_swapped_texts(nodes: list[Any]) -> Iterator[Diagnostic]:
    """Yield a diagnostic for literals that show a swap: the pattern is longer than the text, or not
    in it."""
    for node in nodes:
        if isinstance(node, CallPrimitive) and is_own(node.span):
            order = _ORDERS.get(node.primitive.name)
            texts = [_literal(one) for one in node.arguments]
            matched = _order_of_match(node.primitive.name, texts)
            if matched is not None and not isinstance(node.span, Made):
                yield _finding(node, matched)
            if order is None or len(texts) < len(order) or isinstance(node.span, Made):
                continue
            if node.primitive.name in _PART_FIRST:
                texts = texts[::-1]
            if _never_matches(texts) or _splits_a_character(node, texts):
                yield _finding(node, order)


_ORDERS = {
    "string-split": (1, 0),
    "string-contains?": (1, 0),
    "starts-with?": (1, 0),
    "ends-with?": (1, 0),
    "string-prefix?": (1, 0),
    "string-suffix?": (1, 0),
    "string-index": (1, 0),
    "string-count": (1, 0),
    "string-replace": (2, 0, 1),
}
"""The intended order."""

_PART_FIRST = ("string-prefix?", "string-suffix?")
"""Functions that take the part first."""


_MATCHING = ("re-find", "re-matches", "re-seq", "re-split")
_MARKS = re.compile(r"[\\^$.|?*+()\[\]]|\A.{0,3}\Z", re.DOTALL)
"""A text that is rather a pattern than one to look in."""


_REGEX = re.compile(r"[\\*+?^$|]|\[.*\]")
"""What a pattern has, and a part that is looked for as it is written hardly."""


def _order_of_match(name: str, texts: list[str | None]) -> tuple[int, ...] | None:
    """Return the intended order where a computed pattern is looked for in a literal that is a
    pattern itself, or where a literal is to be replaced by what was meant as the text."""
    if name in _MATCHING and len(texts) == 2:
        is_swapped = texts[0] is None and texts[1] is not None and _MARKS.search(texts[1])
        return (1, 0) if is_swapped else None
    if name == "re-replace" and len(texts) == 3 and texts[1] is not None:
        if texts[0] is not None and texts[2] is None:
            return 0, 2, 1
        if texts[0] is None and texts[2] is not None and _MARKS.search(texts[1]):
            return 1, 0, 2
    return None


def _literal(node: Any) -> str | None:
    is_text = isinstance(node, Const) and isinstance(node.value, str)
    return node.value if is_text else None


def _never_matches(texts: list[str | None]) -> bool:
    """Return whether a replacement has no effect: the pattern is not in the text."""
    text, part = texts[:2]
    if text is None or part is None:
        return False
    if part in text:
        return False
    if len(texts) == 3:
        return text in texts[2] if texts[2] is not None else not _REGEX.search(part)
    return len(part) > len(text) > 0


def _splits_a_character(node: CallPrimitive, texts: list[str | None]) -> bool:
    """Return whether `(string-split "," line)` splits a single character."""
    text, part = texts[:2]
    return node.primitive.name == "string-split" and part is None and len(text or "") == 1


def _finding(node: CallPrimitive, order: tuple[int, ...]) -> Diagnostic:
    name = node.primitive.name
    text, part = (one.span.text for one in node.arguments[:2])
    first = "the text comes first"
    if name in _PART_FIRST:
        text, part, first = part, text, "the part comes first"
    if name.startswith("re-"):
        text, part, first = part, text, "the pattern comes first, then the text"
    ordered = " ".join([node.arguments[at].span.text for at in order])
    return Diagnostic(
        "swapped-arguments",
        f"`{name}` looks for {part} in {text}",
        (Label(node.span, "nothing to find here"),),
        hint=f"{first}: write `({name} {ordered})`",
        severity="warning",
        edits=(Edit(node.span, f"({name} {ordered})"),),
    )
