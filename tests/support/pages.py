"""Markdown with Python in it to statements and what they give: `#=> value`, `#! Exception`."""

import ast
import asyncio
import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from attrs import frozen
from support.markdown import Fence, fences

_MARK = re.compile(r"# ?(=>|!)\s+(.*)$")


@frozen
class Statement:
    """One statement with its mark, if it has one; `line` is that of the document."""

    node: ast.stmt
    line: int
    mark: str | None
    text: str


def files(page: Path) -> dict[str, str]:
    """The named blocks of a document."""
    return {fence.name: fence.text for fence in fences(page.read_text("utf-8")) if fence.name}


def statements(page: Path) -> Iterator[Statement]:
    """The statements of a document's `python` blocks, in order."""
    for fence in fences(page.read_text("utf-8")):
        if fence.kind == "python":
            yield from _statements(fence)


def _statements(fence: Fence) -> Iterator[Statement]:
    lines = fence.text.split("\n")
    for node in ast.parse(fence.text).body:
        found = _MARK.search(lines[(node.end_lineno or 0) - 1])
        kind, text = found.groups() if found else (None, "")
        yield Statement(node, fence.line + node.lineno, kind, text.strip())


def execute(statement: Statement, names: dict[str, Any], page: str) -> None:
    """Runs a statement in the namespace. Raises AssertionError where its mark is not true."""
    where = f"{page}:{statement.line}"
    if statement.mark == "!":
        exception, *words = re.findall(r'"([^"]*)"|(\S+)', statement.text)
        try:
            _value(statement, names, where)
        except Exception as raised:
            assert type(raised).__name__ == exception[1], f"{where}: {raised!r}"
            for quoted, bare in words:
                assert (quoted or bare) in str(raised), f"{where}: {raised}"
            return
        raise AssertionError(f"{where} raises nothing")
    given = _value(statement, names, where)
    if statement.mark is not None:
        assert repr(given) == statement.text, f"{where} gives {given!r}"


def _value(statement: Statement, names: dict[str, Any], where: str) -> Any:
    node = statement.node
    is_value = isinstance(node, ast.Expr)
    tree: Any = ast.Expression(node.value) if is_value else ast.Module([node], [])
    flags = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
    code = compile(tree, where, "eval" if is_value else "exec", flags=flags)
    if code.co_flags & inspect.CO_COROUTINE:
        return asyncio.run(eval(code, names))
    return eval(code, names)
