"""`match`: what it becomes, how deep it may be, and that it agrees with a small matcher."""

import re
import sys
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.compiling import compiled, complaint, core
from support.core_places import misplaced
from support.examples import examples
from support.patterns import (
    Any_,
    Named,
    a_fitting_value,
    a_pattern,
    fit,
    names_of,
    same,
    text_of,
)
from support.running import built, seen

from sexplang.machine import Done, start
from sexplang.terms.values.text import to_source
from sexplang.terms.values.value import Symbol

CORES = {
    "a literal is compared": (
        "(match (first []) (1 2) (_ 3))",
        "(let ((first [])) (if (equal? _.0.1 1) 2 3))",
    ),
    "a variable is not evaluated into another slot, and a name for it takes none": (
        "(let ((a 1)) (match a (b b)))",
        "(let (1) b.0.1)",
    ),
    "names of a flat pattern are read again": (
        "(let ((a 1)) (match a ([p q] q) (_ 0)))",
        "(let (1) (if (and (list? a.0.1) (equal? (length a.0.1) 2))"
        " (let ((nth a.0.1 0) (nth a.0.1 1)) q.0.3) 0))",
    ),
    "names from further inside come out as a list": (
        "(let ((a 1)) (match a ([[p]] p) (_ 0)))",
        "(let (1) (let ((and (list? a.0.1) (equal? (length a.0.1) 1) (let ((nth a.0.1 0))"
        " (and (list? _.0.2) (equal? (length _.0.2) 1) (list (nth _.0.2 0))))))"
        " (if _.0.2 (let ((nth _.0.2 0)) p.0.3) 0)))",
    ),
    "a known predicate is called directly": (
        "(define (p x) x) (let ((a 1)) (match a ((? p (? not _)) 1) (_ 2)))",
        "(if (and (p#0.0 a.0.1) (not a.0.1)) 1 2)",
    ),
}


@pytest.mark.parametrize("name", CORES)
def test_a_match_becomes(name):
    """Choices, slots and primitives."""
    text, expected = CORES[name]

    assert expected in core(text)


def test_no_clause_stands_twice():
    """Neither what follows a clause nor its body is copied."""
    text = (
        "(match 1 " + " ".join(f"([[a{n}] {{k: b}}] when a{n} {n + 100})" for n in range(30)) + ")"
    )

    shown = core(text)

    assert [1] * 30 == [len(re.findall(rf"\b{n + 100}\b", shown)) for n in range(30)]
    assert 1 == shown.count("#raise")


def test_primitives_are_meant_whatever_the_program_calls_so():
    """`list?` and its kin are those of the prelude."""
    text = "(let ((list? 1) (length 2) (nth 3) (list 4) (raise 5)) (match [1 [2]] ([a [b]] [b a])))"

    assert [2, 1] == seen(start(built(text), {})).value


FINDINGS = [
    ("(match 1 ([a [a]] 1))", "duplicate-name", "a"),
    ("(match 1 ({k: a j: a} 1))", "duplicate-name", "a"),
    ("(match 1 (if 1))", "reserved-name", "if"),
    ("(match 1 ((f a) 1))", "malformed-form", "(f a)"),
    ("(match 1 ([a . b c] 1))", "malformed-form", "."),
    ("(match 1 ([a .] 1))", "malformed-form", "."),
    ("(match 1 ((quote a b) 1))", "malformed-form", "(quote a b)"),
    ("(match 1 (a: 1))", "malformed-form", "a:"),
    ("(match 1 ((? nobody _) 1))", "unbound-name", "nobody"),
    ("(match 1 ((? first second third) 1))", "malformed-form", "(? first second third)"),
    ("(match 1 ([a b] when c 1))", "unbound-name", "c"),
    ("(match 1 ([(? a _) a] 1))", "unbound-name", "a"),
    ("(match 1 (a 1) (2 a))", "unbound-name", "a"),
    ("(loop ((i 1)) (match i (1 when (recur 2) 3)))", "recur-outside-loop", "(recur 2)"),
]


@pytest.mark.parametrize(("text", "code", "place"), FINDINGS)
def test_a_pattern_that_is_none(text, code, place):
    """One error, at the part that is wrong."""
    assert (code, place) == complaint(text)


DEEP = ["[@]", "[1 @]", "[_ . @]", "{k: @}", "(? not @)", "[@ . rest]"]


@pytest.mark.parametrize("nest", DEEP)
def test_a_pattern_may_be_deep(nest):
    """Nothing depends on Python's recursion limit; a test runs without it too."""
    before, after = nest.split("@")
    depth = 9_990
    after = "" if "rest" in nest else after
    text = before * depth + "x" + after * depth
    if "rest" in nest:
        text = "[" * depth + "x" + "".join(f" . r{n}]" for n in range(depth))

    unit = compiled(f"(match [] ({text} x) (_ 0))")

    assert depth > sys.getrecursionlimit()
    assert unit.items


