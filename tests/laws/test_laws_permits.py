"""Laws of permits: who works and who waits, on programs that nobody thought of."""

from collections import Counter
from random import Random

import pytest
from support.examples import examples
from support.laws import LAWS, PERMITS, disagreement, first_finding
from support.programs import Program, program, programs
from support.running import begun, limits, seen

from sexplang.machine import Suspended, state_of
from sexplang.machine.scheduler.branches import Queued

SOME = 60
FEW = 40


def test_jobs_wait_as_the_oracle_says():
    """Who works, in which order, what breaks meanwhile and how it ends are the oracle's."""
    assert None is first_finding(LAWS["agrees_with_permits"], range(SOME))


def test_no_more_work_than_there_are_permits():
    """Under any schedule: never more, and never fewer while somebody waits for a permit."""
    assert None is first_finding(LAWS["shared_out"], range(FEW))


@pytest.mark.parametrize(
    "law", ["twice_with_permits", "replayed_with_permits", "cancelled_with_permits"]
)
def test_the_laws_of_runs_hold_with_permits(law: str):
    """Resuming twice is two runs; a run is its journal; what is cancelled is left once."""
    assert None is first_finding(LAWS[law], range(FEW))


@pytest.mark.long
@pytest.mark.timeout(900)
@pytest.mark.parametrize(
    "law",
    [
        "agrees_with_permits",
        "shared_out",
        "twice_with_permits",
        "replayed_with_permits",
        "cancelled_with_permits",
    ],
)
def test_the_laws_of_permits_many_times(law: str):
    """The same laws for many more programs."""
    assert None is first_finding(LAWS[law], range(FEW, 8_000))


@examples(40, 400, programs(PERMITS))
def test_a_disagreement_about_permits_is_shrunk(made: Program):
    """The same once more with Hypothesis, which makes what it finds small."""
    assert None is disagreement(made.text, places=1)


def test_jobs_of_the_programs_do_wait():
    """In a third of the programs somebody waits for a permit, in a sixth inside another job."""
    waits: Counter[str] = Counter()
    for seed in range(150):
        found: set[str] = set()

        def look(outcome: Suspended, found: set[str] = found) -> Suspended:
            branches = state_of(outcome).scheduler.branches.values()
            depths = [len(each.s[3].jobs) for each in branches if isinstance(each, Queued)]
            found.update(["somewhere"] * (depths != []), ["inside"] * (max(depths, default=0) > 1))
            return outcome

        text = program(Random(seed), PERMITS).text
        seen(begun(text, limits(1 + seed % 3)), pause=look)
        waits.update(found)

    assert waits["somewhere"] > 45
    assert waits["inside"] > 22
