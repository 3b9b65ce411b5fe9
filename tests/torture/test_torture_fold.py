"""Header and rows alone give the same states everywhere."""

import os
import subprocess
import sys

import pytest
from support.folded import fold_all, keep
from support.markdown import ROOT

COUNT = 64


def elsewhere(store, folder, seed, locale):
    """The folds of another process, in another folder, with another order of sets."""
    env = {**os.environ, "PYTHONHASHSEED": str(seed), "LC_ALL": locale, "TZ": "Asia/Tokyo"}
    env["PYTHONPATH"] = os.pathsep.join([str(ROOT), str(ROOT / "tests")])
    words = [sys.executable, "-m", "support.folded", str(store), str(COUNT)]
    return subprocess.run(
        words, env=env, cwd=folder, text=True, capture_output=True, check=True
    ).stdout.splitlines()


@pytest.mark.parametrize(
    "seeds",
    [
        pytest.param(range(1, 2), id="one"),
        pytest.param(range(20), id="all", marks=pytest.mark.long),
    ],
)
def test_a_run_is_a_fold_of_its_header_and_rows(tmp_path, seeds):
    store = tmp_path / "runs.db"
    keep(str(store), COUNT)
    known = fold_all(str(store), COUNT)
    assert len(known) >= 50
    for seed in seeds:
        locale = ("C", "C.UTF-8", "POSIX")[seed % 3]
        assert known == elsewhere(store, tmp_path, seed, locale), seed
