"""What a recording holds beside its replies: what was asked, and within what."""

import json
import os

import pytest
from hypothesis import given
from hypothesis import strategies as st
from runtime_support import ASK, asked, begun, perform, seq, table
from support.recorded import put_lines
from support.running import error_of

import sexplang
from sexplang.machine import Done
from sexplang.runtime import drive
from sexplang.runtime.driver.events import Retrying
from sexplang.runtime.journal.json_lines import record_to
from sexplang.runtime.journal.recording_reader import Entry, read_recording
from sexplang.runtime.journal.shared_payloads import PayloadRestorer, PayloadShortener
from sexplang.runtime.traces.recording_sink import RecordingSink
from sexplang.runtime.traces.tree import Trace
from sexplang.terms.task import error_record

BLOCKS = st.sampled_from([0, False, 1, True, 1.0, "a", {"x": 1}, {"x": True}, [], None])
PAYLOADS = st.builds(
    lambda messages, more: {**more, "messages": messages},
    st.lists(st.fixed_dictionaries({"role": st.just("user"), "content": BLOCKS}), max_size=4),
    st.dictionaries(st.sampled_from(["system", "tools", "model"]), BLOCKS),
)


def names(entry: Entry):
    return [entry.name, [names(each) for each in entry.below]]


@given(st.lists(st.tuples(st.sampled_from(["model", "tool"]), PAYLOADS), max_size=8))
def test_what_is_said_again_is_read_again(calls):
    """Shortened or not, each row has the arguments that it had."""
    shared, whole = PayloadShortener(), PayloadRestorer()
    rows = [
        {"id": str(at), "operation": operation, "arguments": [payload]}
        for at, (operation, payload) in enumerate(calls)
    ]
    kept = [json.loads(json.dumps(shared.shorten(row))) for row in rows]

    assert [json.dumps(row["arguments"], sort_keys=True) for row in rows] == [
        json.dumps(whole.arguments(row), sort_keys=True) for row in kept
    ]


def test_a_conversation_grows_with_its_turns_not_with_their_square(tmp_path):
    """Each turn adds what is new in it."""
    journal = record_to(tmp_path / "run.jsonl")
    turns = [({"role": "user", "content": f"{at} {'x' * 1000}"}) for at in range(40)]
    script = tmp_path / "script.json"
    script.write_text(json.dumps(["ok"] * 40))
    program = seq(*[perform("model", {"messages": tuple(turns[: at + 1])}) for at in range(40)])
    drive(begun(program), table(model=f"scripted:{script}"), journal=journal)
    journal.close()

    assert 40_000 < (tmp_path / "run.jsonl").stat().st_size < 80_000


def test_a_host_records_the_tree_as_well(tmp_path):
    """With `record=`, whether or not it is traced."""
    path = tmp_path / "run.jsonl"
    sexplang.run("(par (now) (begin (now) (now)))", record=path)
    found = read_recording(str(path))

    assert [["0", [["now", []]]], ["1", [["now", []], ["now", []]]]] == names(found.root)[1]
    assert [None, 3] == [found.root.error, len(found.rows)]


def test_attempts_that_failed_are_kept(tmp_path):
    """With their errors, before the row."""
    journal = record_to(tmp_path / "run.jsonl")
    trace = Trace(RecordingSink(journal, "program"))
    error = error_record("TASK_FAILURE", "llm_error", "busy")

    async def answer(request):
        trace.wrap_watch(None)(Retrying(request, 1, 0.5, error))
        return 1

    outcome = drive(begun(perform("model", ASK)), {"model": answer}, journal=journal, trace=trace)
    trace.finish()
    journal.close()
    (row,) = read_recording(str(tmp_path / "run.jsonl")).rows

    assert Done(1) == outcome
    assert [error.fields] == [each.fields for each in row.retries]


def test_a_note_that_finds_no_room_ends_nothing(tmp_path):
    """The next row does: a run is repeated from its rows."""
    journal = record_to(tmp_path / "run.jsonl")
    full = os.open("/dev/full", os.O_WRONLY)
    os.dup2(full, journal.storages[0]._file)
    os.close(full)
    journal.note({"begins": 0})
    outcome = drive(begun(perform("now")), table(), journal=journal)
    journal.close()

    assert "record-failed" == error_of(outcome)["reason"]


@pytest.mark.parametrize("version", [1, 4, 5])
def test_a_recording_of_an_earlier_version_is_not_repeated(tmp_path, version):
    """It is refused by name, with the version of sexplang that repeats it, if one does."""
    journal = record_to(tmp_path / "run.jsonl")
    (tmp_path / "script.json").write_text('["hello"]')
    model = f"scripted:{tmp_path}/script.json"
    drive(begun(perform("model", ASK)), table(model=model), journal=journal)
    journal.close()
    put_lines(tmp_path / "old.jsonl", (tmp_path / "run.jsonl").read_text().splitlines(), version)

    refused = error_of(asked(f"replay:{tmp_path}/old.jsonl"))

    assert ("recording-too-old", version) == (refused["reason"], refused["details"]["version"])
    assert (version < 5) == ("sexplang 0.1" in refused["hint"])
    assert "hello" == asked(f"replay:{tmp_path}/run.jsonl").value["content"][0]["text"]


def test_newer_recordings_are_refused(tmp_path):
    """Nobody knows what they say."""
    (tmp_path / "x").write_text('{"sexplang-journal": 7, "run": "x"}\n')

    assert "newer" in error_of(asked(f"replay:{tmp_path}/x"))["message"]
