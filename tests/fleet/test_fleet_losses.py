"""Workers and drivers that are lost in the middle of wide runs: real workers, real signals."""

import signal

import pytest
from support.lost_workers import (
    forget_snapshot,
    list_past,
    lose_driver,
    lose_limited,
    lose_performers,
    lose_waiting_driver,
    past_database,
)

from sexplang.machine.frozen_runs import digest
from sexplang.pipeline.pipeline import build
from sexplang.runs.program_texts import ProgramTexts


def test_a_python_file_may_be_anywhere(tmp_path):
    """Each worker has its own. The program is the same, so its snapshots are read."""
    told = ProgramTexts(
        "main.sexp",
        {"main.sexp": '(import "tools.py") (plain 1)'},
        (("tools.py", "main.sexp", ("tools.py",)),),
    )
    found = set()
    for name in ("one", "other"):
        (tmp_path / name).mkdir()
        file = tmp_path / name / "tools.py"
        file.write_text("import sexplang\n\n@sexplang.operation\ndef plain(n):\n    return n\n")
        program = build(told.source, told.make_finder((str(file),)))
        found.add((digest(program), *map(program.relative_name, program.sources)))

    assert 1 == len(found)


@pytest.mark.postgres
@pytest.mark.parametrize(
    ("how", "wakes_early"),
    [(signal.SIGKILL, False), (signal.SIGSTOP, False), (signal.SIGSTOP, True)],
)
@pytest.mark.long
def test_the_driver_of_open_branches_is_lost(postgres, how, wakes_early):
    """Another one has it, and the run is exact. A stopped one, woken up, commits nothing."""
    print(lose_driver(postgres, "lost_driver", how, wakes_early=wakes_early))


@pytest.mark.postgres
@pytest.mark.long
def test_the_driver_of_some_branches_is_stopped(postgres):
    print(lose_driver(postgres, "lost_driver", signal.SIGSTOP, 100))


@pytest.mark.postgres
@pytest.mark.long
def test_performers_are_killed_and_stopped(postgres):
    print(lose_performers(postgres, "lost_performers"))


@pytest.mark.postgres
@pytest.mark.long
@pytest.mark.parametrize("takes_driver", [False, True])
def test_no_window_of_real_calls_is_over_the_limit(postgres, takes_driver):
    """By the clock of the server that is called."""
    print(lose_limited(postgres, "lost_limited", takes_driver))


@pytest.mark.postgres
@pytest.mark.long
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGSTOP])
def test_the_driver_of_a_long_run_is_lost(postgres, how):
    """It has 100,000 effects behind it, and is taken over as soon."""
    past = 100_000
    with past_database(postgres, "long_past", past) as template:
        given = {"template": template, "before": list_past(past)}
        print(lose_driver(postgres, "lost_past", how, **given))
        print(lose_driver(postgres, "lost_past", how, **given, prepare=forget_snapshot))


@pytest.mark.postgres
def test_a_driver_that_waits_is_stopped(postgres):
    """Its place is free again."""
    lose_waiting_driver(postgres, "lost_waiting")
