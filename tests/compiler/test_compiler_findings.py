"""What is not a program: the code, the place, and what to type instead."""

import pytest
from support.compiling import complaint, findings

from sexplang.compiler.forms.shapes import RESERVED, SHAPES

CASES = [
    # names
    ("sumarise", "unbound-name", "sumarise"),
    ("(let ((plan 1)) pla.notes)", "unbound-name", "pla.notes"),
    ("(begin (+ 1 (begin (define c 1) c)) c)", "unbound-name", "c"),
    ("(let ((a 1) (b a)) b)", "unbound-name", "a"),
    ("(lambda ((a b) b) a)", "unbound-name", "b"),
    ("[if]", "reserved-name", "if"),
    ("(define else 1)", "reserved-name", "else"),
    ("(lambda (match) 1)", "reserved-name", "match"),
    ("(let ((quote 1)) 1)", "reserved-name", "quote"),
    ("(handle 1 ((a) loop 1))", "reserved-name", "loop"),
    ("(try 1 (catch (if) 1))", "reserved-name", "if"),
    ("(define x (+ x 1))", "used-before-defined", "x"),
    ("(define (f) x) (define x 1)", "used-before-defined", "x"),
    ("(define (f) (g)) (f) (define (g) 1)", "used-before-defined", "g"),
    ("(list first) (define (first) 1)", "used-before-defined", "first"),
    ("(letrec ((a b) (b 1)) a)", "used-before-defined", "b"),
    ("later (bind later 1)", "used-before-defined", "later"),
    ("(define x 1) (define x 2)", "defined-twice", "x"),
    ("(let () (define (f) 1) (define f 2) f)", "defined-twice", "f"),
    ("(define-effect (f)) (define f 1)", "defined-twice", "f"),
    ("(define-effect (f)) (define-effect (f))", "defined-twice", "f"),
    ("(lambda (a a) a)", "duplicate-name", "a"),
    ("(lambda (a . a) a)", "duplicate-name", "a"),
    ("(let ((a 1) (a 2)) a)", "duplicate-name", "a"),
    ("(loop ((a 1) (a 2)) a)", "duplicate-name", "a"),
    ("(handle 1 ((a x x) k 1))", "duplicate-name", "x"),
    ("(handle 1 ((a x) x 1))", "duplicate-name", "x"),
    ("(handle 1 ((a) k 1) ((a) k 2))", "duplicate-name", "a"),
    ("(define-effect (op a a))", "duplicate-name", "a"),
    # calls
    ("(first)", "wrong-arity", "(first)"),
    ("(first 1 2)", "wrong-arity", "(first 1 2)"),
    ("(map first)", "wrong-arity", "(map first)"),
    ("(model)", "wrong-arity", "(model)"),
    ("(model 1 2)", "wrong-arity", "(model 1 2)"),
    ("(perform model)", "wrong-arity", "(perform model)"),
    ("(ask-user choices: [1])", "wrong-arity", "(ask-user choices: [1])"),
    ("(define (f a) a) (f)", "wrong-arity", "(f)"),
    ("(define (f a (b 1)) a) (f 1 2 3)", "wrong-arity", "(f 1 2 3)"),
    ("(define (f a . b) a) (f)", "wrong-arity", "(f)"),
    ("(define (f a b) a) (f b: 1)", "wrong-arity", "(f b: 1)"),
    ("(let ((f (lambda (a) a))) (f))", "wrong-arity", "(f)"),
    ("(define f first) (f)", "wrong-arity", "(f)"),
    ("(let go ((i 0)) (go))", "wrong-arity", "(go)"),
    ("(summarize)", "wrong-arity", "(summarize)"),
    ('(defatom t (params (a default: 1) b) (instructions "x")) (t 1)', "wrong-arity", "(t 1)"),
    ("(summarize style: 1)", "wrong-arity", "(summarize style: 1)"),
    ("(summarize 1 2 3 4)", "wrong-arity", "(summarize 1 2 3 4)"),
    ("(handle 1 ((a) k (k 1 2)))", "wrong-arity", "(k 1 2)"),
    ("(handle 1 ((error) k 1))", "wrong-arity", "(error)"),
    ("(define-effect (op a)) (handle 1 ((op) k 1))", "wrong-arity", "(op)"),
    ("(define (f a) a) (f b: 1)", "unknown-label", "b:"),
    ("(define (f a . b) a) (f 1 b: 1)", "unknown-label", "b:"),
    ("(summarize 1 stile: 2)", "unknown-label", "stile:"),
    ("(model playload: 2)", "unknown-label", "playload:"),
    ("(define (f a) a) (f 1 a: 1)", "duplicate-label", "a:"),
    ("(define (f a) a) (f a: 1 a: 2)", "duplicate-label", "a:"),
    ("(first list: 1)", "positions-only", "list:"),
    ("(map first list: 1)", "positions-only", "list:"),
    ("(perform model payload: 1)", "positions-only", "payload:"),
    ("(handle 1 ((a) k (k value: 1)))", "positions-only", "value:"),
    ("(define (f a b) a) (f a: 1 2)", "label-misplaced", "2"),
    ("(summarize (text 1))", "named-argument", "(text 1)"),
    ("(1 2)", "not-a-function", "1"),
    ('("f" 2)', "not-a-function", '"f"'),
    # loops
    ("(recur 1)", "recur-outside-loop", "(recur 1)"),
    ("(loop 3 (recur))", "recur-outside-loop", "(recur)"),
    ("(loop ((i 0)) (list (recur 1)))", "recur-outside-loop", "(recur 1)"),
    ("(loop ((i 0)) (lambda () (recur 1)))", "recur-outside-loop", "(recur 1)"),
    ("(loop ((i 0)) (try (recur 1) (catch (e) 2)))", "recur-outside-loop", "(recur 1)"),
    ("(loop ((i 0)) (try 1 (catch (e) (recur 1))))", "recur-outside-loop", "(recur 1)"),
    ("(loop ((i 0)) (handle (recur 1) ((a) k 1)))", "recur-outside-loop", "(recur 1)"),
    ("(loop ((i 0)) (handle 1 ((a) k (recur 1))))", "recur-outside-loop", "(recur 1)"),
    ("(loop ((i 0)) (par (recur 1)))", "recur-outside-loop", "(recur 1)"),
    ("(loop ((i 0)) (loop 2 (recur 1)))", "recur-outside-loop", "(recur 1)"),
    ("(loop ((i 0)) (recur))", "recur-arity", "(recur)"),
    ("(loop ((i 0)) (loop ((a 1) (b 2)) (recur 1)))", "recur-arity", "(recur 1)"),
    # bodies
    ("(if 1 (bind x 1) 2)", "bind-outside-body", "(bind x 1)"),
    ("(list (define x 1))", "bind-outside-body", "(define x 1)"),
    ("(handle (define x 1) ((a) k 1))", "bind-outside-body", "(define x 1)"),
    ("(let () (import std/state))", "top-level-only", "(import std/state)"),
    ("[(define-effect (a))]", "top-level-only", "(define-effect (a))"),
    ("(when 1 (define-input a))", "top-level-only", "(define-input a)"),
    ("(let ((x 1)) (set! x 2) x)", "no-assignment", "(set! x 2)"),
    # shapes
    ("(if 1 2)", "malformed-form", "(if 1 2)"),
    ("(if 1 2 3 4)", "malformed-form", "4"),
    ("(let (a 1) a)", "malformed-form", "a"),
    ("(let [a 1] 2)", "malformed-form", "[a 1]"),
    ("(let ((a)) 2)", "malformed-form", "(a)"),
    ("(let go 2)", "malformed-form", "(let go 2)"),
    ("(lambda [a] 1)", "malformed-form", "[a]"),
    ("(lambda (1) 1)", "malformed-form", "1"),
    ("(lambda ((a)) 1)", "malformed-form", "(a)"),
    ("(lambda (a . b c) a)", "malformed-form", "."),
    ("(define 1 2)", "malformed-form", "1"),
    ("(define (f))", "malformed-form", "(define (f))"),
    ("(define x 1 2)", "malformed-form", "2"),
    ("(bind (f x) 1)", "malformed-form", "(f x)"),
    ("(cond 1)", "malformed-form", "1"),
    ("(cond (else))", "malformed-form", "(else)"),
    ("(cond (else 1) (2 3))", "malformed-form", "(else 1)"),
    ("(cond (1 => first 2))", "malformed-form", "(1 => first 2)"),
    ("(case 1 2)", "malformed-form", "2"),
    ("(case 1 (2))", "malformed-form", "(2)"),
    ("(else 1)", "malformed-form", "(else 1)"),
    ("(catch (e) 1)", "malformed-form", "(catch (e) 1)"),
    ("`(1 (unquote))", "malformed-form", "(unquote)"),
    ("`~@[1]", "malformed-form", "~@[1]"),
    ("~1", "malformed-form", "~1"),
    ("(try 1)", "malformed-form", "(try 1)"),
    ("(try (catch (e) 1))", "malformed-form", "(try (catch (e) 1))"),
    ("(try 1 (catch e 1))", "malformed-form", "e"),
    ("(try 1 (catch (e)))", "malformed-form", "(e)"),
    ("(try 1 (catch (e 3) 1))", "malformed-form", "3"),
    ("(try 1 (finally))", "malformed-form", "(finally)"),
    ("(try 1 (finally 2) (catch (e) 3))", "malformed-form", "(finally 2)"),
    ("(handle 1 2)", "malformed-form", "2"),
    ("(handle 1 (() k 2))", "malformed-form", "()"),
    ("(handle 1 ((a) k))", "malformed-form", "((a) k)"),
    ("(handle 1 (return x))", "malformed-form", "(return x)"),
    ("(perform 1)", "malformed-form", "1"),
    ("(handle 1 ((a) k (forward 1 a)))", "malformed-form", "1"),
    ("(forward first model 1)", "malformed-form", "first"),
    ("(import 1)", "malformed-form", "1"),
    ('(import "a" b: c)', "malformed-form", "b:"),
    ("(define-effect op)", "malformed-form", "op"),
    ("(define-effect (op) 1)", "malformed-form", "1"),
    ("(define-input n kind: 1)", "malformed-form", "kind:"),
    ("(define-input n type: text)", "bad-schema", "text"),
    ("(define-input n choices: 1)", "malformed-form", "1"),
    ("(define-input n choices: [])", "malformed-form", "[]"),
    ("(define-input n type: integer default: 1.5)", "input-mismatch", "1.5"),
    ("(define-input n type: boolean default: 1)", "input-mismatch", "1"),
    ('(define-input n choices: ["a"] default: "b")', "input-mismatch", '"b"'),
    ("(define-input n choices: [1] default: 1)", None, ""),
    ("(define-input n choices: [1])", "input-mismatch", "[1]"),
]


