"""Spans of Python's syntax tree in a source, and the diagnostics of what stands there."""

import ast
import re
from functools import cached_property
from typing import TypeAlias

from sexplang.terms.classes.node import define, field
from sexplang.terms.diagnostic import Diagnostic, Label
from sexplang.terms.source import Source, Span

Placed: TypeAlias = ast.stmt | ast.expr | ast.arg | ast.alias | ast.keyword

_BREAK = re.compile(r"\r\n|\r|\n")


@define(eq=False)
class Places:
    """The spans of nodes in one source, and the diagnostics so far."""

    source: Source
    findings: list[Diagnostic] = field(factory=list)

    @cached_property
    def _starts(self) -> list[int]:
        return [0, *[each.end() for each in _BREAK.finditer(self.source.text)]]

    def offset(self, line: int, column: int) -> int:
        """Return the offset of a line, from 1, and a column, from 0, in UTF-8 bytes."""
        start = self._starts[min(line, len(self._starts)) - 1]
        part = self.source.text[start : start + column]
        if part.isascii():
            return start + len(part)
        whole = part.encode("utf-8", "surrogatepass")[:column]
        return start + len(whole.decode("utf-8", "ignore"))

    def span(self, node: Placed) -> Span:
        """Return the span of a node."""
        line, column = node.end_lineno or node.lineno, node.end_col_offset or node.col_offset
        return Span(
            self.source, self.offset(node.lineno, node.col_offset), self.offset(line, column)
        )

    def name_span(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> Span:
        """Return the span of the name in a `def`."""
        start = self.offset(node.lineno, node.col_offset)
        found = re.compile(r"(?:async\s+)?def\s+").match(self.source.text, start)
        at = start if found is None else found.end()
        return Span(self.source, at, at + len(node.name))

    def report(self, code: str, title: str, span: Span, hint: str, words: str = "") -> None:
        """Add an error."""
        self.findings.append(Diagnostic(code, title, (Label(span, words),), hint=hint))
