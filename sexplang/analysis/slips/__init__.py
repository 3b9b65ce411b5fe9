"""A program to the slips in it: what is allowed, and what its author cannot have meant."""

from sexplang.analysis.slips.catching import never_raised
from sexplang.analysis.slips.discarding import discarded
from sexplang.analysis.slips.fitting import misfits
from sexplang.analysis.slips.prompting import unused_params
from sexplang.analysis.slips.texts import swapped_texts
from sexplang.terms.diagnostic import Diagnostic
from sexplang.terms.program import Program

__all__ = ["misfits", "slips"]


def slips(program: Program) -> list[Diagnostic]:
    """What the text alone shows."""
    return [
        *never_raised(program),
        *discarded(program),
        *unused_params(program),
        *swapped_texts(program),
    ]
