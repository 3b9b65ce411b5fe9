"""Program text with macros to its value or its findings; forms to what they expand to."""

from collections.abc import Callable
from typing import Any

from sexplang.expander import Expander
from sexplang.machine import Done, start
from sexplang.pipeline.pipeline import build
from sexplang.reader import read
from sexplang.reader.writer import write
from sexplang.terms.diagnostic import Diagnostic, Diagnostics
from sexplang.terms.form import Form, ListForm
from sexplang.terms.macro import Macro
from sexplang.terms.source import Source
from sexplang.terms.values.text import to_source
from sexplang.terms.values.value import Fault

WORDS = frozenset(["if", "let", "quote", "begin", "else", "lambda", "define"])


def finder(files: dict[str, str]) -> Callable[[str, str], tuple[Source, ...]]:
    """The files of a test as what can be imported."""

    def find(path: str, importer: str) -> tuple[Source, ...]:
        if path not in files:
            raise Fault("import-not-found", f"there is no file `{path}`")
        return (Source(path, files[path]),)

    return find


def value(text: str, files: dict[str, str] | None = None) -> str:
    """What a program gives, as it is written. Line 1 is empty."""
    outcome = start(build(Source("program", "\n" + text), finder(files or {})), {})
    assert isinstance(outcome, Done), outcome
    return to_source(outcome.value)


def found(text: str, files: dict[str, str] | None = None) -> tuple[Diagnostic, ...]:
    """What is found in a text that is not a program."""
    try:
        build(Source("program", "\n" + text), finder(files or {}))
    except Diagnostics as failed:
        return failed.diagnostics
    return ()


def complaints(text: str, files: dict[str, str] | None = None) -> list[tuple[str, str]]:
    """The codes of the findings, and the parts of the text they point to."""
    return [(each.code, each.span.text) for each in found(text, files) if each.span is not None]


def form_of(text: str) -> Form:
    (form,) = read(Source("test", text))
    return form


def macro_of(rules: str, expander: Expander) -> Macro:
    """A macro with rules as they are written, without `syntax-rules` around them."""
    form = form_of(f"(syntax-rules {rules})")
    return Macro("m", expander.rules(form), form.span)


def expanded(rules: str, use: str, rename: Any = lambda text: text) -> str:
    """What a use of `m` stands for; names are the same where they are written the same."""
    expander = Expander(WORDS)
    form = form_of(use)
    assert isinstance(form, ListForm)
    made = expander.expand(form, macro_of(rules, expander), rename, lambda one, other: one == other)
    return write(made)


def refused(rules: str, use: str) -> str:
    """The code of the finding in a use."""
    try:
        expanded(rules, use)
    except Diagnostics as failed:
        (only,) = failed.diagnostics
        return only.code
    raise AssertionError("it was expanded")
