"""pytest collects tests that are written in the language."""

import os
import subprocess
import sys
from importlib.metadata import entry_points
from pathlib import Path

ROOT = Path(__file__).parents[2]

GOOD = """
(define (double x) (* 2 x))
(test "doubling" (double 21) expect: 42)
(test "asking" (ask-user "Tea?") script: [[(ask-user "Tea?") "yes"]] expect: "yes")
"""
BAD = """
(test "sums"
  (+ 1 2)
  expect: 4)
(test "fine" 1 expect: 1)
"""


BY_NAME = ("--disable-plugin-autoload", "-p", "sexplang.testing.plugin")
"""How a run has the plugin in a fifth of the time: where pytest looks for plugins by itself, it
compiles all of sexplang anew for its assertions."""


def pytest_in(folder, *words, plugin=BY_NAME):
    """A run of pytest in a folder."""
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *plugin, *words],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=100,
        env={"PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path]), "PATH": ""},
    )


def test_files_of_tests_are_collected_and_reported(tmp_path):
    """Each test is an item; a failure shows both sides and the place. Where the plugin is
    installed, it comes by its entry point."""
    (tmp_path / "good.test.sexp").write_text(GOOD)
    (tmp_path / "bad.test.sexp").write_text(BAD)
    (tmp_path / "program.sexp").write_text("(this is no test)")
    (tmp_path / "test_python.py").write_text("def test_python(): pass\n")
    installed = any(entry.name == "sexplang" for entry in entry_points(group="pytest11"))
    done = pytest_in(tmp_path, "-v", plugin=() if installed else BY_NAME)

    assert 1 == done.returncode, done.stdout + done.stderr
    for line in (
        "good.test.sexp::doubling PASSED",
        "good.test.sexp::asking PASSED",
        "bad.test.sexp::sums FAILED",
        "bad.test.sexp::fine PASSED",
        "test_python.py::test_python PASSED",
        "1 failed, 4 passed",
    ):
        assert line in done.stdout
    assert "bad.test.sexp:4" in done.stdout and "expected 4" in done.stdout, done.stdout
    assert "Traceback" not in done.stdout
    assert "runtest" not in done.stdout


def test_what_is_no_test_is_an_error_of_collection(tmp_path):
    """The diagnostics are shown, and nothing of the file runs."""
    (tmp_path / "broken.test.sexp").write_text('(test "open" (+ 1 2')
    done = pytest_in(tmp_path)

    assert 2 == done.returncode, done.stdout + done.stderr
    assert "unclosed-bracket" in done.stdout
    assert "Traceback" not in done.stdout


def test_tests_are_chosen_like_all_others(tmp_path):
    """By -k and by their names."""
    (tmp_path / "good.test.sexp").write_text(GOOD)

    assert "1 passed, 1 deselected" in pytest_in(tmp_path, "-k", "doubling").stdout
    assert "1 passed" in pytest_in(tmp_path, "good.test.sexp::asking").stdout


def test_the_plugin_is_light(tmp_path):
    """A run of pytest without such files loads none of the language."""
    code = (
        "import sys, sexplang.testing.plugin;"
        "print([name for name in sys.modules if name.startswith('sexplang')])"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)

    assert "['sexplang', 'sexplang.testing', 'sexplang.testing.plugin']\n" == done.stdout


def test_the_plugin_is_registered():
    """pyproject.toml names it."""
    text = (ROOT / "pyproject.toml").read_text()

    assert '[project.entry-points.pytest11]\nsexplang = "sexplang.testing.plugin"\n' in text
