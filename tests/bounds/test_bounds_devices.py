"""A device is not a file: whatever is written, a pipe or a device keeps its kind and its mode."""

import os
import stat
import subprocess

import pytest
from support.command import sexplang

WRITERS = {
    "record": ("run", "-e", "(now)", "--record", "made"),
    "trace": ("run", "-e", "(now)", "--trace", "made"),
    "report": ("runs", "report", "run.jsonl", "-o", "made"),
    "write-file": ("run", "p.sexp", "--allow-write", "."),
    "index": ("index", ".", "--index", "made"),
}
"""What a command writes to `made`."""


def null(path):
    """A device of our own: what goes wrong here goes wrong for nobody else."""
    if os.geteuid() != 0:
        pytest.skip("only a superuser makes devices")
    os.mknod(path, stat.S_IFCHR, os.makedev(1, 3))


def seen(path):
    """What it is, and its mode."""
    status = path.stat()
    return status.st_ino, status.st_mode


@pytest.mark.parametrize("make", [os.mkfifo, null])
@pytest.mark.parametrize("writer", WRITERS)
def test_what_is_no_file_keeps_its_kind_and_its_mode(tmp_path, writer, make):
    """As root too, to whom the system refuses nothing."""
    (tmp_path / "p.sexp").write_text('(write-file "made" "x")')
    sexplang("run", "-e", "(now)", "--record", "run.jsonl", cwd=tmp_path)
    place = tmp_path / "made"
    make(place)
    place.chmod(0o666)
    before = seen(place)

    end = os.open(place, os.O_RDWR)  # a pipe has to have another end, and one that reads
    with subprocess.Popen(["cat", place], stdout=subprocess.DEVNULL) as reader:
        done = sexplang(*WRITERS[writer], cwd=tmp_path)
        reader.kill()
    os.close(end)

    assert before == seen(place)
    assert done.returncode == (1 if writer in ("write-file", "index") else 0), done.stderr


def test_a_program_in_a_pipe_is_not_laid_out_in_its_place(tmp_path):
    """`fmt` would put a file there."""
    place = tmp_path / "made.sexp"
    os.mkfifo(place)
    before = seen(place)

    with subprocess.Popen(["sh", "-c", "printf '(+ 1\n2)' >made.sexp"], cwd=tmp_path):
        done = sexplang("fmt", place)

    assert before == seen(place)
    assert (1, True) == (done.returncode, "it is no regular file" in done.stderr)
