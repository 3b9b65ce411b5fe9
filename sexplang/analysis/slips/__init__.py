"""Slips: mistakes that the compiler accepts and the author cannot have meant."""

from sexplang.analysis.interpreter.interpreter import AbstractInterpreter
from sexplang.analysis.slips.answers import misread_answers
from sexplang.analysis.slips.argument_kinds import misfits
from sexplang.analysis.slips.catch_words import never_raised
from sexplang.analysis.slips.certain import Certain
from sexplang.analysis.slips.deprecated_names import find_deprecated
from sexplang.analysis.slips.handler_answers import find_misanswers
from sexplang.analysis.slips.payloads import misread_payloads, misread_settings
from sexplang.analysis.slips.prompt_parameters import find_unused_params
from sexplang.analysis.slips.text_arguments import find_swapped_texts
from sexplang.analysis.slips.unused_values import find_discarded
from sexplang.terms.diagnostic import Diagnostic
from sexplang.terms.program import Program
from sexplang.terms.source import Span

__all__ = ["find_misuses", "slips"]


def find_misuses(m: AbstractInterpreter) -> list[Diagnostic]:
    """Return the slips that the interpretation shows. For one call, return the most specific."""
    certain = Certain(m.program)
    answers = list(misread_answers(m, certain))
    places = [each.span for each in answers]
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


def slips(program: Program) -> list[Diagnostic]:
    """Return the slips that the text alone shows."""
    return [
        *never_raised(program),
        *find_discarded(program),
        *misread_payloads(program),
        *misread_settings(program),
        *find_unused_params(program),
        *find_swapped_texts(program),
        *find_deprecated(program),
    ]
