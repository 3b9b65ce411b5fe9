"""A recording is told as it was written, or not at all."""

import asyncio
import json
import os
import subprocess
import sys
from contextlib import suppress
from random import Random
from time import sleep

import pytest
from anyio import move_on_after
from support import damaged
from support.recorded import put_lines

import sexplang
from sexplang.runtime.journal.json_lines import record_to
from sexplang.runtime.journal.recording_reader import lines, read_recording

ASKS = """
(defatom ask (params (q string)) (instructions "{{q}}"))
[(random 1000) (ask "a") (attempt (error "no") 0) (par (ask "b") (now))]
"""


@pytest.fixture
def recorded(tmp_path):
    """A program, and its recording, which `of` writes as something else."""
    (tmp_path / "p.sexp").write_text(ASKS)
    path = tmp_path / "p.jsonl"
    end = sexplang.run(tmp_path / "p.sexp", model=["A", "B"], record=path)
    return tmp_path / "p.sexp", path, end


@pytest.mark.parametrize("seed", [0, 8])
def test_a_line_that_was_damaged_is_refused_by_its_number(tmp_path, seed):
    """A byte or a digit of it changed, cut, swapped, taken out, doubled: whichever line it is.
    `benchmarks/recordings.py` does the same to as many recordings as it is told."""
    damaged.record(seed, tmp_path)
    tried, missed = damaged.misread(tmp_path / f"{seed}.jsonl", seed)

    assert (True, []) == (tried > 50, missed)


def test_a_run_ends_the_same_under_every_hash_seed(tmp_path):
    """With what it was told, in the order in which it was."""
    ends = {str(seed): damaged.record(seed, tmp_path) for seed in range(20)}

    told = subprocess.check_output(
        [sys.executable, damaged.__file__, tmp_path],
        env=os.environ | {"PYTHONHASHSEED": "1"},
        text=True,
    )

    assert {name: repr(end) for name, end in ends.items()} == dict(
        line.split(" ", 1) for line in told.splitlines()
    )


@pytest.mark.parametrize(
    ("operation", "old", "new"),
    [
        ("now", '"reply": ', '"reply": 1'),
        ("random", '"reply": ', '"reply": 1'),
        ("now", '"digest": "', '"digest": "0'),
        ("model", '"text": "B"', '"text": "C"'),
        ("model", '"output_tokens": ', '"output_tokens": 9'),
    ],
)
def test_what_was_edited_is_not_told(recorded, operation, old, new):
    """Of time, of chance, of a model's last words: each was taken as it stood there."""
    program, path, _ = recorded
    found = path.read_text().splitlines(keepends=True)
    at = max(at for at, line in enumerate(found) if f'"operation": "{operation}", "d' in line)
    assert old in found[at]
    found[at] = found[at].replace(old, new)
    path.write_text("".join(found))

    assert (at + 1, "bad-recording") == (damaged.line_refused(path), damaged.repeat(program))


@pytest.mark.parametrize("operation", ["now", "random", "model"])
@pytest.mark.parametrize("around", ["{}", '(attempt {} "caught")', "(try {} (catch (e) 0))"])
def test_what_was_not_recorded_is_a_mismatch(tmp_path, recorded, operation, around):
    """It is neither met now, nor the program's to catch."""
    program, path, _ = recorded
    _, task, asks = ASKS.splitlines()
    program.write_text(f"{task}\n{around.format(asks)}")
    written = path.read_text().splitlines()
    put_lines(path, [line for line in written if f'"operation": "{operation}", "d' not in line])

    assert "journal-mismatch" == damaged.repeat(program)


def test_a_recording_that_stops_is_told_as_far_as_it_goes(recorded):
    """Of a run that was killed: whole lines count, a torn one is left out and that is said; what
    would follow is a mismatch, and never another end."""
    program, path, end = recorded
    whole = path.read_bytes()

    for size in [*Random(0).sample(range(whole.index(b"\n") + 2, len(whole)), 15), len(whole)]:
        path.write_bytes(whole[:size])
        torn = []
        read = len([*lines(str(path), torn.append)])
        assert damaged.repeat(program) in ("journal-mismatch", end)[size == len(whole) :]
        assert read + len(torn) == len(whole[:size].splitlines())
        assert bool(torn) == (b"\n" not in whole[size - 1 : size + 1])


F = "(define (f n) (if (= n 0) 0 (f (- n 1))))"
STOPS = {
    "pause": ('(sleep 0.001) "end"', "sleep"),
    "effect": ('(define-effect (look)) (random 9) (look) "end"', "look"),
    "beside": ("(define-effect (look)) (par (look) (sleep 0.01))", "look"),
    "deadline": (f'{F} (attempt (with-timeout 0.02 (f 9000000)) "late")', "passed"),
    "deadline later": (f'{F} (sleep 0) (attempt (with-timeout 0.02 (f 9000000)) "late")', "passed"),
}


