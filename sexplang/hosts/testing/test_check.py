"""A file of tests to what is wrong with them, without running any."""

from sexplang.hosts.testing.cases import collect
from sexplang.hosts.testing.test_programs import program_of
from sexplang.terms.diagnostic import Diagnostic, Diagnostics
from sexplang.terms.source import Source


def check_tests(source: Source) -> tuple[Diagnostic, ...]:
    """How the tests are written, and whether their programs build. A test of an error may have
    one that does not. Raises Diagnostics."""
    found: dict[Diagnostic, None] = {}
    for test in collect(source):
        if "error" not in test.parts:
            try:
                program_of(test)
            except Diagnostics as refused:
                found.update(dict.fromkeys(refused.diagnostics))
    return tuple(found)
