"""The comparison of a test's expectations with the run, as diagnostics that show both sides."""

import json
from collections.abc import Iterator, Mapping, Sequence
from difflib import unified_diff
from typing import Any
from unicodedata import normalize

from sexplang.hosts.testing.cases import Test, report_malformed
from sexplang.hosts.testing.request_patterns import fits, operation_of, show_request
from sexplang.hosts.testing.test_programs import is_error, value_in, value_of_form
from sexplang.machine import Done, Failed
from sexplang.primitives import PRIMITIVES
from sexplang.terms.classes.node import field, frozen
from sexplang.terms.diagnostic import Diagnostic, Diagnostics, Label
from sexplang.terms.effect import Request
from sexplang.terms.form import Form, ListForm, Literal, Name, VectorForm
from sexplang.terms.host.host_operations import SHOWN
from sexplang.terms.source import Source
from sexplang.terms.values.boundary import value_of
from sexplang.terms.values.text import text, to_source
from sexplang.terms.values.value import Record, Value

SHORT = 70
"""The most characters of a side that is shown in one line."""

_MOST = 60


@frozen(eq=False)
class ScriptedRun:
    """The run of a test: its outcome or why it is no program, its requests, its output."""

    outcome: Done | Failed | None = None
    requests: Sequence[Request] = ()
    printed: Sequence[Request] = ()
    sources: Mapping[str, Source] = field(factory=dict)
    refused: tuple[Diagnostic, ...] = ()

    @property
    def has_failed(self) -> bool:
        """Whether it is no program, or ended with an error."""
        return bool(self.refused) or self.error is not None

    @property
    def error(self) -> Record | None:
        return self.outcome.error if isinstance(self.outcome, Failed) else None

    @property
    def trail(self) -> Any:
        """Return the Trail of a failure."""
        return self.outcome.trail if isinstance(self.outcome, Failed) else None

    @property
    def value(self) -> Value:
        """Return the value of a run that succeeded."""
        assert isinstance(self.outcome, Done)
        return self.outcome.value


def compare(test: Test, played: ScriptedRun, inputs: dict[str, Value]) -> tuple[Diagnostic, ...]:
    """Return a diagnostic for every expectation that is not met."""
    if played.has_failed and "error" not in test.parts:
        return (_fails(test, played),)
    return tuple(
        finding
        for part, check in _CHECKS.items()
        if part in test.parts
        for finding in check(test, test.parts[part], played, inputs)
    )


def _fails(test: Test, played: ScriptedRun) -> Diagnostic:
    from sexplang.hosts.terminal.show import error_note

    assert played.error is not None
    place = next((part for part in ("expect", "match") if part in test.parts), None)
    span = test.span if place is None else test.parts[place].span
    return Diagnostic(
        "test-failed",
        "the program fails",
        (Label(span, "in this test" if place is None else "expected here"),),
        (error_note(played.error, played.sources.get, played.trail),),
        'if it should fail, say so: error: "reason"',
    )


def _value(
    test: Test, form: Form, played: ScriptedRun, inputs: dict[str, Value]
) -> Iterator[Diagnostic]:
    if played.has_failed:
        return
    wanted = value_of_form(test, form, inputs)
    if is_error(wanted):
        raise Diagnostics([report_malformed(form.span, f"this fails: {wanted.fields['message']}")])
    given = played.value
    if isinstance(wanted, str) and isinstance(given, Record):
        # A TaskResult in the place of a text is its content.
        given = text(given)
    if not PRIMITIVES["equal?"].function(wanted, given):
        yield _differs("the value is another one", form, *_sides(wanted, given))


def _pattern(
    test: Test, form: Form, played: ScriptedRun, inputs: dict[str, Value]
) -> Iterator[Diagnostic]:
    if played.has_failed:
        return
    span = form.span
    value = Name("test:value", span=span)
    match = ListForm(
        (
            Name("match", span=span),
            value,
            ListForm((form, Literal(True, span=span)), span=span),
            ListForm((Name("_", span=span), Literal(False, span=span)), span=span),
        ),
        span=span,
    )
    define = ListForm((Name("define-input", span=span), value), span=span)
    given = played.value
    if value_in(test, (define, match), {**inputs, "test:value": given}) is not True:
        yield _differs(
            "the value does not fit the pattern", form, f"given {_cut(to_source(given))}"
        )


def _error(
    test: Test, form: Form, played: ScriptedRun, inputs: dict[str, Value]
) -> Iterator[Diagnostic]:
    reason, *words = form.items if isinstance(form, VectorForm) and form.items else (form,)
    wanted, parts = _word(reason), [_word(word) for word in words]
    if wanted is None or None in parts:
        raise Diagnostics(
            [report_malformed(form.span, 'write error: "reason", or ["reason" "words"]')]
        )
    codes, message = _failure(played)
    if not codes:
        given = f"the value is {_cut(to_source(played.value))}"
        yield _differs("the program does not fail", form, given)
    elif wanted not in codes:
        yield _differs(
            "the program fails for another reason", form, f"expected {wanted}", _describe(played)
        )
    elif not all(part in message for part in parts if part):
        yield _differs("the error says something else", form, _describe(played))


