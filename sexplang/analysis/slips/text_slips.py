"""All slips that the text alone shows."""

from sexplang.analysis.slips.catch_words import never_raised
from sexplang.analysis.slips.deprecated_names import find_deprecated
from sexplang.analysis.slips.payloads import misread_payloads, misread_settings
from sexplang.analysis.slips.prompt_parameters import find_unused_params
from sexplang.analysis.wrong_values.all_finders import find_wrong_values
from sexplang.terms.diagnostic import Diagnostic
from sexplang.terms.program import Program


def find_text_slips(program: Program) -> list[Diagnostic]:
    """Return them, in no order."""
    return [
        *find_wrong_values(program, with_literals=False),
        *never_raised(program),
        *misread_payloads(program),
        *misread_settings(program),
        *find_unused_params(program),
        *find_deprecated(program),
    ]
