"""The tables of chapter 9a are what is found."""

import re

import pytest
from support.markdown import ROOT, fences
from support.running import built

from sexplang.pipeline.pipeline import build, inspect
from sexplang.terms.source import Source

PAGE = ROOT / "spec" / "09a-check.md"
TEXT = PAGE.read_text(encoding="utf-8")
INPUTS = "(define-input docs type: json)(define-input n type: integer)"


def rows(heading):
    """The rows of the tables whose second column has this heading: programs and what is said."""
    tables = re.findall(rf"^\| program \| {heading} \|\n\|[-|]+\n((?:\|.*\n)+)", TEXT, re.M)
    lines = [line for table in tables for line in table.splitlines()]
    return [tuple(re.fullmatch(r"\| `(.*)` \| (.*) \|", line).groups()) for line in lines]


def report(program):
    """What is known of a program that has the chapter's tasks."""
    found = [fence.text for fence in fences(TEXT) if fence.kind == "xml"]
    templates = Source("tasks.xml", f"<templates>{''.join(found)}</templates>")
    source = Source("chapter", f'(import "tasks.xml"){INPUTS}\n{program}')
    return inspect(build(source, lambda path, importer: (templates,)))


@pytest.mark.parametrize(("program", "bound"), rows("at most"))
def test_a_bound_is_what_the_chapter_says(program, bound):
    """As an expression over the inputs."""
    assert bound == str(report(program).calls)


@pytest.mark.parametrize(("program", "why"), rows("unbounded because"))
def test_a_reason_is_what_the_chapter_says(program, why):
    """With the line."""
    assert f"unbounded because of line 2: {why}" == str(report(program).calls)


@pytest.mark.parametrize(("program", "hint"), rows("hint"))
def test_a_hint_is_what_the_chapter_says(program, hint):
    """Of the one error."""
    assert [hint] == [each.hint for each in report(program).findings if each.severity == "error"]


@pytest.mark.parametrize(("program", "code"), rows("refused with"))
def test_a_refusal_is_what_the_chapter_says(program, code):
    """By its one error."""
    assert [code] == [each.code for each in report(program).findings if each.severity == "error"]


def test_effects_are_what_the_chapter_says():
    """A row for the program and one for each function at the top."""
    blocks = {fence.kind: fence.text for fence in fences(TEXT)}
    program = next(fence.text for fence in fences(TEXT) if "effects.sexp" in fence.info)
    rows_found = inspect(built(program)).effects

    assert blocks["effects"].splitlines() == [str(row) for row in rows_found]


def test_models_are_what_the_chapter_says():
    """The names that a program has for them, and no other table's `model`."""
    blocks = {fence.kind: fence.text for fence in fences(TEXT)}
    program = next(fence.text for fence in fences(TEXT) if "models.sexp" in fence.info)

    assert blocks["models"].split() == [*inspect(built(program)).models]


def test_needs_are_what_the_chapter_says():
    """A line for each thing that has to be permitted."""
    blocks = {fence.kind: fence.text for fence in fences(TEXT)}
    program = next(fence.text for fence in fences(TEXT) if "needs.sexp" in fence.info)

    assert blocks["needs"].splitlines() == [str(need) for need in inspect(built(program)).needs]
