"""The run of a test against its script, and its result."""

from time import perf_counter
from typing import Any

from sexplang.hosts.testing.cases import Test
from sexplang.hosts.testing.expectations import ScriptedRun, compare
from sexplang.hosts.testing.request_patterns import show_request, suggest_pattern
from sexplang.hosts.testing.script import FILES, Script, script_of
from sexplang.hosts.testing.test_programs import begin, is_error, program_of, value_of_form
from sexplang.machine import Suspended
from sexplang.terms.classes.node import frozen
from sexplang.terms.diagnostic import Diagnostic, Diagnostics, Label
from sexplang.terms.effect import Request
from sexplang.terms.program import Input, Program
from sexplang.terms.values.text import to_source
from sexplang.terms.values.value import Value


@frozen
class Result:
    """The result of a test: it has passed if there are no diagnostics."""

    test: Test
    findings: tuple[Diagnostic, ...]
    seconds: float

    @property
    def is_success(self) -> bool:
        return not self.findings

    def plain(self) -> dict[str, Any]:
        """Return the result as data, for `--json`."""
        return {
            "name": self.test.name,
            "file": self.test.source.name,
            "line": self.test.span.begin.line,
            "passed": self.is_success,
            "seconds": round(self.seconds, 6),
            "findings": [finding.plain() for finding in self.findings],
        }


def run_test(test: Test) -> Result:
    """Run one test. No request leaves the process, except to models of `--model`."""
    since = perf_counter()
    try:
        findings = _findings(test)
    except Diagnostics as found:
        findings = found.diagnostics
    return Result(test, findings, perf_counter() - since)


def _findings(test: Test) -> tuple[Diagnostic, ...]:
    try:
        program = program_of(test)
    except Diagnostics as refused:
        if "error" not in test.parts:
            raise
        return compare(test, ScriptedRun(refused=refused.diagnostics), {})
    inputs = _inputs(test, program)
    script = script_of(test, inputs)
    outcome = begin(test, program, inputs)
    while isinstance(outcome, Suspended):
        answered = script.answer(outcome.requests)
        if answered is None:
            return (_report_unscripted(test, outcome.requests, script),)
        request, reply = answered
        deliver = outcome.fail if is_error(reply) else outcome.resume
        outcome = deliver(request.id, reply)
    sources = {each.name: each for each in (test.source, *program.sources)}
    played = ScriptedRun(outcome, script.made, script.printed, sources)
    return (*compare(test, played, inputs), *_report_unused(script))


def _inputs(test: Test, program: Program) -> dict[str, Value]:
    form = test.parts.get("inputs")
    if form is None:
        return {}
    inputs = value_of_form(test, form, {})
    if not isinstance(inputs, dict):
        fields = inputs.fields
        raise Diagnostics([Diagnostic("bad-test", str(fields["message"]), (Label(form.span),))])
    known = {each.name for each in program.inputs}
    unknown = [name for name in inputs if name not in known]
    if unknown:
        raise Diagnostics([_no_input(unknown[0], program.inputs, Label(form.span, "given here"))])
    return inputs


def _no_input(name: str, declared: tuple[Input, ...], place: Label) -> Diagnostic:
    names = ", ".join(each.name for each in declared)
    return Diagnostic(
        "unknown-input",
        f"the program has no input called `{name}`",
        (place,),
        hint=f"its inputs are {names}" if names else "it declares no inputs (define-input)",
    )


def _report_unscripted(test: Test, requests: tuple[Request, ...], script: Script) -> Diagnostic:
    """Return the diagnostic for a request without a reply in the script."""
    request = next((each for each in requests if each.operation != "timer"), requests[0])
    places = [Label(request.span, "asked here")] if request.span is not None else []
    places.append(Label(test.span, "in this test"))
    notes = [f"asked: {show_request(request)}"]
    if script.unanswered:
        notes.append(script.unanswered)
    if script.exchanges:
        notes.append(f"expected next: {script.exchanges[0].pattern.span.text}")
    hint = f"add to `script:`  [{suggest_pattern(request)} …reply…]"
    if request.operation == "model":
        hint += '  or  {contains: "words of the request" reply: "…"}'
    elif request.operation in FILES and script.files is None:
        hint += '  or give the test files:  files: {"a.txt": "its text"}'
    return Diagnostic(
        "unscripted-request",
        f"the program asks for `{request.operation}`, and the test has no reply to it",
        tuple(places),
        tuple(notes),
        hint,
    )


def _report_unused(script: Script) -> tuple[Diagnostic, ...]:
    return tuple(
        Diagnostic(
            "test-failed",
            "the program ends without asking this",
            (Label(exchange.pattern.span, "expected here"),),
            (f"its reply would have been {to_source(exchange.reply)[:200]}",),
            "remove it from the script, or find out why the program does not get there",
        )
        for exchange in script.exchanges[:1]
    )
