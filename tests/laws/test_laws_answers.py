"""Laws of answers: a call of a task gives a value like any other."""

import pytest
from support.answering import World, called, program, ran
from support.laws import LAWS, first_finding

SOME, ALL = 60, 5_000


@pytest.mark.parametrize("law", ["result_answers", "answers_are_values"])
def test_answers_are_values(law: str):
    """A call is the answer of its result, and as good as what is written out."""
    assert None is first_finding(LAWS[law], range(SOME))


@pytest.mark.long
@pytest.mark.timeout(900)
@pytest.mark.parametrize("law", ["result_answers", "answers_are_values"])
def test_answers_are_values_5_000_times(law: str):
    """The same laws for many more programs."""
    assert None is first_finding(LAWS[law], range(SOME, ALL))


def test_the_programs_are_about_answers():
    """Most ask more than once, some meet a failure, and few end with an error."""
    texts = [called(program(seed)) for seed in range(SOME)]
    runs = [ran(text, World(seed)) for seed, text in enumerate(texts)]

    assert sum(len(run.asked) > 1 for run in runs) > 0.5 * SOME
    assert sum("failing" in text for text in texts) > 0.05 * SOME
    assert sum(run.error is not None for run in runs) < 0.2 * SOME
