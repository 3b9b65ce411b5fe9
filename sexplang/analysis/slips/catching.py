"""The words of `catch` to those that no error has."""

from collections.abc import Iterator
from difflib import get_close_matches
from functools import cache
from typing import Any

from sexplang import data
from sexplang.analysis.own import own_nodes
from sexplang.terms.core import Clause, Const, MakeTable
from sexplang.terms.diagnostic import Diagnostic, Label
from sexplang.terms.program import Program
from sexplang.terms.source import Made
from sexplang.terms.value import Symbol

TYPES = frozenset(("PROGRAM_ERROR", "RESOURCE_EXHAUSTION", "TASK_FAILURE", "USER_ERROR"))


LIKE = 0.75
"""How alike two words are, where one is meant by the other."""


def never_raised(program: Program) -> Iterator[Diagnostic]:
    """Words that are neither a type, nor a code, nor written anywhere else in the program.

    A reason that is computed, or that a host may give, can be any word.
    """
    catches: list[Clause] = []
    written: set[str] = set()
    for node in own_nodes(program):
        if isinstance(node, Clause) and node.words and not isinstance(node.span, Made):
            catches.append(node)
        elif isinstance(node, Const):
            written |= _words_in(node.value)
        elif _is_computed_reason(node):
            return
    if not catches or _asks_the_host(program):
        return
    known = TYPES | _codes() | written
    for clause in catches:
        for word in clause.words:
            if word not in known:
                yield _finding(clause, word, known)


@cache
def _codes() -> frozenset[str]:
    """Every code that the language itself has."""
    return frozenset([name.removesuffix(".md") for name in data.names("errors")])


def _words_in(value: Any) -> set[str]:
    """The texts and symbols in a literal, keys of tables among them."""
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
    """`{reason: e}` or `{type: e}` where e is no literal."""
    return isinstance(node, MakeTable) and any(
        key in ("reason", "type") and not isinstance(value, Const)
        for key, value in zip(node.keys, node.values, strict=True)
    )


def _asks_the_host(program: Program) -> bool:
    """Whether it declares an effect that only a host could answer, which may refuse with a reason
    of its own."""
    return any(
        not program.handles(operation) for unit in program.units for operation in unit.operations
    )


_ALONE, _BESIDE = "this clause takes no error", "this clause takes the others"


def _finding(clause: Clause, word: str, known: frozenset[str]) -> Diagnostic:
    (param,) = clause.params[:1]
    if param in known:
        hint = f"the name comes first: `(catch ({word} {param}) …)`"
        title = f"no error is called `{word}`, and `{param}` is one"
    else:
        title = f"nothing raises `{word}`"
        close = get_close_matches(word, sorted(known), 1, LIKE)
        hint = "a word here is the type or the reason of an error: `sexplang explain` lists them"
        if close:
            hint = f"did you mean `{close[0]}`?"
    return Diagnostic(
        "never-raised",
        title,
        (Label(clause.span, _ALONE if len(clause.words) == 1 else _BESIDE),),
        hint=hint,
        severity="warning",
    )
