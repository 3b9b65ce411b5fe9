"""The programs of the public effect-handlers benchmark suite, against plain Python."""

import pytest
from support.markdown import ROOT

from benchmarks import effects
from benchmarks.effects import PROGRAMS, run
from benchmarks.effects_expected import EXPECTED, PUBLISHED

FOLDER = ROOT / "benchmarks" / "effects"


def test_the_suite_is_whole():
    """Eleven programs, each with a file, sizes to time and a computation to compare with."""
    assert PROGRAMS.keys() == EXPECTED.keys() == PUBLISHED.keys()
    assert {path.stem for path in FOLDER.glob("*.sexp")} == EXPECTED.keys()


@pytest.mark.parametrize("name", PUBLISHED)
def test_a_program_gives_what_the_suite_publishes(name):
    """For the small input of its description."""
    n, expected = PUBLISHED[name]

    assert expected == run(name, n)


@pytest.mark.parametrize("name", EXPECTED)
@pytest.mark.parametrize("n", [0, 1, 2, 6, 7])
def test_a_program_gives_what_plain_python_gives(name, n):
    """For small inputs, zero among them."""
    assert EXPECTED[name](n) == run(name, n)


def test_the_benchmark_shows_results_and_fails_where_one_differs(monkeypatch, capsys):
    """Each result stands beside what it should be."""
    monkeypatch.setitem(PROGRAMS, "countdown", (1_000, 2_000))
    assert 0 == effects.main(["--only", "countdown", "--rounds", "1"])
    assert "differs" not in capsys.readouterr().out

    monkeypatch.setitem(EXPECTED, "countdown", lambda n: 1 if n == 1_000 else 0)

    assert 1 == effects.main(["--only", "countdown", "--rounds", "1"])
    lines = capsys.readouterr().out.splitlines()
    assert [1] == [at for at, line in enumerate(lines) if line.endswith("0 differs from 1")]
