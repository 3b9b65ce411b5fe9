"""The lexer: what it gives is the text again, and it finds no fault with a sound text."""

import tomllib
from importlib import import_module

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pygments.token import (
    Comment,
    Error,
    Keyword,
    Name,
    Number,
    Operator,
    Punctuation,
    String,
    Token,
)
from support.markdown import ROOT, fences

from sexplang.hosts.lexer import SexplangLexer
from sexplang.hosts.tokens import tokens

PROGRAMS = sorted(
    path for path in ROOT.rglob("*.sexp") if not any(p.startswith(".") for p in path.parts)
)
CHAPTERS = sorted(ROOT.glob("spec/*.md"))


def coloured(text):
    lexer = SexplangLexer(stripnl=False, ensurenl=False)
    return list(lexer.get_tokens(text))


def shown(text):
    """The tokens that are neither white space nor brackets."""
    quiet = (Token.Text.Whitespace, Punctuation)
    return [(word, kind) for kind, word in coloured(text) if kind not in quiet]


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_program_of_the_tree_is_coloured(path):
    """No Error, and the tokens together are the text."""
    text = path.read_text(encoding="utf-8")

    assert text == "".join(word for _, word in coloured(text))
    assert [] == [word for kind, word in coloured(text) if kind is Error]


@pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.name)
def test_every_block_of_the_specification_is_coloured(path):
    """The tokens together are the text, also where the block shows a mistake."""
    for fence in fences(path.read_text(encoding="utf-8")):
        if fence.kind == "sexp":
            assert fence.text == "".join(word for _, word in coloured(fence.text))


@given(st.text(alphabet=st.sampled_from(list("()[]{}\"'`~@;#|\\:.,-+ \n\r\tae1é😀\x00\u2028"))))
def test_the_tokens_of_any_text_are_the_text(text):
    """Nothing is lost, nothing is added, no token is empty."""
    found = list(tokens(text))

    assert text == "".join(text[start:end] for _, start, end in found)
    assert all(start < end for _, start, end in found)
    assert text == "".join(word for _, _, word in SexplangLexer().get_tokens_unprocessed(text))


def test_words_are_told_apart():
    """Special forms, the prelude, operations, definitions, labels, data and constants."""
    text = '(define (greet name (loud false)) (print (str \'hello name) 1 2.5 sep: "-"))'

    assert shown(text) == [
        ("define", Keyword),
        ("greet", Name.Function),
        ("name", Name),
        ("loud", Name),
        ("false", Keyword.Constant),
        ("print", Name.Builtin.Pseudo),
        ("str", Name.Builtin),
        ("'", Operator),
        ("hello", String.Symbol),
        ("name", Name),
        ("1", Number.Integer),
        ("2.5", Number.Float),
        ("sep:", Name.Attribute),
        ('"-"', String.Double),
    ]


def test_comments_nest_and_drop_forms():
    """`#| |#` is one token however deep; what `#;` drops is a comment to its end."""
    text = "#| a #| b |# c |# #;(gone [1]) #;#;x y z ; end"

    assert shown(text) == [
        ("#| a #| b |# c |#", Comment.Multiline),
        *[(word, Comment.Special) for word in ["#;", "(", "gone", "[", "1", "]", ")"]],
        *[(word, Comment.Special) for word in ["#;", "#;", "x", "y"]],
        ("z", Name),
        ("; end", Comment.Single),
    ]


def test_a_text_block_is_one_token():
    """Quotes and semicolons in it begin nothing."""
    assert [('"""\n  a "b" ; c\n"""', String.Doc)] == shown('"""\n  a "b" ; c\n"""')


def test_what_cannot_be_read_is_an_error_and_the_rest_goes_on():
    """A string that never ends spoils its line, not the file."""
    assert [("(", Punctuation), ('"open', Error)] == [
        (word, kind) for kind, word in coloured('("open')
    ]
    assert ("+", Name.Builtin) in shown('(f "open\n(+ 1 2)')


def test_pygments_finds_the_lexer():
    """The entry point in pyproject.toml names the class."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())
    (place,) = settings["project"]["entry-points"]["pygments.lexers"].values()
    module, _, name = place.partition(":")

    assert SexplangLexer is getattr(import_module(module), name)
    assert "*.sexp" in SexplangLexer.filenames
