"""The roster: which names there are, what they say of themselves, what they refuse."""

import re

import pytest
from hypothesis import strategies as st
from support import promised
from support.examples import examples

from sexplang.primitives import OPERATIONS, PRIMITIVES
from sexplang.terms.task import error_record, task_result
from sexplang.terms.values.value import Fault, Primitive, Record, Symbol, Value

COPY = Primitive("copy", lambda x: x, 1, 1)
RESULT = task_result("tea", notes={"success": True})


def test_every_promised_name_that_does_not_call_back_is_here():
    """Chapter 7's names, less those that are frames of the machine."""
    assert set(promised.PRIMITIVES) == set(PRIMITIVES)


def test_every_operation_of_the_host_is_here():
    """Chapter 4's table, as functions."""
    assert {*promised.OPERATIONS, "compact"} == set(OPERATIONS)


def test_a_name_knows_itself():
    """The key is the primitive's own name, and each has a doc."""
    for name, it in {**PRIMITIVES, **OPERATIONS}.items():
        assert (name, True) == (it.name, bool(it.doc))


@pytest.mark.parametrize("name", sorted(PRIMITIVES))
def test_a_doc_ends_in_an_example_that_calls_the_name(name):
    """One line: a sentence, a call and its value."""
    example = re.search(r"\((\S+).*\) ;=> \S+", PRIMITIVES[name].doc)

    assert example
    assert name == example.group(1).rstrip(")")


def test_operations_say_which_arguments_are_text():
    """A TaskResult becomes its content there before the request is made."""
    texts = {name: sorted(it.text) for name, it in OPERATIONS.items() if it.text}

    assert texts["write-file"] == [0, 1]
    assert texts["run-script"] == [0, 2]
    assert OPERATIONS["print"].rest
    assert (OPERATIONS["run-script"].name, OPERATIONS["run-script"].least) == ("run-script", 1)


def deep(levels: int, kind: str) -> Value:
    value: Value = 1
    for _ in range(levels):
        value = (value,) if kind == "list" else {"a": value}
    return value


def shared(levels: int) -> Value:
    """A small value that stands for more nodes than there is time for."""
    value: Value = ()
    for _ in range(levels):
        value = (value, value)
    return value


# Chosen by number: Hypothesis asks what it samples from for a repr.
MONSTERS: tuple[Value, ...] = (
    10**4000,
    -(10**5000),
    "x" * 5_000_000,
    deep(20_000, "list"),
    deep(20_000, "table"),
    shared(60),
)
ATOMS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 40),
    st.integers(),
    st.sampled_from([2**63, 10**30, 1e308, -0.0, 0.0, 2.5, 5e-324]),
    st.floats(),
    st.text(max_size=8),
    st.sampled_from(["~a", "~s~%", "~q", "a.b", "[1", '"\\ud800"', "1e999", "-", "1" * 5000]),
    st.sampled_from([Symbol("a"), Symbol("a.b.c"), COPY]),
    st.sampled_from([RESULT, error_record("USER_ERROR", "raised", "no"), Record("x", {})]),
    st.integers(0, 5).map(lambda at: MONSTERS[at]),
)
VALUES = st.recursive(
    ATOMS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4).map(tuple),
        st.dictionaries(st.text(max_size=3), inner, max_size=4),
    ),
    max_leaves=8,
)


@examples(80, 400, st.sampled_from(sorted(PRIMITIVES)), st.data())
def test_whatever_a_primitive_is_given_it_answers_or_faults(name, data):
    """No Python exception but Fault leaves a primitive, and every fault has words."""
    it = PRIMITIVES[name]
    most = it.least + 3 if it.most is None else it.most
    count = data.draw(st.integers(it.least, most))
    arguments = [data.draw(VALUES) for _ in range(count)]
    try:
        it.function(*arguments)
    except Fault as fault:
        assert (fault.code.isascii(), 0 < len(fault.message) < 400) == (True, True)