@pytest.mark.parametrize("stop", STOPS)
def test_a_recording_that_stops_behind_a_whole_line_says_so(tmp_path, stop):
    """What follows was performed, or computed without end, as if the recording were whole."""
    text, operation = STOPS[stop]
    path, looked = tmp_path / "run.jsonl", []
    options = {"effects": {"look": lambda: looked.append(1)}} if "look" in text else {}
    sexplang.run(text, record=path, **options)
    sexplang.run(text, model=f"replay:{path}", **options)
    found = path.read_text().splitlines(keepends=True)
    (row,) = [at for at, x in enumerate(found) if f'"operation": "{operation}", "digest"' in x]
    path.write_text("".join(found[:row]))
    done = len(looked)

    with pytest.raises(sexplang.Failed) as failed:
        sexplang.run(text, model=f"replay:{path}", **options)

    assert "journal-mismatch" == failed.value.error.fields["reason"]
    assert "run.jsonl stops before its run ended" in str(failed.value)
    assert done == len(looked)


def test_a_recording_that_lacks_its_end_alone_gives_the_same_end(tmp_path):
    """Its run was killed when nothing was left to be told."""
    path = tmp_path / "run.jsonl"
    first = sexplang.run("(sleep 0.001) (random 1000)", record=path)
    found = path.read_text().splitlines(keepends=True)
    assert '"ends": 0' in found[-1]
    path.write_text("".join(found[:-1]))

    assert first == sexplang.run("(sleep 0.001) (random 1000)", model=f"replay:{path}")


FULL = OSError(28, "No space left on device")


@pytest.mark.parametrize(
    ("wrong", "is_written"),
    [(FULL, False), (KeyboardInterrupt(), False), (KeyboardInterrupt(), True)],
)
def test_a_line_that_was_interrupted_breaks_no_chain(tmp_path, monkeypatch, wrong, is_written):
    """Whether it is in the file or not, the next one fits."""
    journal, path = record_to(tmp_path / "run.jsonl"), tmp_path / "run.jsonl"
    journal.storages[0].begin(None)
    journal.note({"begins": 0, "within": None, "kind": "run", "name": "x", "at": 1.0})
    write = os.write

    def interrupted(file, data):
        if is_written:
            write(file, data)
        raise wrong

    monkeypatch.setattr(os, "write", interrupted)
    with suppress(KeyboardInterrupt):
        journal.note({"withdrawn": "1"})
    monkeypatch.setattr(os, "write", write)
    journal.note({"withdrawn": "2"})
    journal.close()

    assert [None, None, *["1"] * is_written, "2"] == [
        line.get("withdrawn") for _, line in lines(str(path))
    ]
    assert read_recording(str(path)).unmade == 1 + is_written


def test_what_an_interruption_prevented_is_a_mismatch(tmp_path):
    """Whatever it was that the run waited for: its end was not that of the program."""
    program = tmp_path / "p.sexp"
    program.write_text('(par (sleep 30) (with-timeout 60 (sleep 31))) "done"')

    async def interrupted():
        with move_on_after(0.2):
            await sexplang.arun(program, record=program.with_suffix(".jsonl"))

    asyncio.run(interrupted())

    assert "journal-mismatch" == damaged.repeat(program)


RACES = {
    "tool": '(race (begin (tool "look_up" {}) "tool") (begin (sleep 0.05) "pause"))',
    "effect": '(define-effect (look)) (race (begin (look) "effect") (begin (sleep 0.05) "pause"))',
    "deadline": '(attempt (with-timeout 0.05 (tool "look_up" {})) "late")',
    "in time": '(attempt (with-timeout 0.3 (tool "look_up" {})) "late")',
}


@pytest.mark.parametrize("race", RACES)
def test_what_came_late_comes_late_again(tmp_path, race):
    """However soon it is there: a run that is repeated is told what was told, and nothing else.
    The tool took longer, or less long, than it does now."""
    path = tmp_path / "run.jsonl"

    def ends(seconds, **options):
        async def look_up():
            """Look it up."""
            await asyncio.sleep(seconds)
            return "there"

        given = {"tools": [look_up]} if race != "effect" else {"effects": {"look": look_up}}
        return sexplang.run(RACES[race], **given, **options)

    slow, fast = (0.0, 0.4) if race == "in time" else (30, 0.0)
    first = ends(slow, record=path)

    assert first == ends(fast, model=f"replay:{path}")
    assert first in ("pause", "late", "there")


@pytest.mark.parametrize("asked", ["look", "now"])
def test_what_was_withdrawn_before_it_was_begun_comes_late_again(tmp_path, asked):
    """A deadline passed with the reply before it; so the next request was never performed, and had
    no row. Performed again, it was in time."""
    text = f"""(define-effect (hold)) (define-effect (look))
        (par (begin (sleep 0.001) (hold))
             (attempt (with-timeout 0.01 (begin (sleep 0.005) ({asked}))) "late"))"""

    def ends(seconds, **options):
        effects = {"hold": lambda: sleep(seconds), "look": lambda: None}
        return sexplang.run(text, effects=effects, **options)

    for at in range(50):  # until both come at once
        path = tmp_path / f"{at}.jsonl"
        first = ends(0.1, record=path)
        if first == [None, "late"] and f'"operation": "{asked}", "place"' not in path.read_text():
            break

    assert [None, "late"] == first == ends(0, model=f"replay:{path}")


def test_a_header_says_the_version_and_every_line_its_checksum(recorded):
    """The last key of it; so a line can be checked by any tool that has sha256."""
    from hashlib import sha256

    before = ""
    for at, line in enumerate(recorded[1].read_text().splitlines()):
        said, _, tail = line.rpartition(', "checksum": "')
        before = sha256((before + said).encode()).hexdigest()[:32]
        assert tail == before + '"}'
        assert at > 0 or json.loads(line)["sexplang-journal"] == 7
