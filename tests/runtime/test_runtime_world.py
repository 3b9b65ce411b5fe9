"""The small things of the host, and the journal's file."""

import json
import os
import stat
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from runtime_support import begun, finally_, perform, repeat, request, seq, table
from support.running import error_of

from sexplang.machine import Done
from sexplang.runtime import Refusal, drive
from sexplang.runtime.journal.json_lines import record_to
from sexplang.runtime.journal.redaction import clean_data
from sexplang.runtime.journal.rows import digest
from sexplang.runtime.world import draw_integer
from sexplang.terms.json.tagged import dump, pack
from sexplang.terms.task import task_result
from sexplang.terms.values.value import symbol


def test_print_and_log_go_where_the_host_says():
    """Values as text, with spaces between them and a line break."""
    written, logged = [], []
    performers = table(write=written.append, log=lambda *line: logged.append(line))
    values = ("a", 1, None, ("b",))

    drive(begun(seq(perform("print", *values), perform("log", "warn", "careful"))), performers)

    assert ['a 1  ["b"]\n'] == written
    assert [("warn", "careful")] == logged


def test_the_key_is_not_printed(monkeypatch):
    """Whatever a program came to know."""
    monkeypatch.setenv("ANTHROPIC_AUTH_TOKEN", "token-that-is-secret")
    written = []

    drive(begun(perform("print", "a token-that-is-secret b")), table(write=written.append))

    assert ["a [redacted] b\n"] == written
    assert {"x": ["[redacted]"]} == clean_data({"x": ["token-that-is-secret"]})


def test_now_is_the_time():
    """UTC seconds."""
    assert abs(time.time() - drive(begun(perform("now")), table()).value) < 5


def test_random_follows_from_the_run_and_the_request():
    """The same run draws the same numbers; another request or run draws others."""
    draw = table(run_id="r1")["random"]
    other = table(run_id="r2")["random"]
    first = draw(request("random", id="0.1"))

    assert first == draw(request("random", id="0.1"))
    assert 3 == len({first, draw(request("random", id="0.2")), other(request("random", id="0.1"))})
    assert 0 <= first < 1


@given(st.binary(min_size=1, max_size=8), st.integers(1, 10**400))
def test_a_random_integer_is_below_its_bound(seed, bound):
    """However large the bound is."""
    assert 0 <= draw_integer(seed, bound) < bound


def test_random_integers_are_spread_evenly():
    """Each of six faces comes up about as often."""
    draw = table()["random"]
    faces = [draw(request("random", 6, id=f"0.{at}")) for at in range(6000)]

    assert all(850 < faces.count(face) < 1150 for face in range(6))


@pytest.mark.parametrize(
    "core",
    [
        perform("random", 0),
        perform("random", 2.5),
        perform("random", True),
        perform("sleep", -1),
        perform("sleep", "long"),
        perform("sleep", 1e308),
        perform("sleep", True),
        perform("progress", "x", "half"),
        perform("write-file", 1, 2),
    ],
    ids=lambda core: f"{core.operation} {core.arguments[-1].value}",
)
def test_arguments_of_the_wrong_type_are_errors(core, tmp_path):
    """With an example of what to type."""
    from sexplang.runtime import Permissions

    error = error_of(drive(begun(core), table(permissions=Permissions(write=[tmp_path]))))

    assert "wrong-type" == error["reason"]
    assert error["hint"]


def test_sleep_waits():
    """And gives nil."""
    started = time.monotonic()

    assert Done(None) == drive(begun(perform("sleep", 0.05)), table())
    assert time.monotonic() - started >= 0.05


def test_tools_of_the_host_are_answered():
    """Others are `unknown-tool`, naming those there are."""
    tools = {"double": lambda inputs: inputs["n"] * 2}

    assert Done(6) == drive(begun(perform("tool", "double", {"n": 3})), table(tools=tools))
    error = error_of(drive(begun(perform("tool", "triple", {})), table(tools=tools)))
    assert ("unknown-tool", True) == (error["reason"], "double" in error["hint"])


def test_a_recording_is_private_and_never_overwritten(tmp_path):
    """Created for its owner alone; an existing one with content is refused."""
    record = tmp_path / "run.jsonl"
    record_to(record).close()

    assert 0o600 == stat.S_IMODE(record.stat().st_mode)
    with pytest.raises(Refusal) as raised:
        record_to(record)
    assert "file-exists" == raised.value.error.fields["reason"]


