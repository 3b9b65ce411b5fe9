"""Lists, tables, kinds and equality: values in, other values out, nothing changed."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.primitive_calls import call, refused

from sexplang.primitives import PRIMITIVES
from sexplang.terms.task import error_record, task_result
from sexplang.terms.template import Template
from sexplang.terms.values.value import Procedure, Record, Symbol, Task, Value

RESULT = task_result("tea", notes={"success": True})
A = Symbol("a")
NAN = float("nan")


class Closure(Procedure):
    """Equal to another that was made the same way."""

    def __init__(self, made: str) -> None:
        self.made = made

    @property
    def identity(self) -> str:
        return self.made


VALUES = [
    ((1, 2), "list", [1, 2]),
    ((1, 2), "cons", [1, (2,)]),
    (1, "car", [(1, 2)]),
    ((2,), "rest", [(1, 2)]),
    (2, "last", [(1, 2)]),
    (6, "nth", [(5, 6), 1]),
    (0, "length", [()]),
    ((1, 2, 3), "append", [(1,), (), (2, 3)]),
    ((), "append", []),
    ((2, 1), "reverse", [(1, 2)]),
    ((0, 1, 2), "range", [3]),
    ((), "range", [-3]),
    ((1, 3, 5), "range", [1, 7, 2]),
    ((5, 3), "range", [5, 1, -2]),
    ((0.0, 0.5), "range", [0.0, 1, 0.5]),
    ((1, 2), "take", [(1, 2, 3), 2]),
    ((1,), "take", [(1,), 10**30]),
    ((), "drop", [(1,), 5]),
    (((1, 3),), "zip", [(1, 2), (3,)]),
    (True, "member?", [1.0, (0, 1)]),
    (False, "member?", [True, (0, 1)]),
    ((1, "a"), "assoc", [1, ((0,), (1, "a"))]),
    (False, "assoc", [2, ((0,), (1, "a"))]),
    (1, "index-of", [(5, 6), 6]),
    (None, "index-of", [(5, 6), 7]),
    ((1, 2, {"a": (3,)}), "flatten", [(1, ((2,), ()), {"a": (3,)})]),
    ((1, 2, {"a": (3,)}), "flatten", [(1, (2,), (), ({"a": (3,)},))]),
    ((1, True, "1"), "distinct", [(1, 1.0, True, "1", 1)]),
    (({"a": 1, "b": (2,)},), "distinct", [({"a": 1, "b": (2,)}, {"b": (2.0,), "a": 1})]),
    (1, "get", [{"a": 1}, A]),
    (None, "get", [{"a": None}, "a", 5]),
    (5, "get", [{}, "a", 5]),
    (5, "get", [None, "a", 5]),
    (6, "get", [(5, 6), 1]),
    (None, "get", [(5, 6), 2]),
    (None, "get", [(5, 6), -1]),
    ("tea", "get", [RESULT, "content"]),
    (2, "get-in", [{"a": (1, {"b": 2})}, ("a", 1, A.__class__("b"))]),
    (9, "get-in", [{"a": None}, ("a", "b"), 9]),
    (None, "get-field", [{}, "a"]),
    (True, "get-property", [RESULT, Symbol("notes.success")]),
    ({"a": 1, "b": 2}, "put", [{"a": 1}, Symbol("b"), 2]),
    ({"k": 1}, "put", [Record("x", {}), "k", 1]),
    ({}, "remove", [{"a": 1}, "a"]),
    ({"a": 1}, "remove", [{"a": 1}, "b"]),
    (("a", "b"), "keys", [{"a": 1, "b": 2}]),
    ((1, 2), "values", [{"a": 1, "b": 2}]),
    ({"a": 2, "b": 1}, "merge", [{"a": 1, "b": 1}, Record("x", {"a": 2})]),
    (True, "has-key?", [{"a": None}, A]),
    (True, "null?", [()]),
    (True, "null?", [None]),
    (False, "null?", [{}]),
    (False, "nil?", [()]),
    (True, "empty?", [None]),
    (True, "empty?", [task_result("")]),
    (False, "empty?", [RESULT]),
    (True, "empty?", [{}]),
    (True, "table?", [RESULT]),
    (False, "string?", [RESULT]),
    (False, "number?", [True]),
    (True, "integer?", [2.0]),
    (False, "integer?", [NAN]),
    (False, "boolean?", [None]),
    (True, "symbol?", [A]),
    (True, "procedure?", [PRIMITIVES["car"]]),
    (True, "task?", [Task(Template("t"))]),
    (False, "not", [0]),
    (True, "not", [None]),
    (A, "identity", [A]),
]


@pytest.mark.parametrize(("expected", "name", "arguments"), VALUES)
def test_data_gives_what_the_chapter_says(expected, name, arguments):
    """The value and its kind."""
    actual = call(name, *arguments)

    assert repr(expected) == repr(actual)


REFUSED = [
    ("empty-list", "car", [()]),
    ("empty-list", "cdr", [()]),
    ("empty-list", "last", [()]),
    ("wrong-type", "car", [None]),
    ("wrong-type", "length", ["abc"]),
    ("wrong-type", "cons", [1, 2]),
    ("wrong-type", "append", [(1,), 2]),
    ("out-of-range", "nth", [(1,), 1]),
    ("out-of-range", "nth", [(1,), -1]),
    ("wrong-type", "nth", [(1,), True]),
    ("out-of-range", "take", [(1,), -1]),
    ("out-of-range", "range", [0, 1, 0]),
    ("out-of-range", "range", [0, float("inf")]),
    ("limit-list", "range", [10**9]),
    ("limit-list", "range", [0, 1e300, 0.5]),
    ("wrong-type", "member?", [(1,), 1]),
    ("wrong-type", "assoc", [1, (1, 2)]),
    ("wrong-type", "get", ["abc", 0]),
    ("wrong-type", "get", [{"a": 1}, 0]),
    ("wrong-type", "get", [(1,), "a"]),
    ("wrong-type", "get-in", [{"a": 1}, "a"]),
    ("wrong-type", "get-in", [{"a": 1}, ("a", "b")]),
    ("wrong-type", "get-property", [{"a": 1}, 1]),
    ("wrong-type", "put", [None, "a", 1]),
    ("wrong-type", "put", [{}, 1, 1]),
    ("wrong-type", "keys", [(1,)]),
    ("wrong-type", "remove", [PRIMITIVES["car"], (1,)]),
    ("wrong-type", "empty?", [0]),
]


@pytest.mark.parametrize(("code", "name", "arguments"), REFUSED)
def test_what_does_not_fit_is_refused(code, name, arguments):
    """By code, with the value in the message."""
    assert code == refused(name, *arguments).code


def test_nothing_that_was_given_is_changed():
    """Tables are copied before they are changed, as all values are immutable."""
    table = {"a": 1}
    call("put", table, "b", 2)
    call("remove", table, "a")
    call("merge", table, {"c": 3})
    call("merge", table)["d"] = 4

    assert table == {"a": 1}


def test_lists_that_share_their_parts_are_flattened_without_walking_them_all():
    """Where nothing but empty lists would come of it, nothing does."""
    value: Value = ()
    for _ in range(60):
        value = (value, value)

    assert PRIMITIVES["flatten"].function(value) == ()


EQUAL = [
    (True, 1, 1.0),
    (False, True, 1),
    (False, None, ()),
    (False, False, None),
    (True, NAN, float("nan")),
    (True, {"a": 1, "b": 2}, {"b": 2, "a": 1}),
    (False, {"a": 1}, Record("x", {"a": 1})),
    (True, Record("x", {"a": (1,)}), Record("x", {"a": (1.0,)})),
    (False, Record("x", {}), Record("y", {})),
    (True, Symbol("a"), Symbol("a")),
    (False, Symbol("a"), "a"),
    (True, Closure("f"), Closure("f")),
    (False, Closure("f"), Closure("g")),
    (False, PRIMITIVES["car"], PRIMITIVES["cdr"]),
    (True, "ab" * 1_000, "".join(["ab"] * 1_000)),
    (False, "ab" * 1_000, "ab" * 999 + "ba"),
    (False, "0x1", 1),
    (False, "#0", ("#0",)),
    (True, (1, ("x", error_record("T", "r", "m"))), (1, ("x", error_record("T", "r", "m")))),
]


@pytest.mark.parametrize(("expected", "a", "b"), EQUAL)
def test_equal_compares_structure(expected, a, b):
    """Both ways round; and equal values are one to `distinct`."""
    assert (expected, expected) == (call("equal?", a, b), call("eq?", b, a))
    assert (1 if expected else 2) == len(call("distinct", (a, b)))


VALUE = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(0, 2), st.sampled_from([0.0, 1.0, "", A])),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3).map(tuple),
        st.dictionaries(st.sampled_from("ab"), inner, max_size=2),
    ),
    max_leaves=4,
)


@given(st.lists(VALUE, max_size=6))
def test_distinct_keeps_the_first_of_each_kind(values):
    """What the definition by equal? alone would keep."""
    expected: list[Value] = []
    for value in values:
        if not any(call("equal?", value, other) for other in expected):
            expected.append(value)

    assert repr(tuple(expected)) == repr(call("distinct", tuple(values)))


def test_deep_values_are_compared_without_recursion():
    """50,000 levels, as lists and as tables."""
    made: list[Value] = [1, 1.0, 2]
    for _ in range(50_000):
        made = [({"a": value},) for value in made]

    assert (call("equal?", *made[:2]), call("equal?", *made[1:])) == (True, False)
    assert len(call("distinct", tuple(made))) == 2
