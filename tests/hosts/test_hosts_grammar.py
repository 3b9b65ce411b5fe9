"""The GBNF grammar of the notation: each of its texts is read, and programs are texts of it."""

from random import Random

import pytest
from support.command import sexplang
from support.gbnf import read_grammar
from support.markdown import ROOT

from sexplang.hosts.cli.shipped_pages import grammar, short_guide
from sexplang.reader import read
from sexplang.terms.source import Source

GRAMMAR = read_grammar(grammar())
PROGRAMS = sorted([*ROOT.glob("examples/*/*.sexp"), *ROOT.glob("stdlib/*.sexp")])
LONGEST = 4_000


@pytest.mark.parametrize("seed", range(60))
def test_a_text_of_the_grammar_is_read(seed):
    """A whole program, a line, and each kind of atom. Diagnostics would be raised."""
    random = Random(seed)

    read(Source("program", GRAMMAR.draw(random)))
    for rule in ("line", "form", "string", "block", "word", "number", "operator"):
        forms = read(Source(rule, GRAMMAR.draw(random, rule)))
        assert len(forms) == 1, rule
    for rule in ("label", "key"):
        read(Source(rule, f"{{{GRAMMAR.draw(random, rule)} 1}}"))


@pytest.mark.parametrize("seed", range(60))
def test_a_line_is_one_and_bounded(seed):
    """Of any choices it is a line of the grammar, and a program."""
    line = GRAMMAR.draw(Random(seed), "line", depth=99)

    assert "\n" not in line
    assert len(line) <= LONGEST
    assert GRAMMAR.fits(line, "line")
    assert GRAMMAR.fits(line)


def test_the_longest_line_is_as_long_as_the_grammar_says():
    """A reply of so many tokens is whole."""
    assert GRAMMAR.longest("line") <= LONGEST
    assert f"at most {LONGEST:,} characters" in grammar()


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_a_program_is_a_text_of_the_grammar(path):
    """But where a string goes over the end of a line: a text block would do."""
    broken = path.name in ("plan.test.sexp", "research.test.sexp")

    assert GRAMMAR.fits(path.read_text()) is not broken


@pytest.mark.parametrize(
    "text",
    [
        "",
        "(a",
        "(a))",
        "[a b: 1]",
        "{a}",
        "{1: 2}",
        ":a",
        "01",
        "1.",
        "+1",
        "1a",
        "'",
        "#t",
        '"a',
        '"\\x"',
        '"\\ud800"',
        '"a\nb"',
        '("a""b")',
        "(a b:)",
        "(a:: 1)",
        "(ａ)",
        '"\u202e"',
        "; a\u202e\n1",
    ],
)
def test_what_is_not_read_or_not_safe_is_no_text_of_it(text):
    assert not GRAMMAR.fits(text)


def test_the_command_prints_it_and_the_short_form():
    """As they are shipped; the short form fits into the prompt of a small model."""
    shown = sexplang("guide", "--grammar")
    short = sexplang("guide", "--short")

    assert (grammar(), "", 0) == (shown.stdout, shown.stderr, shown.returncode)
    assert (short_guide(), "", 0) == (short.stdout, short.stderr, short.returncode)
    assert len(short_guide()) <= 3_000
