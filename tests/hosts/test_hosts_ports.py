"""A parked run whose question is edited, on the command line."""

import os
import subprocess

import pytest
from support.command import SEXPLANG

PAY = "(define-effect (approve what)) (list (approve 40) (approve 2))"


@pytest.fixture
def command(tmp_path):
    def run(*words):
        return subprocess.run(
            [*SEXPLANG, *words],
            cwd=tmp_path,
            env={**os.environ, "SEXPLANG_STORE": str(tmp_path / "runs.db"), "HOME": str(tmp_path)},
            text=True,
            capture_output=True,
            timeout=60,
            stdin=subprocess.DEVNULL,
        )

    return run


@pytest.mark.parametrize("is_answered", [True, False])
def test_an_answer_is_not_given_to_an_edited_question(tmp_path, command, is_answered):
    """A yes to 40 is no yes to 4000, and the question that is shown is the one of the program."""
    program = tmp_path / "pay.sexp"
    program.write_text(PAY)
    assert 3 == command("run", "pay.sexp", "--pause", "approve", "--run-id", "r").returncode
    if is_answered:
        assert 0 == command("runs", "answer", "r", "yes").returncode
    program.write_text(PAY.replace("40", "4000"))

    asked = command("runs", "resume", "r")
    if is_answered:
        assert (1, True) == (asked.returncode, "journal-mismatch" in asked.stderr), asked.stderr
        again = command("runs", "resume", "r", "--accept-changes")
        assert (3, True) == (again.returncode, "(approve 4000)" in again.stderr), again.stderr
        return
    assert (3, True) == (asked.returncode, "(approve 4000)" in asked.stderr), asked.stderr
    assert "no run is due" in command("runs", "resume", "--due").stderr

    answered = command("runs", "answer", "r", "no", "--resume")
    assert (3, True) == (answered.returncode, "(approve 2)" in answered.stderr), answered.stderr
    done = command("runs", "answer", "r", "yes", "--resume")
    assert (0, '["no" "yes"]\n') == (done.returncode, done.stdout), done.stderr


def test_an_edit_beside_the_question_keeps_its_answer(tmp_path, command):
    program = tmp_path / "pay.sexp"
    program.write_text(PAY)
    command("run", "pay.sexp", "--pause", "approve", "--run-id", "r")
    command("runs", "answer", "r", "yes")
    program.write_text(PAY.replace("(list", "; the second is asked too\n(list"))

    asked = command("runs", "resume", "r")
    assert (3, True) == (asked.returncode, "(approve 2)" in asked.stderr), asked.stderr
