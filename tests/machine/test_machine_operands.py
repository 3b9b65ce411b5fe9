"""Calls of primitives in every shape of operands: each means what the primitive does."""

import pytest
from support.running import begun

from sexplang.machine import Done
from sexplang.primitives import PRIMITIVES
from sexplang.terms.values.text import to_source
from sexplang.terms.values.value import Fault

NUMBERS = (0, 1, -1, 7, -7, 2, 2.5, -0.0, 10**300, -(10**400), 2**13_998, True, None, "a")
ARITHMETIC = ("+", "-", "*", "quotient", "remainder", "modulo", "=", "<", ">", "<=", ">=", "/")
TABLES = ({}, {"a": 1, "b": 2}, None, (1, 2), 5)
KEYS = ("a", "c", 0, 1, 2, -1, None)


def meant(name, *values):
    """What the primitive gives, or the code of its fault."""
    try:
        return PRIMITIVES[name].function(*values)
    except Fault as fault:
        return fault.code


SHAPES = 9


def found(name, pairs):
    """What the call gives, for each pair on a variable, a constant and something that is evaluated,
    on either side. Functions with the same constants are the same."""
    functions, calls = {}, []
    for a, b in pairs:
        a, b = to_source(a), to_source(b)
        for left in ("x", "(identity x)", f"'{a}"):
            for right in ("y", "(identity y)", f"'{b}"):
                function = f"(lambda (x y) (try ({name} {left} {right}) (catch (e) e.reason)))"
                own = functions.setdefault(function, f"f{len(functions)}")
                calls.append(f"({own} '{a} '{b})")
    bound = [f"(bind {own} {function})" for function, own in functions.items()]
    outcome = begun(f"{' '.join(bound)} [{' '.join(calls)}]")
    assert isinstance(outcome, Done), outcome
    return outcome.value


@pytest.mark.parametrize("name", ARITHMETIC)
def test_arithmetic_is_the_same_in_every_shape(name):
    """Integers of any size and sign, floats, and what is no number."""
    pairs = [(a, b) for a in NUMBERS for b in NUMBERS]
    expected = [meant(name, a, b) for a, b in pairs for _ in range(SHAPES)]

    assert list(map(repr, found(name, pairs))) == list(map(repr, expected))


@pytest.mark.parametrize(
    ("name", "lefts", "rights"),
    [
        ("get", TABLES, KEYS),
        ("nth", TABLES, KEYS),
        ("has-key?", TABLES, KEYS),
        ("cons", KEYS, TABLES),
        ("string=?", KEYS, KEYS),
        ("string-append", KEYS, KEYS),
    ],
)
def test_what_reads_and_joins_is_the_same_in_every_shape(name, lefts, rights):
    """Tables, lists, texts, and what is none of them."""
    pairs = [(a, b) for a in lefts for b in rights]
    expected = [meant(name, a, b) for a, b in pairs for _ in range(SHAPES)]

    assert list(map(repr, found(name, pairs))) == list(map(repr, expected))


def test_put_makes_another_table_and_keeps_the_order():
    """Below the size that is charged and above it."""
    for size in (0, 2, 99, 100, 101, 150):
        text = f"""
        (define (fill i t) (if (= i {size}) t (fill (+ i 1) (put t (str i) i))))
        (define t (fill 0 {{}}))
        [(keys (put t "0" "new")) (get (put t "0" "new") "0") (keys t) (get t "0")]
        """
        names = tuple(map(str, range(size)))

        assert begun(text) == Done((names or ("0",), "new", names, 0 if size else None))


def test_what_stands_first_is_evaluated_first():
    """The left operand's error is the one that is raised, whatever the right one calls."""
    text = """
    (define (down n) (if (= n 0) 0 (+ 1 (down (- n 1)))))
    (define (f x) (try (+ (nth x 9) (down (car nil))) (catch (e) e.reason)))
    (f [1])
    """
    assert begun(text) == Done("out-of-range")
