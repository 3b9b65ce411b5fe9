"""A macro that is imported means what it means in its own module."""

import pytest
from support.expanding import complaints, found, value

LIBRARY = """
(define _count 10)
(define (_add x) (+ x _count))
(define (double x) (* 2 x))
(define-effect (ping x))
(define-syntax add (syntax-rules () ((_ e) (_add (double e)))))
(define-syntax _pair (syntax-rules () ((_ e) [e _count])))
(define-syntax added (syntax-rules () ((_ e) (_pair (add e)))))
(define-syntax def-count (syntax-rules () ((_ name) (define (name) _count))))
(define-syntax def-add (syntax-rules ()
  ((_ name) (define-syntax name (syntax-rules () ((_ x) (add x)))))))
(define-syntax is-double (syntax-rules (double) ((_ double) true) ((_ x) false)))
(define-syntax ponged (syntax-rules () ((_ e) (handle e ((ping x) k (k (_add x)))))))
"""
MIDDLE = """
(import "library")
(define-syntax middle (syntax-rules () ((_ x) [(added x) (is-double double)])))
"""
FILES = {"library": LIBRARY, "middle": MIDDLE}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("(add 1)", "12"),
        ("(define (_add x) 0) (define _count 0) (add 1)", "12"),
        ("(let ((double 5) (add 1)) (added double))", "[20 10]"),
        ("(let ((double 5)) (added double))", "[20 10]"),
        ("(def-count get) (get)", "10"),
        ("(def-add mine) (let ((double 0)) (mine 4))", "18"),
        ("[(is-double double) (is-double add) (let ((double 1)) (is-double double))]",
         "[true false false]"),
        ("(ponged (+ 1 (ping 5)))", "16"),
        ('(define (add x) "mine") [(add 1) (added 1)]', '["mine" [12 10]]'),
    ],
)  # fmt: skip
def test_private_names_and_private_macros_serve_the_public_ones(text, expected):
    """Nothing of the importer's gets between them, nor do they hide anything there."""
    assert expected == value(f'(import "library") {text}', FILES)


def test_a_module_behind_a_name_has_its_macros_there():
    """They are used by a path; the table that the name stands for has values alone."""
    text = '(import "library" as: lib) [(lib.add 1) (lib.added 2) (keys lib)]'

    assert '[12 [14 10] ["ping" "double"]]' == value(text, FILES)
    assert [("syntax-misplaced", "lib.add")] == complaints(
        '(import "library" as: lib) lib.add', FILES
    )


def test_macros_travel_through_modules():
    """What the module in the middle imports need not be imported by its users."""
    assert "[[12 10] true]" == value('(import "middle") (middle 1)', FILES)
    assert ("unbound-name", "add") in complaints('(import "middle") (add 1)', FILES)


def test_a_flaw_in_expanded_code_shows_the_template_in_its_file():
    """The first label is the use."""
    files = {"library": "(define-syntax m (syntax-rules () ((_ a) (mising a))))"}
    (only,) = found('(import "library") (m 1)', files)

    assert ["program", "library"] == [label.span.source.name for label in only.labels]


def test_a_macro_used_before_a_definition_of_its_name_is_told():
    """An imported macro is not taken for what is defined further down."""
    text = '(import "library") (add 1) (define (add x) x)'

    assert ("used-before-defined", "add") in complaints(text, FILES)


def test_an_import_cannot_come_out_of_a_macro():
    """What a file imports is read before its macros are known."""
    text = "(define-syntax m (syntax-rules () ((_ p) (import p)))) (m std/state)"

    assert ("top-level-only", "(m std/state)") in complaints(text)
