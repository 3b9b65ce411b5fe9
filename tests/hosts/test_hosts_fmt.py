"""`sexplang fmt` in processes of its own: files, standard output, status."""

import os
import shlex
import stat
import subprocess

import pytest
from support.command import SEXPLANG, sexplang
from support.markdown import ROOT

MESSY = "( define (f x)\n(+ x 1) ) ; adds\n"
NEAT = "(define (f x) (+ x 1))  ; adds\n"


@pytest.fixture
def files(tmp_path):
    """A program that is laid out, one that is not, one that cannot be read."""
    (tmp_path / "neat.sexp").write_text(NEAT)
    (tmp_path / "messy.sexp").write_text(MESSY)
    (tmp_path / "broken.sexp").write_text("(f (g)\n")
    return tmp_path


def test_a_file_is_laid_out_in_its_place(files):
    """Only what changes is written; the mode stays and nothing is left over."""
    os.chmod(files / "messy.sexp", 0o640)
    before = (files / "neat.sexp").stat()
    names = sorted(os.listdir(files))
    done = sexplang("fmt", files / "neat.sexp", files / "messy.sexp")

    assert ("", "2 files: 1 changed\n", 0) == (done.stdout, done.stderr, done.returncode)
    assert NEAT == (files / "messy.sexp").read_text()
    assert 0o640 == stat.S_IMODE((files / "messy.sexp").stat().st_mode)
    after = (files / "neat.sexp").stat()
    assert (before.st_ino, before.st_mtime_ns) == (after.st_ino, after.st_mtime_ns)
    assert names == sorted(os.listdir(files))


def test_a_link_stays_a_link(files):
    """What it leads to is laid out."""
    (files / "link.sexp").symlink_to("messy.sexp")
    sexplang("fmt", files / "link.sexp")

    assert (files / "link.sexp").is_symlink()
    assert NEAT == (files / "messy.sexp").read_text()


def test_standard_input_is_laid_out_to_standard_output():
    """Nothing but the text is written."""
    done = sexplang("fmt", "-", text=MESSY)

    assert (NEAT, "", 0) == (done.stdout, done.stderr, done.returncode)


def test_check_lists_what_would_change(files):
    """And changes nothing; the status is 1 if anything would."""
    done = sexplang("fmt", "--check", files / "neat.sexp", files / "messy.sexp")

    assert (f"{files}/messy.sexp\n", 1) == (done.stdout, done.returncode)
    assert done.stderr == "2 files: 1 would change\n"
    assert MESSY == (files / "messy.sexp").read_text()
    assert 0 == sexplang("fmt", "--check", files / "neat.sexp").returncode
    assert 1 == sexplang("fmt", "--check", "-", text=MESSY).returncode


def test_diff_shows_what_would_change(files):
    """As a unified difference; nothing is written."""
    done = sexplang("fmt", "--diff", "messy.sexp", cwd=files)

    assert done.stdout.splitlines() == [
        "--- messy.sexp",
        "+++ messy.sexp",
        "@@ -1,2 +1 @@",
        "-( define (f x)",
        "-(+ x 1) ) ; adds",
        "+" + NEAT.rstrip(),
    ]
    assert (1, MESSY) == (done.returncode, (files / "messy.sexp").read_text())


def test_a_program_that_cannot_be_read_is_left_alone(files):
    """The reader says why, the other files are laid out, and the status is 1."""
    done = sexplang("fmt", files / "broken.sexp", files / "messy.sexp")

    assert "error[unclosed-bracket]" in done.stderr
    assert done.stderr.endswith("2 files: 1 changed, 1 left as it was: see above\n")
    assert ("", 1) == (done.stdout, done.returncode)
    assert "(f (g)\n" == (files / "broken.sexp").read_text()
    assert NEAT == (files / "messy.sexp").read_text()


def test_what_is_not_text_or_not_there_is_refused(files):
    """With a code, and untouched."""
    (files / "bytes.sexp").write_bytes(b"(f \xff)")
    done = sexplang("fmt", files / "bytes.sexp", files / "nowhere.sexp")

    assert "error[not-text]" in done.stderr and "error[file-not-found]" in done.stderr
    assert (2, b"(f \xff)") == (done.returncode, (files / "bytes.sexp").read_bytes())


def test_a_file_of_another_kind_is_misuse(files):
    """A template or a JSON document would not survive it."""
    (files / "data.json").write_text("[1, 2]")
    done = sexplang("fmt", files / "messy.sexp", files / "data.json")

    assert 2 == done.returncode
    assert "fmt lays out programs (.sexp)" in done.stderr
    assert (MESSY, "[1, 2]") == tuple(
        (files / name).read_text() for name in ("messy.sexp", "data.json")
    )


def test_a_file_that_cannot_be_written_is_as_it_was(files):
    """The code is file-failed, and nothing half-written is left."""
    names = sorted(os.listdir(files))
    command = shlex.join([*SEXPLANG, "fmt", f"{files}/messy.sexp"])
    # No file may grow: the new one cannot be written, though it could be made.
    done = subprocess.run(
        ["sh", "-c", f"ulimit -f 0; exec {command}"],
        cwd=ROOT,
        capture_output=True,
        encoding="utf-8",
    )

    assert "error[file-failed]" in done.stderr
    assert (1, MESSY) == (done.returncode, (files / "messy.sexp").read_text())
    assert names == sorted(os.listdir(files))