def test_a_deep_value_is_matched():
    """A name at the bottom, and one at every level."""
    depth = 3_000
    value = "[" * depth + "7" + "]" * depth
    names = "".join(f"[n{n} " for n in range(depth)) + "x" + "]" * depth
    pairs = "".join(f"[{n} " for n in range(depth)) + "7" + "]" * depth
    bottom = "[" * depth + "x" + "]" * depth

    assert 7 == seen(start(built(f"(match {value} ({bottom} x))"), {})).value
    found = seen(start(built(f"(match {pairs} ({names} [n0 n{depth - 1} x]))"), {}))
    assert [0, depth - 1, 7] == found.value


def test_the_value_is_evaluated_once_and_tests_as_far_as_needed():
    """From left to right; guards and predicates may perform effects."""
    text = """
    (define-effect (note x))
    (match (begin (note 0) [1 [2]])
      ([(? (lambda (v) (note 1) false) _) _] 1)
      ([a [b]] when (begin (note [a b]) (= b 3)) 2)
      ((? (lambda (v) (note 3) true) [c d]) (note 4) [d c])
      ((? note _) 5))"""
    found = seen(start(built(text), {}))

    assert ([[2], 1], None) == (found.value, found.error)
    assert [0, 1, [1, 2], 3, 4] == [arguments[0] for _, arguments in found.trace]


def test_a_guard_may_be_resumed_twice():
    """A test has no memory."""
    text = """
    (define-effect (choose))
    (handle (match [1 [2]] ([a [b]] when (choose) [a b]) (other "no"))
      ((choose) resume [(resume true) (resume false)]))"""

    assert [[1, 2], "'no'"] == seen(start(built(text), {})).value


GUARDS = {"": None, "(equal? {} 1)": 1, "(equal? {} 'a)": Symbol("a")}


@examples(80, 400, st.randoms(use_true_random=False))
def test_match_agrees_with_a_small_matcher(random):
    """Four values against up to three clauses: which is taken, and what the names stand for."""
    clauses, text = [], ""
    for at in range(random.randint(1, 3)):
        names = [f"n{n}" for n in range(40)]
        pattern = a_pattern(random, random.randrange(4), iter(names))
        if isinstance(pattern, (Any_, Named)) and at == 0:
            pattern = a_pattern(random, 3, iter(names))
        shown = text_of(pattern)
        used = names_of(pattern)
        guard = random.choice(list(GUARDS)) if used else ""
        marker = f"when {guard.format(used[-1])}" if guard else ""
        clauses.append((pattern, guard, used))
        text += f" ({shown} {marker} [{at} {' '.join(used)}])"
    program = built(f"(define-input v default: nil) (try (match v {text}) (catch (e) e.reason))")
    for _ in range(4):
        pattern = random.choice(clauses)[0]
        value = a_fitting_value(random, pattern)

        outcome = start(program, {"v": value})

        assert isinstance(outcome, Done)
        assert expected(clauses, value) == (text, to_source(outcome.value))[1], (text, value)


def expected(clauses: list[tuple[Any, str, list[str]]], value: Any) -> str:
    for at, (pattern, guard, used) in enumerate(clauses):
        found: dict[str, Any] = {}
        if fit(pattern, value, found) and (not guard or same(found[used[-1]], GUARDS[guard])):
            return to_source((at, *[found[name] for name in used]))
    return to_source("no-match")


@settings(max_examples=100)
@given(st.randoms(use_true_random=False))
def test_every_variable_of_a_match_has_its_slot(random):
    """In the tests, the guards and the bodies, whatever comes before."""
    text = "x"
    for _ in range(3):
        names = [f"m{n}" for n in range(40)]
        pattern = a_pattern(random, 3, iter(names))
        used = names_of(pattern)
        shown, all_of = text_of(pattern), " ".join(["x", *used])
        again = f"({shown} when [{all_of}] (let ((y [{all_of}])) (match y (z [y z {all_of}]))))"
        text = f"(match {text} {again} ({shown} [{all_of}]) (x [x]))"

    assert [] == misplaced(compiled(f"(let ((x 1)) {text})"))


def test_the_error_says_where():
    """At the match, with the value."""
    outcome = start(built("\n(match [1 2] ([a] 1))"), {})
    error = outcome.error.fields

    assert ("PROGRAM_ERROR", "no-match", {"value": (1, 2)}) == (
        error["type"],
        error["reason"],
        error["details"],
    )
    assert (2, 1, 22) == (
        error["span"]["line"],
        error["span"]["column"],
        error["span"]["end_column"],
    )
