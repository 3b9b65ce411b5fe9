"""Patterns where names are bound: each is the `match` that it stands for, whatever is around."""

import json
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.as_matches import as_matches
from support.compiling import compiled, core
from support.core_places import misplaced
from support.examples import examples
from support.laws import schedule
from support.patterns import (
    Any_,
    Items,
    Named,
    Plain,
    a_fitting_value,
    a_pattern,
    names_of,
    text_of,
)
from support.programs import EVERYTHING, Shape, program
from support.running import begun, built, comparable, error_of, seen

from sexplang.machine import Done, start
from sexplang.machine.frozen_runs import freeze, thaw
from sexplang.pipeline.pipeline import inspect
from sexplang.terms.diagnostic import Diagnostics
from sexplang.terms.values.text import to_source

CORES = {
    "a parameter that is a name is a slot and nothing else": (
        "(lambda (a (b 1) . c) [a b c])",
        "(lambda#0 a (b 1) . c) = (list a.0.1 b.0.2 c.0.3)",
    ),
    "a name in a flat pattern is a slot beside the argument": (
        "(lambda ([p q]) q)",
        "(if (and (list? _.0.1) (equal? (length _.0.1) 2))"
        " (let ((nth _.0.1 0) (nth _.0.1 1)) q.0.3) ",
    ),
    "a variable is not evaluated into another slot": (
        "(let ((a 1)) (let (([p] a)) p))",
        "(let (1) (if (and (list? a.0.1) (equal? (length a.0.1) 1)) (let ((nth a.0.1 0)) p.0.2) ",
    ),
}


@pytest.mark.parametrize("name", CORES)
def test_a_binding_becomes(name):
    """Choices, slots and primitives."""
    text, expected = CORES[name]

    assert expected in core(text)


FORMS = {
    "let": "(let (({p} {v})) {b})",
    "let*": "(let* ((x 1) ({p} {v})) {b})",
    "let beside": "(let (({p} {v}) (x 1)) {b})",
    "named let": "(let next (({p} {v})) {b})",
    "loop": "(loop (({p} {v})) {b})",
    "recur": "(loop (({p} {v}) (n 0)) (if (< n 2) (recur {v} (+ n 1)) {b}))",
    "lambda": "((lambda ({p}) {b}) {v})",
    "default": "((lambda (({p} {v})) {b}))",
    "second": "((lambda (x {p} . more) {b}) 1 {v} 2)",
    "seen": "((lambda ({p} (y {b})) y) {v})",
    "define": "(let () (define {p} {v}) {b})",
    "bind": "(let () (bind {p} {v}) {b})",
    "bind again": "(let () (bind n0 0) (bind {p} {v}) {b})",
    "function": "(let () (define (f {p}) {b}) (f {v}))",
    "map": "(first (map (lambda ({p}) {b}) [{v}]))",
    "top": "(define {p} {v}) {b}",
    "top bind": "(bind {p} {v}) (bind {p} {v}) {b}",
}


def a_binding(random: Random):
    """A pattern that may stand for a name."""
    pattern = a_pattern(random, 3, (f"n{n}" for n in range(40)))
    return Items((pattern,)) if isinstance(pattern, (Any_, Named, Plain)) else pattern


@examples(60, 400, st.randoms(use_true_random=False))
def test_a_pattern_that_binds_is_a_match(random):
    """Each form, with an argument that is a variable and one that is not: values and errors."""
    pattern = a_binding(random)
    value = a_fitting_value(random, pattern)
    given = random.choice(["v", "(first [v])"])
    parts = {"p": text_of(pattern), "v": given, "b": f"[{' '.join(names_of(pattern))}]"}
    expected = outcome("(match {v} ({p} {b}))", parts, value)

    for name, form in FORMS.items():
        assert expected == outcome(form, parts, value), (name, parts, value)


def outcome(form, parts, value):
    text = form
    for key, part in parts.items():
        text = text.replace("{" + key + "}", part)
    found = start(built(f"(define-input v default: nil)\n{text}"), {"v": value})
    if isinstance(found, Done):
        return to_source(found.value)
    return error_of(found)["reason"], to_source(error_of(found)["details"])


