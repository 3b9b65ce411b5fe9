"""The layout of a text: what it keeps, and how it looks."""

import random
from itertools import cycle

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.examples import examples
from support.markdown import ROOT
from support.spacing import pieces, respaced, strewn
from test_reader_laws import refused, soups

from sexplang.reader import format_text, read
from sexplang.reader.writer import write
from sexplang.terms.diagnostic import Diagnostics
from sexplang.terms.source import Source
from sexplang.testing import forms

PROGRAMS = sorted(
    path.relative_to(ROOT)
    for folder in ("stdlib", "examples", "tests", "benchmarks")
    for path in (ROOT / folder).rglob("*.sexp")
)

gaps = st.sampled_from(
    [" "] * 12
    + ["\n", "\n\n\n", "\t", "\r\n", " ; c\n", "\n; own\n", "\r\n; c\r\n\r\n", " ;; a\n   ;; b\n"]
    + [" ; x\n\n ; y\n#|z|#", " #| b |# ", "\n#| b\n x |#\n", " #|m\nn|#\n", " #|p|# ; q\n"]
    + ["\n#|p|# ; q\n", " #;(dropped x) ", " #;#;a b ", " #; ; why\n x ", " #;k: #|l|# v "]
)
# A prime number of gaps: their order is another one each time around a form.
written = st.lists(forms(), max_size=3).map(lambda several: "\n".join(map(write, several)))
texts = st.builds(strewn, written, st.lists(gaps, min_size=7, max_size=7).map(cycle))


def comments(text):
    """The comments of a text, white space aside."""
    return [" ".join(piece.split()) for _, _, piece in pieces(text) if piece[:2] in _COMMENTS]


_COMMENTS = {";", "#|", "; ", ";;"}


def forms(text):
    return read(Source("", text))


@examples(80, 400, texts.filter(lambda text: not refused(text)), st.integers(0, 1000))
def test_a_layout_keeps_what_is_said_and_is_laid_out_already(text, seed):
    """The same forms and comments; laying it out again changes nothing, nor does white space."""
    laid = format_text(text)

    assert forms(text) == forms(laid)
    assert comments(text) == comments(laid)
    assert laid == format_text(laid)
    assert laid == format_text(respaced(laid, random.Random(seed)))


@settings(max_examples=200)
@given(soups)
def test_any_text_is_laid_out_or_refused(text):
    """What cannot be read is refused with the reader's diagnostics, and nothing else happens."""
    try:
        laid = format_text(text)
    except Diagnostics:
        assert refused(text)
    else:
        assert forms(text) == forms(laid)
        assert laid == format_text(laid)


@pytest.mark.parametrize("path", PROGRAMS, ids=str)
def test_every_program_of_the_tree_is_laid_out(path):
    """`fmt` leaves no difference, whatever the white space was."""
    text = (ROOT / path).read_text(encoding="utf-8")

    assert text == format_text(text)
    for seed in range(5):
        assert text == format_text(respaced(text, random.Random(seed)))


@pytest.mark.parametrize(
    "text",
    [
        "(f " * 9_990 + "x" + ")" * 9_990,
        "(f a ; why\n" * 9_990 + "x" + ")" * 9_990,
        "[{a: '(let ((x " * 1_600 + "1" + ")) x)}]" * 1_600,
    ],
    ids=["calls", "comments", "mixed"],
)
def test_a_deep_text_is_laid_out(text):
    """10,000 levels at Python's default recursion limit, and no line grows with the depth."""
    laid = format_text(text)

    assert len(laid) < 200 * text.count("(")
    assert laid == format_text(laid)


def test_no_line_is_longer_than_it_must_be():
    """Where the tokens allow it, a line has 100 columns at most."""
    text = "(define (f x) " + "(g (list x 1 2) {a: [x x x]} " * 12 + "x" + ")" * 13

    assert max(map(len, format_text(text).splitlines())) <= 100


@pytest.mark.parametrize(
    "text",
    [
        '(f """\n   a\n     b\n\n   c\n   """)',
        '(f """\n\ta\n\t\tb\n""" 1)',
        '{prompt: """\n a\r\n   b\r\n """}',
        '(f """\n  a\n\n   \n  b""")',
        '(f """first\n   second""")',
        '(f """\n""" """\n\n""")',
        '(f "raw\n   lines  \n")',
    ],
)
@pytest.mark.parametrize("depth", [0, 1, 7])
def test_a_text_block_says_the_same_wherever_it_moves(text, depth):
    """Its lines move with it; its value does not change."""
    deep = "(let ((x 1)) " * depth + text + ")" * depth

    assert forms(deep) == forms(format_text(deep))
    assert format_text(deep) == format_text(format_text(deep))
