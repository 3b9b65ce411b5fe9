"""The runner of the specification's blocks catches blocks that lie."""

from pathlib import Path

import pytest
from support.chunks import check
from support.markdown import chunks_of, fences
from support.playing import Unexpected

TASK = '```xml\n<task name="say"><instructions>Say hi.</instructions></task>\n```\n'


def one(block, before="", after=""):
    """The chunk of a document with one block."""
    text = f"# A page\n\n{before}\n```sexp\n{block}\n```\n{after}"
    return next(chunks_of(Path("page.md"), text))


@pytest.mark.parametrize(
    "block",
    [
        "(+ 1 2) ;=> 3",
        "(define x 1)\n(+ x 1) ;=> 2\nx ;=> 1",
        "{b: 1 a: [true nil]} ;=> {a: [true nil] b: 1}",
        '(foo) ;! unbound-name "foo"\n(+ 1 1) ;=> 2',
        "(/ 1 0) ;! division-by-zero\n2 ;=> 2",
        "(+ 1 2 ;! unclosed-bracket\n(+ 1 2) ;=> 3",
        "(+ 1 2)) ;! stray-closer\n4 ;=> 4",
        '(ask-user "q") ;? (ask-user "q")\n ;< "a"\n ;=> "a"',
        "(par (ask-user 1) (ask-user 2)) ;? (ask-user 2)\n;< 2\n;? (ask-user _)\n;< 1\n;=> [1 2]",
        '(ask-user "q") ;? (ask-user _)\n;< (raise {reason: "gone"})\n;! gone',
        '(print "x") 5 ;=> 5',
        '"a ;=> b" ;=> "a ;=> b"',
        "{a: 1 a: 2} ;! duplicate-key\n;=> {a: 2}",
    ],
)
def test_a_true_block_passes(block):
    """Values, refusals, requests and replies, in any order that happens."""
    check(one(block))


@pytest.mark.parametrize(
    "block",
    [
        "(+ 1 2) ;=> 4",
        "true ;=> 1",
        "1 ;=> true",
        '"1" ;=> 1',
        "(foo)",
        "(foo) ;=> 1",
        "(+ 1 2) ;! unbound-name",
        "(foo) ;! wrong-type",
        '(foo) ;! unbound-name "bar"',
        "(/ 1 0)",
        "(+ 1 2",
        "(+ 1 2 ;! stray-closer",
        '(ask-user "q") ;=> "a"',
        '(ask-user "q") ;? (ask-user "other")\n;< 1',
        '(+ 1 2) ;? (ask-user "q")\n;< 1\n;=> 3',
        ";=> 1\n1",
    ],
)
def test_a_lying_block_fails(block):
    """A wrong value, code, word or request is noticed, and so is an unmarked failure."""
    with pytest.raises(Unexpected):
        check(one(block))


def test_templates_above_are_tasks_and_a_text_is_a_models_reply():
    """An unnamed XML block is in scope by its task's name."""
    block = '(str (say)) ;? (model {messages: _})\n;< "hi"\n;=> "hi"'

    check(one(block, before=TASK))


def test_named_blocks_are_files():
    """A block with a name after its kind can be imported; a folder is all below it."""
    files = "```sexp lib/a.sexp\n(define two 2)\n```\n"

    check(one('(import "lib/a.sexp")\ntwo ;=> 2', before=files))
    check(one('(import "lib")\ntwo ;=> 2', before=files))


def test_a_rendering_is_compared_and_rewritten(tmp_path):
    """A `diagnostic` block holds what a person sees, with the page's own line numbers."""
    page = tmp_path / "page.md"
    page.write_text("\n```sexp\n(foo) ;! unbound-name\n```\n\n```diagnostic\nold\n```\n")
    (chunk,) = chunks_of(page, page.read_text())

    with pytest.raises(Unexpected):
        check(chunk)
    check(chunk, update=True)
    (chunk,) = chunks_of(page, page.read_text())
    check(chunk)

    assert "page.md:3:2" in page.read_text()


def test_longer_fences_hold_shorter_ones():
    """A block ends at a fence as long as its own."""
    (fence,) = fences("````markdown\n```sexp\n1\n```\n````\n")

    assert ("markdown", "```sexp\n1\n```\n") == (fence.kind, fence.text)
