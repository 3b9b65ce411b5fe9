"""Numbers: R7RS, with JSON's notation and caps that are checked before computing."""

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.primitive_calls import call, refused

INF = float("inf")
NUMBERS = st.one_of(st.integers(), st.floats(), st.integers(-5, 5))


VALUES = [
    (0, "+", []),
    (6, "+", [1, 2, 3]),
    (1.5, "+", [1, 0.5]),
    (-1, "-", [1]),
    (-4, "-", [1, 2, 3]),
    (1, "*", []),
    (24, "*", [2, 3, 4]),
    (3, "/", [6, 2]),
    (3.5, "/", [7, 2]),
    (0.25, "/", [4]),
    (1, "/", [12, 3, 4]),
    (INF, "/", [1, 0.0]),
    (-INF, "/", [1, -0.0]),
    (0.0, "/", [1, 10**400]),
    (-3, "quotient", [-7, 2]),
    (-1, "remainder", [-7, 2]),
    (1, "modulo", [-7, 2]),
    (-1, "modulo", [7, -2]),
    (1.0, "modulo", [7.0, 2]),
    (3, "abs", [-3]),
    (1.0, "min", [1, 2.0]),
    (3, "max", [1, 3, 2]),
    (2, "round", [2]),
    (2.0, "round", [2.5]),
    (4.0, "round", [3.5]),
    (-2.0, "floor", [-1.5]),
    (-1.0, "ceiling", [-1.5]),
    (-1.0, "truncate", [-1.5]),
    (INF, "round", [INF]),
    (3, "exact", [3.0]),
    (3.0, "inexact", [3]),
    (4, "sqrt", [16]),
    (4.0, "sqrt", [16.0]),
    (math.sqrt(2), "sqrt", [2]),
    (10**200, "sqrt", [10**400]),
    (1024, "expt", [2, 10]),
    (0.125, "expt", [2, -3]),
    (-1, "expt", [-1, 10**30 + 1]),
    (1, "expt", [0, 0]),
    (0, "expt", [0, 10**30]),
    (INF, "expt", [10.0, 400]),
    (-INF, "expt", [-10.0, 401]),
    ("3.5", "number->string", [3.5]),
    ("-ff", "number->string", [-255, 16]),
    ("0", "number->string", [0, 2]),
    ("+nan.0", "number->string", [math.nan]),
    (1.5, "string->number", ["1.5"]),
    (1000.0, "string->number", ["1e3"]),
    (-2, "string->number", ["-2"]),
    (False, "string->number", [" 2"]),
    (0.5, "string->number", [".5"]),
    (5.0, "string->number", ["5."]),
    (-5e3, "string->number", ["-5.e3"]),
    (5, "string->number", ["+5"]),
    (255, "string->number", ["+ff", 16]),
    (7, "string->number", ["007"]),
    (-2, "string->number", ["-02"]),
    (False, "string->number", ["."]),
    (False, "string->number", ["+"]),
    (False, "string->number", [".e3"]),
    (False, "string->number", ["+-5"]),
    (False, "string->number", ["+-f", 16]),
    (False, "string->number", ["1/2"]),
    (False, "string->number", ["#x1f"]),
    (False, "string->number", ["+inf.0"]),
    (False, "string->number", ["1_0"]),
    (False, "string->number", ["٣"]),
    (False, "string->number", ["1e999"]),
    (255, "string->number", ["fF", 16]),
    (-5, "string->number", ["-101", 2]),
    (False, "string->number", ["12", 2]),
    (True, "=", [1, 1.0, 1]),
    (False, "=", [1, 2, 1]),
    (True, "<", [1, 2, 3]),
    (False, "<", [1, 3, 2]),
    (True, "<", [2**53, 2**53 + 1]),
    (False, "<", [math.nan, math.nan]),
    (True, ">", [3, 2]),
    (True, "<=", [1, 1, 2]),
    (True, ">=", [1]),
    (True, "!=", [1, 2]),
]


@pytest.mark.parametrize(("expected", "name", "arguments"), VALUES)
def test_numbers_give_what_r7rs_says(expected, name, arguments):
    """The value and its exactness."""
    actual = call(name, *arguments)

    assert (type(expected), expected) == (type(actual), actual)


