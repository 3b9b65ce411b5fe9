"""The project's own programs raise no warning but those that a page shows on purpose."""

import pytest
from support import chunks as running
from support.markdown import ROOT

from sexplang.hosts.cli.programs import build_program
from sexplang.hosts.settings.path_arguments import folder_of, source_at
from sexplang.pipeline.pipeline import inspect
from sexplang.terms.diagnostic import Diagnostics

FILES = [
    file
    for file in sorted([*ROOT.glob("stdlib/*.sexp"), *ROOT.glob("examples/**/*.sexp")])
    if not file.name.endswith(".test.sexp")
]
CHUNKS = [chunk for chunk in running.chunks("spec") if not chunk.text.lstrip().startswith("<")]

SHOWN = {
    # Literals where a page shows which of them count as true, and how little is evaluated.
    ("unreachable", '"yes"'),
    ("unreachable", '"no"'),
    ("unreachable", "1"),
    ("unreachable", "2"),
    ("unreachable", '(error "never")'),
    ("unreachable", '"tick"'),
    ("unreachable", "(catch (err raised) 3)"),
    # Definitions whose use is another form of the page, or none.
    ("unused-binding", "x"),
    ("unused-binding", "n"),
    ("unused-binding", "all-of"),
    ("unused-binding", "line"),
    ("unused-binding", "loud"),
    ("unused-binding", "secret"),
    # Calls that are to fail, for a page to show where they did.
    ("wrong-type", "3"),
    ("wrong-type", '{task: "one"}'),
    ("wrong-type", "5"),
    # What a branch performs and cannot, for a page to show that it can catch that.
    ("resume-across-par", "((ask n) resume (list (resume n)))"),
    # A failure that a page catches.
    ("never-fits", '"1"'),
    # A value of a key that occurs twice.
    ("unused-value", '{name: "tea" name: "coffee"}'),
    # A parameter that shows how one is written.
    (
        "unused-param",
        '(defatom translate-words\n  (params (words list doc: "What to translate.") '
        '(into string default: "English") (note required: false))\n'
        '  (instructions "Into {{into}}: {{words}}"))',
    ),
    # Payloads that every model refuses, for a page to show the refusal.
    ("bad-payload", '{messages: [{role: "user" content: "Hello"}] max_tokens: 0}'),
    ("bad-payload", '{messages: [{role: "user" content: "Hello"}] maxtokens: 3}'),
    (
        "bad-payload",
        '{messages: [{role: "user" content: "Hello"}] provider: {messages: []}}',
    ),
    # A handler whose body gives a value without asking.
    ("handler-unused", "((ask n) resume 0)"),
    # Tools that the script of a page answers.
    ("unknown-tool", '<task name="research" type="atomic">'),
    (
        "unknown-tool",
        '(defatom digger\n  (instructions "Dig.")\n  (model "gpt-3.5-turbo")\n'
        '  (allowed_tools "dig"))',
    ),
}
"""Warnings that are true of chunks and meant: their codes, and the text that they point to."""


WARNINGS = {
    page.stem
    for page in ROOT.glob("spec/errors/*.md")
    if "warning" in page.read_text(encoding="utf-8")
}
"""The codes that a warning may have: their pages say so."""


def shown(findings):
    """The codes of findings, with the text that each points to."""
    return {(found.code, found.labels[0].span.text) for found in findings}


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(ROOT)))
def test_a_program_of_ours_has_no_warnings(file):
    """Library and examples."""
    program = build_program(source_at(str(file)), folder_of(str(file)))

    assert (set(), ()) == (shown(inspect(program).findings), program.warnings)


def unmarked(chunk):
    """The warnings of a chunk without the forms that fail, but for those it is marked with."""
    text, marks, _ = running._readable(chunk)
    items = [running.Item(form.span.start, form.span.end) for form in running._forms(chunk, text)]
    for mark in marks:
        running._item_of(mark, items, chunk).marks.append(mark)
    expected = set()
    for item in items:
        codes = {mark.text.split()[0] for mark in item.of("!")}
        if codes and not (codes <= WARNINGS and codes <= warned_of(chunk, text[: item.end])):
            text = running._blanked(text, item.start, item.end)
        expected |= codes
    # A page shows the value of each form; a program has no use for those before the last.
    valued = [item for item in items if item.of("=>")]
    report = inspect(running._built(chunk, text))
    assert {found.code for found in report.findings if found.severity == "warning"} <= WARNINGS
    findings = [
        found
        for found in report.findings
        if found.code != "unused-value" or not any(_is_in(item, found, text) for item in valued)
    ]
    return {each for each in shown(findings) if each[0] not in expected}


def _is_in(item, found, text):
    """Whether a finding is in a form; before the text stand the imports of its templates."""
    place = found.span.start - len(found.span.source.text) + len(text)
    return item.start <= place < item.end


def warned_of(chunk, text):
    """The codes of the warnings of a program, if it is one."""
    try:
        found = running._findings(running._built(chunk, text))
        return {each.code for each in found if each.severity == "warning"}
    except Diagnostics:
        return set()


def test_the_chunks_of_the_spec_have_no_warnings():
    """But for what they show on purpose: that is marked, or listed in SHOWN."""
    found = {str(chunk): unmarked(chunk) - SHOWN for chunk in CHUNKS}

    assert {} == {chunk: warnings for chunk, warnings in found.items() if warnings}
    assert len(found) > 200