@settings(max_examples=60)
@given(st.randoms(use_true_random=False))
def test_every_variable_has_its_slot(random):
    """In the values, the predicates, the defaults and the bodies."""
    for form in FORMS.values():
        pattern = a_binding(random)
        names = " ".join(["x", *names_of(pattern)])
        text = form.replace("{p}", text_of(pattern)).replace("{v}", "(list x)")
        text = text.replace("{b}", f"(let ((z [{names}])) (match z ([u . w] [{names} u w z])))")

        assert [] == misplaced(compiled(f"(define x 1)\n{text}")), text


PATTERNS = Shape(allowed=EVERYTHING | {"patterns"})


@pytest.mark.parametrize(
    "first", [0, *[pytest.param(at, marks=pytest.mark.long) for at in range(60, 2_000, 60)]]
)
def test_programs_with_patterns_mean_what_they_mean_with_match(first):
    """With handlers, branches, continuations and cleanups; and frozen at every wait."""
    written = 0
    for seed in range(first, first + 60):
        made = program(Random(seed), PATTERNS)
        written += "patterns" in made.kinds
        plain = as_matches(made.text)
        expected = seen(begun(plain), choose=schedule(seed))
        found = seen(begun(made.text), choose=schedule(seed))

        def thaw_again(waiting, text=made.text):
            return thaw(built(text), json.loads(json.dumps(freeze(waiting))))

        thawed = seen(begun(made.text), choose=schedule(seed), pause=thaw_again)

        assert expected == found, f"seed {seed}: {made.text}\n{plain}"
        assert (found, found.ids) == (thawed, thawed.ids), f"seed {seed}: {made.text}"

    assert written > 30


def test_check_says_the_same_of_programs_with_patterns_and_with_match():
    """How often a model is asked, what each function may perform, and what is wrong."""
    for seed in range(25):
        text = program(Random(seed), PATTERNS).text

        assert told(as_matches(text)) == told(text), f"seed {seed}: {text}"


def told(text):
    found = inspect(built(text))
    rows = [(row.name, row.operations, row.effects_of, str(row.calls)) for row in found.effects]
    wrong = [each.code for each in found.findings if not each.code.startswith("unused-")]
    return str(found.calls), rows, sorted(wrong)


DEEP = ["[@]", "[1 @]", "[_ . @]", "{k: @}", "(? not @)"]


@pytest.mark.parametrize("nest", DEEP)
def test_a_pattern_that_binds_may_be_deep(nest):
    """As one of `match`; sound, and malformed at the bottom."""
    before, after = nest.split("@")
    for inner, refused in (("x", False), ("(list x)", True)):
        text = before * 3_000 + inner + after * 3_000
        for form in (
            f"(bind {text} []) x",
            f"(define (f {text} (y x)) x)",
            f"(let (({text} 1)) x)",
        ):
            if refused:
                with pytest.raises(Diagnostics) as found:
                    built(form)
                assert ["malformed-form"] == [each.code for each in found.value.diagnostics]
            else:
                assert compiled(form).items