@pytest.mark.parametrize("moment", [1, 2])
def test_a_recording_is_of_one_run(tmp_path, monkeypatch, moment):
    """Of two that begin it at the same time, the other one after whichever look at the file, one
    is refused before it writes."""
    path, looked = tmp_path / "run.jsonl", os.fstat
    kept, refused, looks = [], [], []

    def record():
        try:
            kept.append(record_to(path))
        except Refusal as refusal:
            refused.append(refusal.error.fields["reason"])

    def meanwhile(file):
        seen = looked(file)
        looks.append(file)
        if len(looks) == moment:
            record()
        return seen

    monkeypatch.setattr(os, "fstat", meanwhile)
    record()

    assert ["file-exists"] == refused
    kept[0].close()
    assert 1 == len(kept) == len(path.read_text().splitlines())


def test_a_row_is_in_the_file_before_the_run_goes_on(tmp_path):
    """So that a kill at any point loses no reply that had an effect. The header comes with the
    terms, or with the first row."""
    record = tmp_path / "run.jsonl"
    lines = []

    def count(request):
        lines.append(record.read_text().count("\n"))

    drive(begun(repeat(3, perform("count"))), {"count": count}, journal=record_to(record))

    assert [0, 2, 3] == lines


def test_a_reply_that_cannot_be_recorded_ends_the_run(tmp_path):
    """A full disk: the run fails, and no torn line is left."""
    journal = record_to(tmp_path / "run.jsonl")
    said = []

    def fill(request):
        full = os.open("/dev/full", os.O_WRONLY)
        os.dup2(full, journal.storages[0]._file)
        os.close(full)
        return "reply"

    program = seq(perform("fill"), perform("say"))
    error = error_of(drive(begun(program), {"fill": fill, "say": said.append}, journal=journal))

    assert ("record-failed", []) == (error["reason"], said)


def test_what_json_has_no_word_for_is_packed_apart():
    """Symbols, records, infinities and a table with the mark itself."""
    value = (symbol("s"), task_result("x"), float("inf"), {"$": 1}, {"k": None})
    text = dump(pack(value))

    assert ["symbol", "record", "float", "table"] == [item["$"] for item in json.loads(text)[:4]]
    assert digest("op", ({"a": 1, "b": 2},)) == digest("op", ({"b": 2, "a": 1},))
    assert digest("op", (1,)) != digest("op", ("1",))


def test_a_value_of_any_depth_is_recorded(tmp_path):
    """Python's recursion limit does not matter."""
    value = ()
    for _ in range(30_000):
        value = (value, {"k": "v"})
    record = tmp_path / "run.jsonl"

    drive(
        begun(perform("echo", value)),
        {"echo": lambda r: r.arguments[0]},
        journal=record_to(record),
    )

    assert 30_000 < record.read_text().count("[")


@pytest.mark.parametrize("operation", ["print", "log", "progress"])
def test_half_of_a_surrogate_pair_is_not_printed(operation):
    """No terminal takes it."""
    error = error_of(drive(begun(perform(operation, "\ud800", "\ud800")), table()))

    assert error["reason"] in ("not-text", "wrong-type")


def test_half_of_a_surrogate_pair_is_recorded_as_it_is(tmp_path):
    """In the way in which JSON writes it: what a performer of the host replies comes back."""
    record = tmp_path / "run.jsonl"
    program = begun(seq(perform("odd"), perform("odd", "\udfff")))

    drive(program, {"odd": lambda r: "a\ud800"}, journal=record_to(record))

    assert "a\ud800" == json.loads(record.read_text().splitlines()[1])["reply"]


def test_output_that_nobody_takes_ends_the_run():
    """The program does not see it; its `finally` bodies run, and the caller gets the error."""
    said = []

    def write(text):
        raise BrokenPipeError(32, "Broken pipe")

    def slow(request):
        import anyio

        return anyio.sleep(0)

    program = finally_(seq(perform("wait"), perform("print", "x")), perform("say", "cleaned"))
    performers = table(write=write) | {"say": lambda r: said.append(r.arguments[0])}
    for wait in (slow, lambda r: None):
        with pytest.raises(BrokenPipeError):
            drive(begun(program), performers | {"wait": wait})

    assert ["cleaned", "cleaned"] == said


def test_a_recording_is_not_made_through_a_link(tmp_path):
    """Wherever it leads."""
    (tmp_path / "link").symlink_to("nowhere")
    with pytest.raises(Refusal) as raised:
        record_to(tmp_path / "link")

    assert "it is a link" in raised.value.error.fields["message"]
