"""Pairs of other Lisps in quoted data: here the dot is an item of the list."""

from collections.abc import Iterator
from typing import Any

from sexplang.analysis.signs import has_pair
from sexplang.terms.core import Const
from sexplang.terms.diagnostic import Diagnostic, Label
from sexplang.terms.source import Made


def find_pairs(nodes: list[Any]) -> Iterator[Diagnostic]:
    """Yield a diagnostic for each quoted list with a pair in it, which is no program text."""
    for node in nodes:
        if isinstance(node, Const) and not isinstance(node.span, Made) and has_pair(node.value):
            yield Diagnostic(
                "foreign-call",
                "there are no pairs: the dot is an item of its list",
                (Label(node.span),),
                hint="write a list of two, `[key value]`, and read it by `(second pair)`; or a "
                "table, `{key: value}`",
                severity="warning",
            )
