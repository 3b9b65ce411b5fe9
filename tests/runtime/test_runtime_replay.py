"""The model `replay:FILE`: replies from a recording."""

import pytest
from runtime_support import ASK, asked, begun, error_of, perform, seq, table

from sexplang.runtime import Journal, drive

OTHER = {"messages": ({"role": "user", "content": "Bye?"},)}


def recorded(folder, script, *payloads):
    """A recording of model calls, as the name of a model that replays it."""
    (folder / "script.json").write_text(script)
    journal = Journal(record=folder / "run.jsonl")
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


@pytest.mark.parametrize("text", ["", "3\n", "[]\n", "{}\n", '{"sexplang-journal": 1}\n{"a'])
def test_what_is_no_recording_is_refused(tmp_path, text):
    """With the line."""
    (tmp_path / "x").write_text(text)

    assert "bad-recording" == error_of(asked(f"replay:{tmp_path}/x"))["reason"]
    assert "bad-recording" == error_of(asked(f"replay:{tmp_path}/none"))["reason"]