@pytest.mark.parametrize(("text", "code", "place"), CASES)
def test_finding(text, code, place):
    """Each mistake is one error, at the part of the text that is wrong."""
    if code is None:
        assert () == findings(text)
        return

    assert (code, place) == complaint(text)


@pytest.mark.parametrize("name", [name for name, shape in SHAPES.items() if shape.least])
def test_a_form_with_nothing_in_it_shows_its_syntax(name):
    """The syntax of the table is in the message."""
    (found,) = findings(f"({name})")

    assert "malformed-form" == found.code
    assert SHAPES[name].syntax.split(") or (")[0] in found.title


@pytest.mark.parametrize("name", sorted(RESERVED))
def test_a_word_of_the_language_cannot_be_bound(name):
    """Whatever binds it."""
    for text in (f"(bind {name} 1)", f"(lambda ({name}) 1)", f"(let ({name} 1) 1)"):
        assert "reserved-name" in [found.code for found in findings(text)] or "let" in text


HINTS = [
    ("(sumarize 1)", "did you mean `summarize`, a task?"),
    ("(defun f (x) x)", "(define (f x) x)"),
    ("(setq x 1)", "there is no assignment"),
    ("(lamda (x) x)", "did you mean `lambda`?"),
    ("(summarize 1 stile: 2)", "did you mean `style:`?"),
    ("(summarize (text 1))", "write `text: 1`"),
    ("(import state)", 'write `(import "state")`'),
    ("(if 1 2)", "(when test body…)"),
    ("(let (x 1) 1)", "two pairs of parentheses"),
]


