"""The names of branches and of what they ask: written, read and put in order."""

from hypothesis import given
from hypothesis import strategies as st
from support.examples import examples

from sexplang.machine.scheduler.branches import path_of, request_id, sort_key

numbers = st.integers(0, 9) | st.integers(0, 10**6)
paths = st.lists(st.tuples(numbers, numbers), max_size=5).map(lambda pairs: sum(pairs, ()))
deep = st.integers(0, 100).flatmap(lambda count: paths.map(lambda path: (0, 1) * count + path))


@given(deep, numbers)
def test_an_id_names_the_branch_and_what_it_asks(path, ordinal):
    """However deep the branch is, and whoever was named before."""
    id = request_id(path, ordinal)

    assert id == ".".join(map(str, (*path, ordinal)))
    assert path_of(id) == path


@examples(40, 200, st.lists(st.tuples(paths, numbers)))
def test_ids_are_put_in_the_order_of_their_numbers(named):
    """Not in that of their digits."""
    in_order = sorted(named, key=lambda each: (*each[0], each[1]))

    expected = [request_id(*each) for each in in_order]
    assert expected == sorted([request_id(*each) for each in named], key=sort_key)