REFUSED = [
    ("wrong-type", "+", [1, True]),
    ("wrong-type", "-", [True]),
    ("wrong-type", "<", [False, 1]),
    ("wrong-type", "=", [True, 1]),
    ("wrong-type", "+", [1, None]),
    ("wrong-type", "-", [1, None]),
    ("wrong-type", "/", [1, None]),
    ("wrong-type", "<", [1, None]),
    ("wrong-type", "=", ["a", "a"]),
    ("wrong-type", "=", [1, 2, "a"]),
    ("wrong-type", "modulo", [7.5, 2]),
    ("division-by-zero", "/", [1, 0]),
    ("division-by-zero", "/", [1.0, 0]),
    ("division-by-zero", "modulo", [1, 0]),
    ("division-by-zero", "modulo", [1.0, 0.0]),
    ("division-by-zero", "expt", [0, -1]),
    ("out-of-range", "exact", [1.5]),
    ("out-of-range", "+", [10**400, 0.5]),
    ("out-of-range", "*", [-(10**400), 0.0]),
    ("out-of-range", "/", [10**400, 3]),
    ("out-of-range", "sqrt", [10**1000 + 1]),
    ("out-of-range", "inexact", [10**400]),
    ("out-of-range", "max", [10**400, 1.0]),
    ("out-of-range", "exact", [INF]),
    ("out-of-range", "sqrt", [-1]),
    ("out-of-range", "expt", [-8, 0.5]),
    ("out-of-range", "number->string", [1, 1]),
    ("wrong-type", "number->string", [1.5, 2]),
    ("wrong-type", "string->number", [12]),
    ("limit-integer", "+", [2**13999, 2**13999]),
    ("limit-integer", "*", [2**7000, 2**7000]),
    ("limit-integer", "expt", [10, 10**12]),
    ("limit-integer", "expt", [2, 14_000]),
    ("limit-integer", "string->number", ["9" * 5000]),
    ("limit-integer", "string->number", ["1" * 14_001, 2]),
]


@pytest.mark.parametrize(("code", "name", "arguments"), REFUSED)
def test_what_is_no_number_or_too_large_is_refused(code, name, arguments):
    """By code; large results are refused before they are computed."""
    assert code == refused(name, *arguments).code


def test_integers_may_have_14000_bits():
    """The cap itself is allowed, one bit more is not."""
    assert call("*", 2**7000, 2**6999) == 2**13999
    assert call("expt", 2, 13_999) == 2**13999
    assert call("+", 2**13999, 2**13999 - 1).bit_length() == 14_000


def test_a_fault_shows_the_value_and_what_to_type():
    """The two habits that come most often get a hint."""
    assert refused("+", "a", "b").message == '`+` takes numbers, not "a"'
    assert refused("+", "a", "b").hint == "`(str a b)` joins text"
    assert refused("=", "a", "a").hint == "`(equal? a b)` compares values of every kind"
    assert refused("/", 7, 0).message == "`(/ 7 0)` divides by zero"


@given(NUMBERS, NUMBERS)
def test_comparisons_are_exact_and_agree(a, b):
    """An integer beyond the floats is still compared exactly with one."""
    assert (a < b, a > b, a == b) == tuple(call(name, a, b) for name in "<>=")


@given(st.integers(), st.integers().filter(bool))
def test_quotient_and_remainder_make_up_the_number(a, b):
    """R7RS: n = d·q + r, r signed as n, q·d not beyond n."""
    q, r = call("quotient", a, b), call("remainder", a, b)

    assert a == b * q + r
    assert math.trunc(Fraction(a, b)) == q
    assert a - b * (a // b) == call("modulo", a, b)


@given(st.one_of(st.integers(), st.floats(allow_nan=False, allow_infinity=False)))
def test_a_number_survives_its_text(number):
    """string->number takes back what number->string gives."""
    back = call("string->number", call("number->string", number))

    assert (type(number), number) == (type(back), back)


@given(st.integers(), st.integers(2, 36))
def test_an_integer_survives_every_radix(number, radix):
    """Both directions, with sign."""
    assert number == call("string->number", call("number->string", number, radix), radix)


@pytest.mark.parametrize(
    "numbers, total",
    [
        ((1e308, 1e308), math.inf),
        ((-1e308, -1e308, 1.0), -math.inf),
        ((math.inf, 1.0), math.inf),
    ],
)
def test_a_sum_beyond_the_floats_is_infinite(numbers, total):
    """As with `+`; so is the mean."""
    assert total == call("sum", numbers)
    assert total == call("mean", numbers)


def test_a_sum_of_both_infinities_is_no_number():
    """As with `+`."""
    assert math.isnan(call("sum", (math.inf, -math.inf)))


def test_an_integer_beyond_the_floats_is_not_added_to_one():
    """It is said."""
    assert "out-of-range" == refused("sum", (0.5, 10**400)).code
