"""Slips that the interpretation of a program shows."""

from sexplang.analysis.interpreter.interpreter import AbstractInterpreter
from sexplang.analysis.slips.answers import misread_answers
from sexplang.analysis.slips.argument_kinds import misfits
from sexplang.analysis.slips.certain import Certain
from sexplang.analysis.slips.handler_answers import find_misanswers
from sexplang.terms.diagnostic import Diagnostic
from sexplang.terms.source import Span


def find_misuses(m: AbstractInterpreter) -> list[Diagnostic]:
    """Return the slips that the interpretation shows. For one call, return the most specific."""
    certain = Certain(m.program)
    answers = list(misread_answers(m, certain))
    places = [each.span for each in answers if each.severity == "error"]
    others = [
        each for each in misfits(m, certain) if not any(_is_in(each.span, one) for one in places)
    ]
    return [*answers, *others, *find_misanswers(m)]


def _is_in(inner: Span | None, outer: Span | None) -> bool:
    return (
        inner is not None
        and outer is not None
        and inner.source is outer.source
        and outer.start <= inner.start <= inner.end <= outer.end
    )
