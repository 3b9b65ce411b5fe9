"""Clauses that cannot answer a conversation's operation."""

from collections.abc import Iterator

from sexplang.analysis.domain.values import Abstract, Closure, Constant
from sexplang.analysis.interpreter.interpreter import AbstractInterpreter
from sexplang.analysis.own_nodes import is_own
from sexplang.terms.core import Clause
from sexplang.terms.diagnostic import Diagnostic, Label
from sexplang.terms.source import Made
from sexplang.terms.values.value import Procedure


def find_misanswers(m: AbstractInterpreter) -> Iterator[Diagnostic]:
    """Yield a diagnostic for each clause with too few parameters, or with an answer of the wrong
    kind."""
    for clause, count in m.narrow.items():
        if _is_written(clause):
            yield _too_narrow(clause, count)
    for clause, values in m.answered.items():
        if _is_written(clause) and clause not in m.narrow:
            yield from _misfit(clause, values)


def _is_written(clause: Clause) -> bool:
    return is_own(clause.span) and not isinstance(clause.span, Made)


def _too_narrow(clause: Clause, count: int) -> Diagnostic:
    name, takes = clause.operation, len(clause.params)
    params = " ".join([*clause.params, *["name", "given", "rest"][takes:count]])
    return Diagnostic(
        "wrong-arity",
        f"`{name}` is performed with {count} arguments, and its handler takes {takes}",
        (Label(clause.span),),
        hint=f"write (({name} {params}) resume …)",
    )


def _misfit(clause: Clause, values: list[Abstract]) -> Iterator[Diagnostic]:
    name = clause.operation
    if name in ("tool", "compact") and all(map(_is_function, values)):
        title = f"this handler of `{name}` resumes with a function, and a model can be sent none"
        hint = "call it, and resume with what it gives"
        yield Diagnostic("not-data", title, (Label(clause.span),), hint=hint)
    elif name == "compact" and all(map(_is_atom, values)):
        title = "this handler of `compact` resumes with what is no list of messages"
        hint = "write (resume (take messages 1)), or (forward resume compact messages used limit)"
        yield Diagnostic("bad-compaction", title, (Label(clause.span),), hint=hint)


def _is_function(value: Abstract) -> bool:
    return isinstance(value, Closure) or (
        isinstance(value, Constant) and isinstance(value.value, Procedure)
    )


def _is_atom(value: Abstract) -> bool:
    return isinstance(value, Constant) and isinstance(value.value, (str, int, float, type(None)))
