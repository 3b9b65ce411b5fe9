"""The laws find each of the bugs that are planted on purpose."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from planted.bugs import BUGS, Bug

ROOT = Path(__file__).parents[2]
NAMES = [bug.name for bug in BUGS]


@pytest.mark.parametrize("bug", BUGS, ids=NAMES)
def test_a_bug_is_planted_in_code_that_is_there(bug: Bug):
    """What a row replaces stands in the code exactly once."""
    text = (ROOT / "sexplang" / bug.file).read_text()

    for old, _ in bug.changes:
        assert 1 == text.count(old), old


@pytest.mark.parametrize("bug", BUGS, ids=NAMES)
def test_the_laws_find_it(bug: Bug, tmp_path: Path):
    """A copy of the package with the bug in it breaks its law within so many programs."""
    plant(bug, tmp_path)
    done = hunt(bug.law, bug.within, tmp_path)

    assert 1 == done.returncode, done.stdout + done.stderr
    assert done.stdout.startswith("seed "), done.stderr
    assert "a Python exception" not in done.stdout, "the plant itself is broken"


def plant(bug: Bug, into: Path) -> None:
    for part in ("sexplang", "stdlib", "grammar"):
        shutil.copytree(ROOT / part, into / part, ignore=shutil.ignore_patterns("__pycache__"))
    file = into / "sexplang" / bug.file
    text = file.read_text()
    for old, new in bug.changes:
        assert 1 == text.count(old), old
        text = text.replace(old, new)
    file.write_text(text)


def hunt(law: str, count: int, package: Path) -> subprocess.CompletedProcess[str]:
    path = os.pathsep.join([str(package), str(ROOT / "tests")])
    return subprocess.run(
        [sys.executable, "-m", "support.laws", law, "0", str(count)],
        cwd=package,
        env=os.environ | {"PYTHONPATH": path},
        capture_output=True,
        text=True,
        timeout=100,
    )
