"""Processes that are killed: nothing that was recorded is done twice, value and bill are right."""

import signal

import pytest
from support.kill_trials import Findings, Trial
from support.killed_programs import COMPOSED, SIMPLE
from support.killed_runs import PROGRAMS, crash_at, go_on, in_child, start, unreported


@pytest.fixture
def value_of(tmp_path):
    """The value of a program that nobody kills."""

    def run(name):
        folder = tmp_path / "whole"
        folder.mkdir()
        return start(name, folder)

    return run


def crash_everywhere(name, tmp_path, whole, numbers, places=("before", "in", "after")):
    """Kill a run at its commits, go on with it, and compare."""
    for number in numbers:
        for place in places:
            folder = tmp_path / f"{number}{place}"
            folder.mkdir()

            def work(number=number, place=place, folder=folder):
                crash_at(number, place)
                start(name, folder)

            if in_child(work):
                return number
            assert whole == go_on(name, folder, "safe"), (number, place)
            assert set() == unreported(folder), (number, place)
    return None


@pytest.mark.parametrize("name", ["twice"])
def test_a_run_goes_on_from_a_crash_at_a_write(tmp_path, value_of, name):
    crash_everywhere(name, tmp_path, value_of(name), (3,))


@pytest.mark.long
@pytest.mark.parametrize("name", PROGRAMS)
def test_a_run_goes_on_from_a_crash_at_every_write(tmp_path, value_of, name):
    """Before the write, in it and behind it."""
    assert crash_everywhere(name, tmp_path, value_of(name), range(1, 1_000))


def try_programs(folder, seeds, replay="safe", kills=6):
    """Kill runs of generated programs at random moments. Return what was found."""
    findings = Findings()
    for seed in seeds:
        trial = Trial(seed, folder / str(seed), findings, replay)
        trial.start()
        trial.kill_at_random(kills)
    print(f"{len(seeds)} programs, replay {replay}: {findings.describe()}")
    return findings


@pytest.mark.parametrize("seed", [81])
def test_a_generated_program_goes_on_from_any_moment(tmp_path, seed):
    assert not try_programs(tmp_path, [seed], kills=3).defects()


@pytest.mark.long
@pytest.mark.timeout(1_200)
def test_generated_programs_go_on_from_any_moment(tmp_path):
    """Half of them with a snapshot at each commit."""
    findings = try_programs(tmp_path, range(100))
    assert not findings.defects()
    assert {*SIMPLE, *COMPOSED} == findings.kinds
    assert findings.kills >= 200
    assert findings.performed_twice >= 100, "the kills meet effects that are under way"


@pytest.mark.long
@pytest.mark.timeout(1_200)
def test_generated_programs_go_on_from_interruptions_and_kills(tmp_path):
    """Programs with `finally` are left out: what it did at an interruption is done again."""
    findings, numbers = Findings(), (signal.SIGINT, signal.SIGINT, signal.SIGKILL)
    for seed in range(100):
        trial = Trial(seed, tmp_path / str(seed), findings)
        trial.start()
        if "unwind" not in trial.kinds:
            trial.kill_at_random(numbers=numbers)
    print(f"interruptions too: {findings.describe()}")
    assert not findings.defects()
    assert findings.kills >= 200


@pytest.mark.long
@pytest.mark.timeout(1_200)
def test_nothing_is_done_twice_where_nobody_permits_it(tmp_path):
    """A request in doubt fails; what the program makes of that is its own."""
    findings = try_programs(tmp_path, range(140), replay="never")
    assert not findings.defects()
    assert findings.kills >= 200


@pytest.mark.long
@pytest.mark.timeout(1_200)
def test_generated_programs_go_on_from_a_crash_at_every_write(tmp_path):
    """Before the write, in it and behind it."""
    findings = Findings()
    for seed in range(10):
        trial = Trial(seed, tmp_path / str(seed), findings, size=8)
        trial.start()
        trial.crash_at_commits()
    print(f"10 programs, each write: {findings.describe()}")
    assert not findings.defects()