REFUSED = [
    ("(bind [a & b] [1 2]) (+ a b)", "malformed-form", "&"),
    ("(bind [a (list b)] [1 2]) (+ a b)", "malformed-form", "(list b)"),
    ("(bind [a b]) (+ a b)", "malformed-form", "(bind [a b])"),
    ("(define [a b] 1 2) (+ a b)", "malformed-form", "2"),
    ("(define [a a] [1 2]) a", "duplicate-name", "a"),
    ("(define [a b] [1 2]) (define a 3)", "defined-twice", "a"),
    ("(bind (? number? n m) 3) (+ n m)", "malformed-form", "(? number? n m)"),
    ("(bind (f x) 3) (f x)", "malformed-form", "(f x)"),
    ("(bind 'x 3)", "malformed-form", "'x"),
    ("(bind [a if] [1 2]) a", "reserved-name", "if"),
    ("(bind [a b] [1 c]) (+ a b)", "unbound-name", "c"),
    ("(let ([a b] [1 2]) (+ a b))", "malformed-form", "[a b]"),
    ("(let ([a 1] [b 2]) (+ a b))", "malformed-form", "[a 1]"),
    ("(let (([a b])) (+ a b))", "malformed-form", "([a b])"),
    ("(let [[a b] [1 2]] (+ a b))", "malformed-form", "[[a b] [1 2]]"),
    ("(let ((a 1) ([a b] [1 2])) (+ a b))", "duplicate-name", "a"),
    ("(let ((x 1) ([(? x y)] [1])) y)", "unbound-name", "x"),
    ("(let* (([a (b c)] 1)) (+ a b c))", "malformed-form", "(b c)"),
    ("(loop ([a b] [1 2]) (if a (recur b) a))", "malformed-form", "[a b]"),
    ("(loop [[a b] [1 2]] (if a (recur b) a))", "malformed-form", "[[a b] [1 2]]"),
    ("(letrec (([a b] [1 2])) (+ a b))", "malformed-form", "[a b]"),
    ("(define (f [a b] a) [a b])", "duplicate-name", "a"),
    ("(define (f [a b & c]) [a b c])", "malformed-form", "&"),
    ("(define (f ([a b])) [a b])", "malformed-form", "([a b])"),
    ("(define (f . [a b]) [a b])", "malformed-form", "[a b]"),
    ("(lambda ([a & b] (c (+ a b))) [a b c])", "malformed-form", "&"),
    ("(lambda ([a b] (c d)) c)", "unbound-name", "d"),
    ("(define (f [a b]) a) (f a: [1 2])", "unknown-label", "a:"),
    ('(define (f [a b]) a) (f "[a b]": [1 2])', "unknown-label", '"[a b]":'),
    ("(define (f [a b] c) a) (f c: 2)", "wrong-arity", "(f c: 2)"),
    ("(match 1 ([a (list b)] (+ a b)))", "malformed-form", "(list b)"),
]


@pytest.mark.parametrize(("text", "code", "place"), REFUSED)
def test_one_slip_is_one_error(text, code, place):
    """At the part that is wrong, whatever is done with the names."""
    with pytest.raises(Diagnostics) as found:
        built(text)

    assert [(code, place)] == [(each.code, each.span.text) for each in found.value.diagnostics]


def test_what_does_not_fit_is_an_error_at_the_pattern():
    """With its text, and the value."""
    outcome = start(built("(define (f [a b])\n  a)\n(f [1])"), {})
    error = outcome.error.fields

    assert ("no-match", "`[a b]` does not fit the value", {"value": (1,)}) == (
        error["reason"],
        error["message"],
        error["details"],
    )
    assert (1, 12, 17) == tuple(error["span"][key] for key in ("line", "column", "end_column"))


def test_names_from_a_template_are_its_own():
    """A pattern in a macro binds what the use gave, and hides nothing of it."""
    text = """
    (define-syntax with-two (syntax-rules () ((_ p e body) (let (([p t] e)) [body t]))))
    (define-syntax def-two (syntax-rules () ((_ a b e) (begin (define [a t b] e) (bind [t] [t])))))
    (define t 100)
    (def-two q r [1 50 2])
    [(with-two x [1 2] (+ x t)) q r t]"""

    assert [[101, 2], 1, 2, 100] == seen(start(built(text), {})).value


def test_parameters_without_a_name_are_told_apart():
    """Arguments that are given by position and by label to two patterns that look alike."""
    text = "((lambda ([_] [_] c (d 4)) [c d]) [1] [2] c: 3)"

    assert comparable((3, 4)) == seen(start(built(text), {})).value


def test_a_default_takes_apart_what_it_mentions():
    """A pattern that fits no more is an error in the default too; others wait for the body."""
    text = "((lambda ([a] ([b] [a]) (c (+ a b))) [a b c]) [1])"

    assert [1, 1, 2] == seen(start(built(text), {})).value


def test_a_function_with_a_pattern_is_no_tool():
    """A model gives inputs by name."""
    text = """
    (define (far [x y]) "How far it is." (+ x y))
    (define (near x) "How near it is." x)
    (defatom go (instructions "Go.") (allowed_tools far near))"""

    assert {"near"} == set(built(text).tools)
