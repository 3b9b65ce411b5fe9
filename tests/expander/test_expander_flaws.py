"""What is wrong with a macro is said at the part that is wrong; with a use, at the use."""

import pytest
from support.expanding import complaints, found

import sexplang

BAD = "bad-syntax-rules"


@pytest.mark.parametrize(
    ("rules", "code", "place"),
    [
        ("1", BAD, "1"),
        ("(lambda (x) x)", BAD, "(lambda (x) x)"),
        ("(syntax-rules)", BAD, "(syntax-rules)"),
        ("(syntax-rules ())", BAD, "(syntax-rules ())"),
        ("(syntax-rules ((_) 1))", BAD, "((_) 1)"),
        ("(syntax-rules [] ((_) 1))", BAD, "[]"),
        ("(syntax-rules (a 1) ((_) 1))", BAD, "(a 1)"),
        ("(syntax-rules () 5)", BAD, "5"),
        ("(syntax-rules () ((_)))", BAD, "((_))"),
        ("(syntax-rules () ((_) 1 2))", BAD, "((_) 1 2)"),
        ("(syntax-rules () (_ 1))", BAD, "_"),
        ("(syntax-rules () (() 1))", BAD, "()"),
        ("(syntax-rules () ((_ a (a)) 1))", BAD, "a"),
        ("(syntax-rules () ((_ a . b) 1))", BAD, "."),
        ("(syntax-rules () ((_ (else a)) 1))", BAD, "else"),
        ("(syntax-rules () ((_ ... a) 1))", BAD, "..."),
        ("(syntax-rules () ((_ (a ... b ...)) 1))", BAD, "..."),
        ("(syntax-rules () ((_ a ... ...) 1))", BAD, "..."),
        ("(syntax-rules () ((_ {k: a k: b}) 1))", BAD, "k:"),
        ("(syntax-rules () ((_ a) (... a b)))", BAD, "..."),
        ("(syntax-rules () ((_ a) ...))", BAD, "..."),
        ("(syntax-rules () ((_ a ...) a))", "ellipsis-depth", "a"),
        ("(syntax-rules () ((_ (a ...) ...) (a ...)))", "ellipsis-depth", "a"),
        ("(syntax-rules () ((_ a ...) a.x))", "ellipsis-depth", "a.x"),
        ("(syntax-rules () ((_ a) (a ...)))", "ellipsis-depth", "..."),
        ("(syntax-rules () ((_ a ...) (b ...)))", "ellipsis-depth", "..."),
        ("(syntax-rules () ((_ (a ...) (b ...)) (((a b) ...) ...)))", "ellipsis-depth", "..."),
        ("(syntax-rules () ((_ a ...) ((a a ...) ...)))", "ellipsis-depth", "..."),
    ],
)
def test_a_flaw_is_at_the_part_that_is_wrong(rules, code, place):
    """One finding for one flaw, and none for the uses of a macro that has one."""
    assert [(code, place)] == complaints(f"(define-syntax m {rules}) (m 1 2 3)")


def test_all_flaws_of_a_macro_are_found_at_once():
    """Rule by rule."""
    rules = "(syntax-rules () ((_ a a) 1) ((_ b) (b ...)) ((_ c ...) c) (_ 1))"

    assert [
        (BAD, "a"),
        ("ellipsis-depth", "..."),
        ("ellipsis-depth", "c"),
        (BAD, "_"),
    ] == complaints(f"(define-syntax m {rules})")


def test_a_use_that_does_not_fit_shows_the_patterns():
    """With the macro's name where the pattern has `_`, and the place of the macro."""
    (only,) = found(
        "(define-syntax swap (syntax-rules () ((_ a b) [b a]) ((_ a) a)))\n(swap 1 2 3)"
    )

    assert ("no-rule", "(swap 1 2 3)") == (only.code, only.span.text)
    assert ("a pattern is `(swap a b)`", "a pattern is `(swap a)`") == only.notes
    assert [2, 3] == sorted(label.span.begin.line for label in only.labels)


def test_what_is_wrong_in_expanded_code_is_at_the_use():
    """A second label shows the template; what came with the use is at its own place."""
    text = "(define-syntax m (syntax-rules () ((_ e) (begin (missing 1) e))))\n(m (gone 2))"
    first, second = found(text)

    assert ["(m (gone 2))", "missing"] == [label.span.text for label in first.labels]
    assert "`m` puts this there" == first.labels[1].words
    assert ["gone"] == [label.span.text for label in second.labels]


def test_a_use_in_a_template_is_at_the_use_that_is_written():
    """However many macros stand between; the template is the innermost."""
    text = """
        (define-syntax inner (syntax-rules () ((_ a) (missing a))))
        (define-syntax outer (syntax-rules () ((_ a) (inner a))))
        (outer 1)"""
    (only,) = found(text)

    assert ["(outer 1)", "missing"] == [label.span.text for label in only.labels]


def test_no_finding_shows_how_names_are_told_apart():
    """The marks on names that a template brings in are nobody's business."""
    text = """
        (define-syntax m (syntax-rules () ((_ e) (let ((x 1) (x 2)) (e y.z (x: 1))))))
        (m car)"""

    for each in found(text):
        said = [each.title, each.hint or "", *each.notes, *(label.words for label in each.labels)]
        assert "\x01" not in "".join(said)


@pytest.mark.parametrize(
    ("text", "code", "place"),
    [
        ("(if true (define-syntax m 1) 2)", "syntax-misplaced", "(define-syntax m 1)"),
        ("(define-syntax m (syntax-rules () ((_) 1))) (map m [1])", "syntax-misplaced", "m"),
        ("(define-syntax m (syntax-rules () ((_) 1))) m.x", "syntax-misplaced", "m.x"),
        ("(define-syntax (m a) a)", "malformed-form", "(m a)"),
        ("(define-syntax if (syntax-rules () ((_) 1)))", "reserved-name", "if"),
        ("(syntax-rules () ((_) 1))", "malformed-form", "(syntax-rules () ((_) 1))"),
        (
            "(define (f) (m)) f (define-syntax m (syntax-rules () ((_) 1)))",
            "used-before-defined",
            "m",
        ),
        ("(define x (m)) (define-syntax m (syntax-rules () ((_) 1)))", "used-before-defined", "m"),
        ("(define m 1) (define-syntax m (syntax-rules () ((_) 1)))", "defined-twice", "m"),
        ("(define-syntax m (syntax-rules () ((_) 1))) (bind m 1)", "defined-twice", "m"),
        (
            "(define-syntax m (syntax-rules () ((_) (import std/state)))) (m)",
            "top-level-only",
            "(m)",
        ),
        ("(defmacro m (a) a)", "unbound-name", "defmacro"),
    ],
)
def test_macros_have_their_place(text, code, place):
    """A definition stands in a body, before its uses; a macro's name stands at the head."""
    assert (code, place) in complaints(text)


def test_what_is_wrong_with_an_argument_is_said_once():
    """However often the macro uses it."""
    twice = "(define-syntax m (syntax-rules () ((_ a) [a a])))"
    (only,) = sexplang.check(twice + " (m (squar 3))")

    assert "unbound-name" == only.code
