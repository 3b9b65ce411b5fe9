"""The laws find each of the bugs that are planted on purpose."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import cache_from_source
from pathlib import Path

import pytest
from planted.bugs import BUGS, Bug
from planted.bugs_that_lose import LOSING
from planted.bugs_that_spend import SPENDING

ROOT = Path(__file__).parents[2]
PLANTED = [*BUGS, *LOSING, *SPENDING]
NAMES = [bug.name for bug in PLANTED]


@pytest.mark.parametrize("bug", PLANTED, ids=NAMES)
def test_a_bug_is_planted_in_code_that_is_there(bug: Bug):
    """What a row replaces stands in the code exactly once."""
    text = (ROOT / "sexplang" / bug.file).read_text()

    for old, _ in bug.changes:
        assert 1 == text.count(old), old


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the package and of its laws. What Python compiles of them stays beside them."""
    into: Path = tmp_path_factory.mktemp("package")
    for part in ("sexplang", "stdlib", "grammar", "tests/support"):
        copy(ROOT / part, into / Path(part).name)
    return into


def copy(folder: Path, to: Path) -> None:
    shutil.copytree(folder, to, ignore=shutil.ignore_patterns("__pycache__"))


@pytest.mark.parametrize("bug", PLANTED, ids=NAMES)
def test_the_laws_find_it(bug: Bug, package: Path):
    """A copy of the package with the bug in it breaks its law within so many programs."""
    with planted(bug, package):
        done = hunt(bug, package)

    assert bug.seed < bug.within
    assert 1 == done.returncode, done.stdout + done.stderr
    assert done.stdout.startswith("seed "), done.stderr
    assert "a Python exception" not in done.stdout, "the plant itself is broken"


@contextmanager
def planted(bug: Bug, package: Path) -> Iterator[None]:
    file = package / "sexplang" / bug.file
    sound = text = file.read_text()
    for old, new in bug.changes:
        assert 1 == text.count(old), old
        text = text.replace(old, new)
    try:
        write(file, text)
        yield
    finally:
        write(file, sound)


def write(file: Path, text: str) -> None:
    """Two texts of a file may have the same length and second: what was compiled goes."""
    Path(cache_from_source(str(file))).unlink(missing_ok=True)
    file.write_text(text)


def hunt(bug: Bug, package: Path) -> subprocess.CompletedProcess[str]:
    seeds = map(str, (0, bug.within, bug.seed))
    return subprocess.run(
        [sys.executable, "-m", "support.laws", bug.law, *seeds],
        cwd=package,
        env=os.environ | {"PYTHONPATH": str(package), "PYTHONDONTWRITEBYTECODE": ""},
        capture_output=True,
        text=True,
        timeout=100,
    )
