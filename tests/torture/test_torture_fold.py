"""Header and rows alone give the same effects and states everywhere."""

import os
import shutil
import subprocess
import sys

import pytest
from attrs import frozen
from support.folded import FoldedRun, digests, fold_all, keep, text_of
from support.kept_programs import CANARY, PROGRAMS
from support.markdown import ROOT
from support.running import built

from sexplang.runs.exported_run import export_run
from sexplang.runtime.journal import stored_journal
from sexplang.runtime.journal.recording_reader import lines
from sexplang.runtime.journal.run_store import open_store
from sexplang.runtime.journal.stored_journal import NO_REPLIES

OTHERS = "OTHER_PYTHONS"
"""The environment variable with the paths of further Pythons."""

QUICK = (
    *("money", "deadline", "computing first", "cancelled", "plan", "program from a model"),
    *("subagents", "secrets", "sleep", "typed replies"),
)

ENDS_BADLY = ("cancelled", "cancelled conversation", "failure")
"""The programs whose runs end with an error."""


@frozen
class KeptRuns:
    """A store of runs with as many snapshots as can be, what was seen of each live run, and what a
    fold finds."""

    store: str
    live: dict[str, dict[int, str]]
    folds: dict[str, FoldedRun]
    count: int
    """The number of generated programs; some of them make no request and so have no rows."""

    def fold_elsewhere(self, python, folder, seed, locale):
        """Return the digests of another process, in another folder, with another order of sets."""
        env = {**os.environ, "PYTHONHASHSEED": str(seed), "LC_ALL": locale, "TZ": "Asia/Tokyo"}
        env["PYTHONPATH"] = os.pathsep.join([str(ROOT), str(ROOT / "tests")])
        words = [python, "-m", "support.folded", self.store, str(self.count)]
        done = subprocess.run(words, env=env, cwd=folder, text=True, capture_output=True)
        assert done.returncode == 0, (python, done.stderr[-2_000:])
        return done.stdout.splitlines()


@pytest.fixture(
    scope="module",
    params=[
        pytest.param((4, QUICK), id="some"),
        pytest.param((40, tuple(PROGRAMS)), id="all", marks=pytest.mark.long),
    ],
)
def kept(request, tmp_path_factory):
    store = str(tmp_path_factory.mktemp("fold") / "runs.db")
    count, written = request.param
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(stored_journal, "LEAST_SECONDS", 0.0)
        patch.setattr(stored_journal, "SNAPSHOT_SHARE", 0.0)
        live = {name: keep(store, name) for name in [*map(str, range(count)), *written]}
    return KeptRuns(store, live, fold_all(store, count), count)


def find_pythons():
    """Return the other Pythons from 3.11 on that can import what a fold needs."""
    named = os.environ.get(OTHERS, "").split(os.pathsep)
    found = [shutil.which(f"python3.{minor}") for minor in range(11, 20)]
    others = {each for each in (*named, *found) if each and os.path.exists(each)}
    return [each for each in sorted(others) if _can_fold(each)]


def _can_fold(python):
    needed = "attrs, lxml, lark, re2, anyio, immutables, jsonschema_rs, pytest"
    asked = f"import sys; assert sys.version_info >= (3, 11); import {needed}"
    return subprocess.run([python, "-c", asked], capture_output=True).returncode == 0


def test_a_report_tells_every_request_and_every_end(kept, tmp_path):
    """The tree of work that a fold finds, also of what was computed between two rows."""
    opened = open_store(kept.store, must_exist=True)
    for name, found in kept.folds.items():
        to, program = tmp_path / f"{name}.jsonl", built(text_of(name))
        export_run(opened, opened.find(name), program, str(to), has_tasks=True)
        told = [line for _, line in lines(str(to))]
        begun = {line["begins"]: line.get("request") for line in told if "begins" in line}
        ended = {line["ends"] for line in told if "ends" in line}
        silent = {*NO_REPLIES, "timer"}
        asked = {row.id for row in found.rows if row.operation not in silent}
        assert asked <= {*begun.values()}, name
        assert {at for at, id in begun.items() if id is None} <= ended, name
    opened.close()


def is_whole_state(state):
    """Whether it is an end, a frozen run, or a place where a deadline ends a computation."""
    return state.startswith(("Done", "Failed", '["computes"')) or '"sexplang-frozen"' in state


@pytest.mark.timeout(1_200)
def test_a_run_is_a_fold_of_its_header_and_rows(kept, tmp_path):
    """In every process, under each Python that is there."""
    known, is_whole = digests(kept.folds), len(kept.live) > 50
    for seed in range(20) if is_whole else (1,):
        locale = ("C", "C.UTF-8", "POSIX")[seed % 3]
        for python in [sys.executable, *(find_pythons() if is_whole else ())]:
            assert known == kept.fold_elsewhere(python, tmp_path, seed, locale), (python, seed)
    assert len(known) >= (50 if is_whole else 12)


def test_a_fold_finds_the_states_of_the_live_run(kept):
    """And the snapshot, after as many rows."""
    for name, found in kept.folds.items():
        live = kept.live[name]
        assert live.keys() <= found.states.keys(), name
        assert live == {at: found.states[at] for at in live}, name
        if found.snapshot is not None:
            at, snapshot = found.snapshot
            assert found.states[at].endswith(f", {snapshot}]"), name
    assert len([each for each in kept.folds.values() if each.snapshot is not None]) > 9


def test_what_makes_a_program_hard_was_folded(kept):
    """It left the rows that it is there for, each state could be frozen, and no credential is in
    any."""
    for name in kept.live.keys() & PROGRAMS.keys():
        given, found = PROGRAMS[name], kept.folds[name]
        operations = {row.operation for row in found.rows}
        states = list(found.states.values())
        assert operations.issuperset(given.rows), (name, operations)
        assert len(states) >= given.least and len(kept.live[name]) >= 2, name
        assert not [each for each in states if not is_whole_state(each)], name
        assert not [each for each in states if CANARY in each], name
        assert (name in ENDS_BADLY) == states[-1].startswith("Failed"), (name, states[-1])
