"""Words of a `catch` that no error has."""

from collections.abc import Iterator
from functools import cache
from typing import Any

from sexplang.analysis.own_nodes import is_own, own_nodes
from sexplang.analysis.slips.kinds import TAKES
from sexplang.package import package_data
from sexplang.terms.core import (
    Call,
    CallKnown,
    Clause,
    Const,
    Known,
    Lambda,
    MakeTable,
    PerformOp,
)
from sexplang.terms.diagnostic import Diagnostic, Label
from sexplang.terms.program import Program
from sexplang.terms.source import Made
from sexplang.terms.texts.nearest import nearest
from sexplang.terms.values.value import Higher, Operation, Symbol, Task

TYPES = frozenset(("PROGRAM_ERROR", "RESOURCE_EXHAUSTION", "TASK_FAILURE", "USER_ERROR"))


LIKE = 0.75
"""The similarity of two words from which on one may be meant by the other."""

SAME = 0.8
"""The same, for a program that may raise any word."""

NEAR = 2
"""The greatest difference in length of two such words."""


def never_raised(program: Program) -> Iterator[Diagnostic]:
    """Yield a diagnostic for each word that is no type, no code and not written elsewhere in the
    program.

    A reason that is computed, or comes from a host or from a caller's function, can be any word.
    Then only a near miss is reported.
    """
    catches: list[Clause] = []
    written: set[str] = set()
    is_open = False
    for node in own_nodes(program):
        if isinstance(node, Clause) and node.words and not isinstance(node.span, Made):
            catches.append(node)
        elif isinstance(node, Const):
            written |= _words_in(node.value)
        is_open = is_open or _may_raise_any(program, node)
    if not catches:
        return
    ours = TYPES | _codes()
    known = ours | written
    for clause in catches:
        for word in clause.words:
            if word not in known and (not is_open or _is_slip(clause, word, ours)):
                yield _finding(clause, word, ours if is_open else known)


def _is_slip(clause: Clause, word: str, ours: frozenset[str]) -> bool:
    """Return whether a word is near to a word of the language, or such a word stands in the place
    of the name."""
    close = nearest(word, sorted(ours), SAME)
    is_near = close is not None and abs(len(close) - len(word)) <= NEAR
    return is_near or clause.params[0] in ours


def _may_raise_any(program: Program, node: Any) -> bool:
    """Return whether a node may fail with a reason that is not written in the program."""
    if isinstance(node, Const):
        return isinstance(node.value, (Operation, Task)) or (
            isinstance(node.value, Higher) and node.value.name not in _CLOSED
        )
    if isinstance(node, (CallKnown, Known)):
        return not is_own(program.functions[node.function].span)
    if isinstance(node, Call):
        callee, given = node.callee, node.arguments[:1]
        if isinstance(callee, Const) and isinstance(callee.value, Higher):
            calls = callee.value.name not in ("raise", "error")
            return calls and any(not isinstance(one, _FUNCTIONS) for one in given)
        return not isinstance(callee, _FUNCTIONS)
    return isinstance(node, PerformOp) or _is_computed_reason(node)


_FUNCTIONS = (Const, Known, Lambda)
"""The nodes of functions in the program."""

_CLOSED = frozenset((*TAKES, "raise", "error"))
"""Higher-order functions that raise nothing of their own."""


@cache
def _codes() -> frozenset[str]:
    """Return every error code of the language."""
    return frozenset([name.removesuffix(".md") for name in package_data.names("errors")])


def _words_in(value: Any) -> set[str]:
    """Return the texts and symbols in a literal, keys of tables included."""
    found: set[str] = set()
    work = [value]
    while work:
        value = work.pop()
        if isinstance(value, str):
            found.add(value)
        elif isinstance(value, Symbol):
            found.add(value.name)
        elif isinstance(value, tuple):
            work += value
        elif isinstance(value, dict):
            work += [*value, *value.values()]
    return found


def _is_computed_reason(node: Any) -> bool:
    """Return whether a node is `{reason: e}` or `{type: e}` where e is no literal."""
    return isinstance(node, MakeTable) and any(
        key in ("reason", "type") and not isinstance(value, Const)
        for key, value in zip(node.keys, node.values, strict=True)
    )


_ALONE, _BESIDE = "this clause takes no error", "this clause takes the others"


def _finding(clause: Clause, word: str, known: frozenset[str]) -> Diagnostic:
    (param,) = clause.params[:1]
    if param in known:
        hint = f"the name comes first: `(catch ({word} {param}) …)`"
        title = f"no error is called `{word}`, and `{param}` is one"
    else:
        title = f"nothing raises `{word}`"
        close = nearest(word, sorted(known), LIKE)
        hint = "a word here is the type or the reason of an error: `sexplang explain` lists them"
        if close is not None:
            hint = f"did you mean `{close}`?"
    return Diagnostic(
        "never-raised",
        title,
        (Label(clause.span, _ALONE if len(clause.words) == 1 else _BESIDE),),
        hint=hint,
        severity="warning",
    )
