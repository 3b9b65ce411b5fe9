"""A program to the slips in it: what is allowed, and what its author cannot have meant."""

from sexplang.analysis.following import Follower
from sexplang.analysis.slips.answers import misread_answers
from sexplang.analysis.slips.catching import never_raised
from sexplang.analysis.slips.certain import Certain
from sexplang.analysis.slips.discarding import discarded
from sexplang.analysis.slips.fitting import misfits
from sexplang.analysis.slips.handling import misanswered
from sexplang.analysis.slips.payloads import misread_payloads, misread_settings
from sexplang.analysis.slips.prompting import unused_params
from sexplang.analysis.slips.texts import swapped_texts
from sexplang.terms.diagnostic import Diagnostic
from sexplang.terms.program import Program
from sexplang.terms.source import Span

__all__ = ["misused", "slips"]


def misused(m: Follower) -> list[Diagnostic]:
    """What following the program shows; of one call what says most."""
    certain = Certain(m.program)
    answers = list(misread_answers(m, certain))
    places = [each.span for each in answers]
    others = [
        each for each in misfits(m, certain) if not any(_is_in(each.span, one) for one in places)
    ]
    return [*answers, *others, *misanswered(m)]


def _is_in(inner: Span | None, outer: Span | None) -> bool:
    return (
        inner is not None
        and outer is not None
        and inner.source is outer.source
        and outer.start <= inner.start <= inner.end <= outer.end
    )


def slips(program: Program) -> list[Diagnostic]:
    """What the text alone shows."""
    return [
        *never_raised(program),
        *discarded(program),
        *misread_payloads(program),
        *misread_settings(program),
        *unused_params(program),
        *swapped_texts(program),
    ]