@pytest.mark.parametrize(("text", "words"), HINTS)
def test_hint(text, words):
    """The first finding says what to type instead."""
    hint = findings(text)[0].hint

    assert words in (hint or "")


def test_every_finding_is_given():
    """One error does not hide the next, in the same form or another."""
    found = findings("(list aa bb) (first) (lambda (x x) cc)")

    assert ["unbound-name", "unbound-name", "wrong-arity", "duplicate-name", "unbound-name"] == [
        one.code for one in found
    ]


def test_of_many_errors_the_first_have_suggestions():
    """A text of nothing but unknown names is refused at once."""
    found = findings(" ".join(["(lenght)"] * 3000))

    assert 3000 == len(found)
    assert ["did you mean `length`?"] * 20 + [None] * 2980 == [one.hint for one in found]


def test_a_message_holds_no_endless_name():
    """It is shortened; the place is the whole."""
    (found,) = findings("y" * 5000)

    assert f"nothing here is called `{'y' * 59}…`" == found.title
    assert 5000 == found.span.end - found.span.start


def test_a_duplicate_key_is_a_warning():
    """The last wins; in quoted tables too."""
    from support.compiling import compiled, core

    for text in ("{a: 1 a: 2}", "'{a: 1 a: 2}", "`{a: 1 a: 2}"):
        assert ["duplicate-key"] == [one.code for one in compiled(text).warnings]
        assert "{a: 2}" == core(text)


def test_a_shadowed_primitive_is_not_checked():
    """Locals hide what the prelude says of a name."""
    assert () == findings("(let ((first (lambda (a b) a))) (first 1 2))")
    assert () == findings("(define (map a) a) (map 1)")
    assert () == findings("(lambda (first) (first 1 2 3))")