def _failure(played: ScriptedRun) -> tuple[set[str], str]:
    """Return the names that an error may be expected by, and its message."""
    if played.refused:
        messages = [f"{each.title} {each.hint or ''}" for each in played.refused]
        return {each.code for each in played.refused}, "\n".join(messages)
    if played.error is None:
        return set(), ""
    fields = played.error.fields
    details = fields["details"] if isinstance(fields["details"], dict) else {}
    named = (fields["type"], fields["reason"], details.get("code"), details.get("limit_kind"))
    message = f"{fields['message']} {fields['hint'] or ''}"
    return {str(each) for each in named if each}, message


def _describe(played: ScriptedRun) -> str:
    """Return a failure in words, with its traceback."""
    from sexplang.hosts.terminal.show import error_note, show

    if played.error is None:
        return "\n".join(show(each) for each in played.refused)
    return error_note(played.error, played.sources.get, played.trail)


def _word(form: Form) -> str | None:
    if isinstance(form, ListForm) and len(form.items) == 2 and operation_of(form) == "quote":
        form = form.items[1]
    if isinstance(form, Name):
        return form.text
    return form.value if isinstance(form, Literal) and isinstance(form.value, str) else None


def _requests(
    test: Test, form: Form, played: ScriptedRun, inputs: dict[str, Value]
) -> Iterator[Diagnostic]:
    assert isinstance(form, VectorForm)
    named = {operation_of(pattern) for pattern in form.items}
    if None in named:
        raise Diagnostics([report_malformed(form.span, "a request is written (op argument…)")])
    made = [
        each for each in played.requests if each.operation not in SHOWN or each.operation in named
    ]
    fitting = [fits(*pair) for pair in zip(form.items, made, strict=False)]
    if len(made) == len(form.items) and all(fitting):
        return
    at = fitting.index(False) if False in fitting else len(fitting)
    place = form.items[at].span if at < len(form.items) else form.span
    wanted = form.items[at].span.text if at < len(form.items) else "no more requests"
    given = show_request(made[at]) if at < len(made) else "no more requests"
    yield Diagnostic(
        "test-failed",
        f"request {at + 1} is another one",
        (Label(place, "expected here"),),
        (f"expected {wanted}", f"given    {given}"),
    )


def _compare_printed(
    test: Test, form: Form, played: ScriptedRun, inputs: dict[str, Value]
) -> Iterator[Diagnostic]:
    wanted = value_of_form(test, form, inputs)
    if not isinstance(wanted, str):
        raise Diagnostics([report_malformed(form.span, "what is printed is a text")])
    lines = [" ".join(text(value_of(each)) for each in one.arguments) for one in played.printed]
    given = "\n".join(lines)
    if wanted.removesuffix("\n") != given.removesuffix("\n"):
        yield _differs("something else is printed", form, *_sides(wanted, given))


_CHECKS: dict[str, Any] = {
    "expect": _value,
    "match": _pattern,
    "error": _error,
    "requests": _requests,
    "prints": _compare_printed,
}


def _differs(title: str, form: Form, *notes: str) -> Diagnostic:
    return Diagnostic("test-failed", title, (Label(form.span, "expected here"),), notes)


def _sides(wanted: Value, given: Value) -> tuple[str, ...]:
    """Return both sides, or their difference if they are long."""
    one, other = to_source(wanted), to_source(given)
    texts = isinstance(wanted, str) and isinstance(given, str)
    left, right = (str(wanted), str(given)) if texts else (one, other)
    show = _escape if normalize("NFKC", left) == normalize("NFKC", right) else str
    one, other = show(one), show(other)
    if len(one) <= SHORT and len(other) <= SHORT:
        return f"expected {one}", f"given    {other}"
    if texts:
        before, after = show(left).splitlines(), show(right).splitlines()
    else:
        before, after = _wrap(one), _wrap(other)
    lines = [
        line
        for line in unified_diff(before, after, n=2, lineterm="")
        if line[:2] not in ("--", "++", "@@")
    ]
    if len(before) == len(after) == 1 or not lines:
        return f"expected {_cut(one)}", f"given    {_cut(other)}"
    more = [f"… {len(lines) - _MOST} more lines"] if len(lines) > _MOST else []
    head = "- is expected, + is given"
    return ("\n".join([head, *[_cut(line) for line in lines[:_MOST]], *more]),)


def _escape(text: str) -> str:
    """Return a text with letters that resemble others as escapes."""
    return "".join([sign if sign.isascii() else json.dumps(sign)[1:-1] for sign in text])


def _wrap(line: str) -> list[str]:
    from sexplang.reader import format_text

    try:
        return format_text(line[:100_000]).splitlines()
    except Diagnostics:
        # The text of a function is one that cannot be read back.
        return [line]


def _cut(line: str) -> str:
    return line if len(line) <= 600 else line[:600] + " …"
