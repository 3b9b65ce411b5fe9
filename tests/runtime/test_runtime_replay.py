"""The model `replay:FILE`: replies from a recording."""

import pytest
from runtime_support import ASK, asked, begun, perform, seq, table
from support.running import error_of

from sexplang.runtime import drive
from sexplang.runtime.journal.json_lines import record_to
from sexplang.terms.model.roles import Models

OTHER = {"messages": ({"role": "user", "content": "Bye?"},)}


def recorded(folder, script, *payloads):
    """A recording of model calls, as the name of a model that replays it."""
    (folder / "script.json").write_text(script)
    journal = record_to(folder / "run.jsonl")
    program = begun(seq(*[perform("model", payload) for payload in payloads]))
    drive(program, table(model=f"scripted:{folder}/script.json"), journal=journal)
    journal.close()
    return f"replay:{folder}/run.jsonl"


def test_equal_requests_get_their_replies_in_order(tmp_path):
    """Whatever came in between."""
    model = recorded(tmp_path, '["1", "2", "3"]', ASK, OTHER, ASK)
    performer = table(model=model)
    said = [
        drive(begun(perform("model", payload)), performer).value["content"][0]["text"]
        for payload in (OTHER, ASK, ASK)
    ]

    assert ["2", "1", "3"] == said


def test_an_error_is_replayed_as_an_error(tmp_path):
    """With its reason."""
    model = recorded(tmp_path, '[{"error": "overloaded_error"}]', ASK)

    assert "llm_error" == error_of(asked(model))["reason"]


def test_a_request_that_was_not_recorded_is_shown(tmp_path):
    """Neither another one nor one more: no reply is made up."""
    model = recorded(tmp_path, '["1"]', ASK)
    twice = begun(seq(perform("model", ASK), perform("model", ASK)))
    other, more = error_of(asked(model, OTHER)), error_of(drive(twice, table(model=model)))

    assert ("journal-mismatch", True) == (other["reason"], "Bye?" in other["message"])
    assert ("journal-mismatch", True) == (more["reason"], "no further" in more["message"])


def test_time_and_chance_are_those_of_the_recording(tmp_path):
    """So that what is asked with them is the same; what was not asked then is a mismatch."""
    draws = [perform("now"), perform("random"), perform("random", 10**9)]

    def driven(*draws, record=None, **options):
        journal = record_to(record)
        ended = drive(begun(seq(*draws)), table(run_id=journal.run_id, **options), journal=journal)
        journal.close()
        return ended, [row.reply for row in journal.rows]

    def given(*draws, **options):
        return driven(*draws, **options)[1]

    first = given(*draws, record=tmp_path / "run.jsonl")
    model = f"replay:{tmp_path}/run.jsonl"
    assert first == given(*draws, model=model)
    assert first == given(*draws, models=Models(default=model))
    assert not {*first} & {*given(*draws)}
    for more in [perform("random", 10**8), perform("now")]:
        ended, told = driven(draws[0], more, draws[2], model=model)
        assert ("journal-mismatch", first[:1]) == (error_of(ended)["reason"], told)
        assert f"has no reply to this `{more.operation}`" in error_of(ended)["message"]


def test_a_last_line_without_its_end_is_left_out(tmp_path):
    """Of a run that was killed while it wrote; it is said, and what stands before it counts."""
    model = recorded(tmp_path, '["1", "2"]', ASK, OTHER)
    whole = (tmp_path / "run.jsonl").read_bytes()
    said = []
    for size in (len(whole) - 30, whole.rindex(b"\n", 0, -1) + 2):
        (tmp_path / "run.jsonl").write_bytes(whole[:size])
        both = table(model=model, log=lambda *words: said.append(words))
        said.clear()
        assert "1" == drive(begun(perform("model", ASK)), both).value["content"][0]["text"]
        words = "its last line has no end, and is left out"
        assert [("warning", f"{tmp_path}/run.jsonl: {words}")] == said
    assert "journal-mismatch" == error_of(asked(model, OTHER))["reason"]


@pytest.mark.parametrize("text", ["", "3\n", "[]\n", "{}\n", '{"sexplang-journal": 6}\n{"a\n'])
def test_what_is_no_recording_is_refused(tmp_path, text):
    """With the line."""
    (tmp_path / "x").write_text(text)

    assert "bad-recording" == error_of(asked(f"replay:{tmp_path}/x"))["reason"]
    assert "bad-recording" == error_of(asked(f"replay:{tmp_path}/none"))["reason"]
