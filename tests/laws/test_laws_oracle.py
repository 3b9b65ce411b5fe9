"""The machine against the oracle, on programs that nobody thought of."""

from collections import Counter
from random import Random

import pytest
from support.examples import examples
from support.laws import LAWS, disagreement, first_finding
from support.programs import Program, program, programs

SOME, ALL = 400, 20_000
CHUNK = 200
"""Each planted bug is found within SOME programs; the others are looked at with `-m long`."""

SPENDING, ALL_SPENDING = 150, 1_000


@pytest.mark.parametrize("start", range(0, SOME, CHUNK))
def test_the_machine_means_what_the_oracle_means(start: int):
    """Value or error, every request to the host, and their order, are the oracle's."""
    assert None is first_finding(LAWS["agrees"], range(start, start + CHUNK))


@pytest.mark.parametrize("start", range(0, SPENDING, 75))
def test_the_machine_refuses_what_the_oracle_refuses(start: int):
    """Programs that spend wherever they can: in `finally` bodies, handlers, branches, futures."""
    assert None is first_finding(LAWS["spent"], range(start, start + 75))


@pytest.mark.parametrize("seed", [2286, 10017, 16498, 17108])
def test_programs_that_found_something_later(seed: int):
    """A call that is given up in the same breath was never made, and is paid for by nobody."""
    assert None is LAWS["agrees"](seed)


@pytest.mark.long
@pytest.mark.timeout(600)
@pytest.mark.parametrize("start", range(SOME, ALL, 1_000))
def test_the_machine_means_what_the_oracle_means_20_000_times(start: int):
    """The same for all 20,000 programs."""
    assert None is first_finding(LAWS["agrees"], range(start, min(ALL, start + 1_000)))


@pytest.mark.long
@pytest.mark.timeout(600)
def test_the_machine_refuses_what_the_oracle_refuses_1_000_times():
    """The same for all programs that spend."""
    assert None is first_finding(LAWS["spent"], range(SPENDING, ALL_SPENDING))


@examples(40, 400, programs())
def test_a_disagreement_is_shrunk(made: Program):
    """The same once more with Hypothesis, which makes what it finds small."""
    assert None is disagreement(made.text)


def test_the_programs_are_about_effects():
    """At least 30 % have handlers and 10 % resume more than once; the rest of §4 and §6 too."""
    kinds: Counter[str] = Counter()
    for seed in range(SOME):
        kinds.update(program(Random(seed)).kinds)

    assert kinds["handlers"] >= 0.3 * SOME
    assert kinds["multi"] >= 0.1 * SOME
    common = ("errors", "finally", "par", "kept", "calls", "races", "timeouts", "budgets")
    assert min(kinds[kind] for kind in common) > 0.1 * SOME
