"""Laws of texts: JSON is a subset, and nothing that can be typed breaks the front rooms."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.examples import examples
from support.laws import LAWS, breaks, first_finding, json_differs

from sexplang.terms.values.boundary import plain, value_of

leaves = (
    st.none()
    | st.booleans()
    | st.integers(-(10**30), 10**30)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"]))
)
keys = st.text(st.characters(exclude_categories=["Cs"]))
documents = st.recursive(
    leaves, lambda inner: st.lists(inner) | st.dictionaries(keys, inner), max_leaves=12
)


@examples(120, 600, documents, st.sampled_from([None, 0, 2]))
def test_a_json_document_is_a_program_that_means_itself(document, indent):
    """Reading and evaluating any JSON document gives what it denotes."""
    assert None is json_differs(document, indent)


@settings(max_examples=300)
@given(st.text(max_size=80))
def test_any_text_is_a_program_or_has_diagnostics(text: str):
    """No text gives any other exception, whatever is in it."""
    assert None is breaks(text)


@pytest.mark.parametrize("start", range(0, 1_000, 500))
def test_spoiled_programs_are_programs_or_have_diagnostics(start: int):
    """Nor does a program in which something was lost, doubled or replaced."""
    assert None is first_finding(LAWS["any_text"], range(start, start + 500))


@pytest.mark.long
@pytest.mark.timeout(600)
@pytest.mark.parametrize("start", range(1_000, 20_000, 1_000))
def test_spoiled_programs_are_programs_or_have_diagnostics_20_000_times(start: int):
    """The same, up to 20,000 texts."""
    assert None is first_finding(LAWS["any_text"], range(start, start + 1_000))


@examples(120, 600, documents)
def test_data_is_the_same_value_alone_and_among_much_other_data(document):
    """What is small is taken at a glance; nothing of it is shared with whoever gave it."""
    given = plain(document)
    alone, among = value_of(given), value_of([given] * 50)

    assert (alone,) * 50 == among
    assert document == given == plain(alone)
    assert [] == [part for part in parts(alone) if type(part) is list]
    tables = [id(part) for part in parts(given) if type(part) is dict]
    assert not {id(part) for part in parts(alone) if type(part) is dict} & set(tables)


def parts(value):
    """A value and all that it holds."""
    found = [value]
    for part in found:
        if isinstance(part, (list, tuple, dict)):
            found.extend(part.values() if isinstance(part, dict) else part)
    return found
