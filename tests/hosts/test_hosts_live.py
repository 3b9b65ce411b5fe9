"""A run in a terminal: what is drawn there while it works, and what is left."""

import os
import re

import pexpect
import pytest
from support.command import SEXPLANG, sexplang
from support.markdown import ROOT
from support.recorded import PLAN, diamond, recorded

WIDE = """(import "look-up.xml")
(print "begun")
(length (par-map (lambda (at) (begin (sleep (if (< at 30) 0.6 1.2)) at)) (range 300)))"""


def in_terminal(folder, *words, **environment):
    """All that a command writes to a terminal of 60 columns and 10 lines, and its status."""
    child = pexpect.spawn(
        SEXPLANG[0],
        [*SEXPLANG[1:], "run", *map(str, words)],
        cwd=str(folder),
        env={**os.environ, "PYTHONPATH": str(ROOT), "TERM": "xterm", **environment},
        encoding="utf-8",
        timeout=60,
        dimensions=(10, 60),
    )
    text = child.read()
    child.close()
    return text.replace("\r\n", "\n"), child.exitstatus


@pytest.fixture
def wide(tmp_path):
    (tmp_path / "wide.sexp").write_text(WIDE)
    (tmp_path / "look-up.xml").write_text(PLAN["look-up.xml"])
    return tmp_path


def test_hundreds_of_branches_fit_and_leave_nothing_behind(wide):
    """Each drawing has fewer lines than the terminal; some are shown, all are counted."""
    text, status = in_terminal(wide, "wide.sexp", NO_COLOR="1")
    # What stands between two erasures.
    frames = [
        each.rstrip("\n")
        for each in re.split(r"\r|\x1b\[[?0-9;]*[AKhl]", text)
        if " running" in each
    ]

    assert frames and all(frame.count("\n") + 1 < 10 for frame in frames)
    assert all(len(line) < 60 for frame in frames for line in frame.split("\n"))
    assert any("270 running, 30 done · " in frame for frame in frames)
    assert any(re.search(r"… branch \d+ › sleep  \d\.\d s", frame) for frame in frames)
    assert any(re.search(r"  2\d\d more  30 done\n", frame) for frame in frames)
    assert (0, True) == (status, text.endswith("\x1b[2K300\n"))
    assert text.startswith("begun\n") and "\x1b[3" not in text


def test_colours_are_for_terminals(wide):
    """Where nobody says NO_COLOR."""
    text, _ = in_terminal(wide, "wide.sexp")

    assert "\x1b[34m" in text


def test_quiet_draws_nothing(wide):
    """And nothing is drawn where standard error is no terminal."""
    text, status = in_terminal(wide, "wide.sexp", "--quiet")
    piped = sexplang("run", wide / "wide.sexp")

    assert ("begun\n300\n", 0) == (text, status)
    assert ("begun\n300\n", "") == (piped.stdout, piped.stderr)


def test_a_recording_is_the_same_in_a_terminal(tmp_path):
    """Whoever watches changes nothing that a run does."""
    (tmp_path / "piped").mkdir()
    path = recorded(tmp_path / "piped", diamond())
    for name in ("plan.sexp", "report.xml", "look-up.xml", "what", "replies.json"):
        (tmp_path / name).write_bytes((tmp_path / "piped" / name).read_bytes())
    model = "scripted:replies.json"
    in_terminal(tmp_path, "plan.sexp", "--model", model, "--record", "run.jsonl")
    kept = [
        re.findall(r'"(?:begins|within|request|name|digest)": ("[^"]*"|\d+)', each.read_text())
        for each in (path, tmp_path / "run.jsonl")
    ]

    assert kept[0] == kept[1]
