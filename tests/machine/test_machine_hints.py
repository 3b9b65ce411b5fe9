"""What is wrong with a call is said so that the caller knows what to write."""

import pytest

import sexplang
from sexplang.terms.diagnostic import Diagnostics

TASK = '(defatom ponder (instructions "Think.") (limits timeout: 0.05))'
LONGER = 'allow `ponder` more, <limits timeout="0.1"/> or in its defatom (limits timeout: 0.1)'


def said(text):
    """The message and the hint of the first thing that is wrong with a program."""
    try:
        sexplang.run(text)
    except Diagnostics as found:
        return f"{found.diagnostics[0].title} {found.diagnostics[0].hint}"
    except sexplang.Failed as failed:
        return f"{failed.error.fields['message']} {failed.error.fields['hint']}"
    raise AssertionError(text)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("(sort [3 1 2] 5)", "`map`, `sort` and their like call what they are given"),
        ("(map 5 [1])", "5 is not a function"),
        ("(define (f x) x) (-> [3 1 2] (map f))", "the function comes first: `(map f xs)`"),
        ("(filter [1] str)", "the function comes first: `(filter f xs)`"),
        ("(fold [1] 0 +)", "the function comes first: `(fold f init xs)`"),
        ("(reduce [1] 0 +)", "the function comes first: `(reduce f init xs)`"),
        ("(-> [1 2] (fold + 0))", "the function comes first: `(fold f init xs)`"),
        ("(par-map [1 2] str)", "the function comes first: `(par-map f xs)`"),
        ("(sort < [1 2])", "the function comes last: `(sort xs f)`"),
        ("(map str 5)", "`keys`, `values` and `string-split` give lists"),
        ("(loop 2.0 1)", "an exact integer from 0 on, not 2.0"),
        ("(loop 2.0 1)", "`(exact 2.0)` is one"),
        ("(loop 2.5 1)", "write (loop ((x init) …) …)"),
        ("(nth [1 2] 1.0)", "an exact integer as its index, not 1.0"),
        ("(nth [1 2] 1.0)", "`(exact 1.0)` is one"),
        ("(-> (+ 1 2) (let ((x 3)) x))", "`let` is written `(let ((name e) …) body…)` None"),
        ("(let (x 3) x)", "two pairs of parentheses: `((x 3))`"),
        ("(with-timeout -1 2)", "`with-timeout` takes a number of seconds from 0 on, not -1"),
        ('(with-timeout "a" 2)', "for example (with-timeout 60 …)"),
        ("(with-timeout 0 (sleep 9))", "(with-timeout 1 …), or catch `seconds` and go on"),
        ("(with-timeout 0.01 (sleep 9))", "(with-timeout 0.02 …), or catch"),
        ("(with-budget {seconds: 0.01} (sleep 9))", "raise `seconds:` there, or catch"),
        (f"{TASK} (handle (ponder) ((model _) go (begin (sleep 9) (go nil))))", LONGER),
        ('"\ud800"', "half a character; delete it, or write the whole one"),
    ],
)
def test_a_hint_says_what_to_write(text, words):
    """Where arguments are in the wrong order, where a number is no index or time is up."""
    assert words in said(text)


def test_no_hint_where_none_fits():
    """A float that is no whole number has no exact twin."""
    assert "exact 1.5" not in said("(nth [1 2] 1.5)")
    assert "(exact" not in said('(nth [1 2] "a")')
