"""A recording that cannot be repeated ends a run before it begins: no program catches that."""

import json

import pytest
from support.command import sexplang as command
from support.recorded import put_lines

import sexplang
from sexplang.runtime.journal.json_lines import VERSION

CAUGHT = """
(defatom f (params (x string)) (instructions "S {{x}}"))
(write-file "began.txt" "yes")
(map (lambda (x) (try (f x) (catch (e) e.reason))) ["a" "b"])
"""

VERSIONS = [
    pytest.param(5, "recording-too-old", True, id="5"),
    pytest.param(4, "recording-too-old", True, id="4"),
    pytest.param(1, "recording-too-old", False, id="1"),
    pytest.param(99, "bad-recording", False, id="99"),
    *[
        pytest.param(each, "bad-recording", False, id=json.dumps(each))
        for each in (0, -1, True, 4.5, "5", None)
    ],
]


@pytest.fixture
def recorded(tmp_path):
    """A program, and its recording with another version in its first line."""
    (tmp_path / "p.sexp").write_text(CAUGHT)
    permissions = sexplang.Permissions(write=[tmp_path])
    made = tmp_path / "made.jsonl"
    path = tmp_path / "p.sexp"
    sexplang.run(path, model=["A", "B"], record=made, permissions=permissions)
    (tmp_path / "began.txt").unlink()

    def of(version):
        put_lines(tmp_path / "x.jsonl", made.read_text().splitlines(), version)

    return of


@pytest.mark.parametrize(("version", "reason", "is_reported"), VERSIONS)
def test_a_recording_of_another_version_ends_the_run_before_it_begins(
    recorded, tmp_path, version, reason, is_reported
):
    recorded(version)
    model = ["--model", "replay:x.jsonl"]

    for args in (["run", "p.sexp", "--allow-write", "."], ["run", "-e", "1"]):
        done = command(*args, *model, cwd=tmp_path)
        assert (1, "") == (done.returncode, done.stdout)
        assert f"error[{reason}]: x.jsonl" in done.stderr
        assert is_reported == ("runs report" in done.stderr)
        assert (version == 4) == ("sexplang 0.1" in done.stderr and is_reported)
    assert not (tmp_path / "began.txt").exists()
    shown = command("runs", "report", "x.jsonl", cwd=tmp_path)
    assert is_reported == (shown.returncode == 0)
    assert is_reported == ("earlier version: its lines have no checksums" in shown.stderr)


@pytest.mark.parametrize(("version", "reason", "is_reported"), VERSIONS)
def test_python_is_told_the_same(recorded, tmp_path, version, reason, is_reported):
    recorded(version)
    model = f"replay:{tmp_path}/x.jsonl"

    for source in (tmp_path / "p.sexp", "1"):
        with pytest.raises(sexplang.Failed) as failed:
            sexplang.run(source, model=model)
        assert reason == failed.value.error.fields["reason"]


def test_a_bad_line_ends_the_run_before_it_begins(recorded, tmp_path):
    recorded(VERSION)
    path = tmp_path / "x.jsonl"
    put_lines(path, path.read_text().replace('"attempts"', '"x"', 1).splitlines())

    done = command(
        *("run", "p.sexp", "--model", "replay:x.jsonl", "--allow-write", "."), cwd=tmp_path
    )

    assert 1 == done.returncode
    assert "bad-recording" in done.stderr
    assert not (tmp_path / "began.txt").exists()


def test_the_recording_of_this_version_is_repeated(recorded, tmp_path):
    recorded(VERSION)

    done = command(
        *("run", "p.sexp", "--model", "replay:x.jsonl", "--allow-write", "."), cwd=tmp_path
    )

    assert '["A" "B"]' == done.stdout.strip()
