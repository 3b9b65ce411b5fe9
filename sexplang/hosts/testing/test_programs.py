"""The programs of tests, and the values of expressions in tests."""

import os
from typing import Any

from sexplang.hosts.cli.programs import has_tasks
from sexplang.hosts.settings.path_arguments import source_at
from sexplang.hosts.testing.cases import Test, collect, report_malformed
from sexplang.machine import Failed, Outcome, Suspended
from sexplang.pipeline.pipeline import Builder, Plans
from sexplang.reader import read
from sexplang.runs import assembly
from sexplang.terms.diagnostic import Diagnostic, Diagnostics
from sexplang.terms.form import Form, Label, Literal, TableForm, VectorForm
from sexplang.terms.host.host_operations import SHOWN
from sexplang.terms.program import Program
from sexplang.terms.source import Source
from sexplang.terms.values.value import Record, Value


def program_of(test: Test) -> Program:
    """Return the program that a test runs. Raises Diagnostics."""
    file = test.text("file")
    if file is None:
        return build_program(test.source, (*test.common, *test.forms))
    source = source_at(beside(test, file))
    return build_program(source, read(source))


def beside(test: Test, path: str) -> str:
    """Return a path relative to the folder of the test's file."""
    return os.path.normpath(os.path.join(os.path.dirname(test.source.name), path))


def build_program(source: Source, forms: tuple[Form, ...]) -> Program:
    """Return the program of some forms of a source.

    It may import files below the source's folder and below the working folder.
    """
    builder = Builder(_find(source), {}, {}, plan=Plans)
    builder.compile_unit(source, forms, True)
    builder.check_effects()
    return builder.program()


def check_tests(source: Source) -> tuple[Diagnostic, ...]:
    """Return the errors in the syntax and in the programs of tests, without running any.

    The program of a test that expects an error need not build. Raises Diagnostics.
    """
    found: dict[Diagnostic, None] = {}
    for test in collect(source):
        if "error" not in test.parts:
            try:
                program_of(test)
            except Diagnostics as refused:
                found.update(dict.fromkeys(refused.diagnostics))
    return tuple(found)


def begin(test: Test, program: Program, inputs: dict[str, Value]) -> Outcome:
    """Return the outcome of a test's program up to its first requests. The price of no model is
    known."""
    if program.python and test.python:
        from sexplang.api.python_files.file_functions import load_functions
        from sexplang.runtime import Permissions

        load_functions(program, Permissions(python=test.python))
    terms = assembly.terms_of(program, inputs, limits=test.limits, prices="none")
    return assembly.begin(program, terms, has_tasks=has_tasks(program), held=test.limits.held)


def value_of_form(test: Test, form: Form, inputs: dict[str, Value]) -> Value:
    """Return the value of an expression of a test, or its error record.

    The forms beside the tests are in scope. Raises Diagnostics.
    """
    known, value = _literal(form)
    return value if known else value_in(test, (form,), inputs)


def value_in(test: Test, forms: tuple[Form, ...], inputs: dict[str, Value]) -> Value:
    """Return the value of the last of some forms."""
    outcome = begin(test, build_program(test.source, (*test.common, *forms)), inputs)
    while isinstance(outcome, Suspended):
        request = outcome.requests[0]
        if request.operation not in SHOWN:
            words = f"this asks for `{request.operation}`, but nobody answers here"
            raise Diagnostics([report_malformed(forms[-1].span, words)])
        outcome = outcome.resume(request.id)
    return outcome.error if isinstance(outcome, Failed) else outcome.value


def is_error(value: Value) -> bool:
    return isinstance(value, Record) and value.kind == "error"


def _literal(form: Form, room: int = 20) -> tuple[bool, Value]:
    """Return whether a form is literal data of moderate depth, and its value."""
    if isinstance(form, Literal):
        return True, form.value
    items = form.items if isinstance(form, (VectorForm, TableForm)) and room else ()
    parts = [_literal(item, room - 1) for item in items if not isinstance(item, Label)]
    values = [value for _, value in parts]
    if not room or not all(known for known, _ in parts):
        return False, None
    if isinstance(form, TableForm) and len(form.items) == 2 * len(parts):
        return True, {
            label.text: value for (label, _), value in zip(form.entries(), values, strict=True)
        }
    return isinstance(form, VectorForm), tuple(values)


def _find(source: Source) -> Any:
    from sexplang.runtime import Permissions
    from sexplang.runtime.files.source_finder import make_finder

    folder = os.path.dirname(os.path.abspath(source.name))
    return make_finder(Permissions(read=(os.getcwd(),), folder=folder))
