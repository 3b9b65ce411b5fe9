"""Why a model stopped, and the calls beside it: none is sent back without its result."""

import pytest
from tasks_driver import converse, reply, says, template

from sexplang.terms.task import Broke

TOOLS = ("lookup",)


@pytest.mark.parametrize(
    "stop", ["tool_use", "end_turn", "stop_sequence", "pause_turn", "compaction"]
)
def test_a_call_is_made_whatever_ended_the_turn_in_peace(stop):
    """Sent back without its result it would be refused, and dropped it would be lost."""
    call = {"type": "tool_use", "id": "a", "name": "lookup", "input": {"word": "tea"}}
    said = reply([{"type": "text", "text": "I look. "}, call], stop)
    run = converse(template(allowed_tools=TOOLS), [said, ("a drink",), says("done")])
    *_, asked, told = run.requests[1]["messages"]

    assert [("tool", ("lookup", {"word": "tea"}))] == [
        (ask.operation, ask.arguments) for ask in run.performed[1].asks
    ]
    assert ("assistant", said["content"]) == (asked["role"], asked["content"])
    assert "a" == told["content"][0]["tool_use_id"]
    assert "done" == run.result.fields["content"]


@pytest.mark.parametrize("stop", ["max_tokens", "model_context_window_exceeded", "refusal", None])
def test_a_reply_that_was_cut_has_no_calls_and_is_not_sent_back(stop):
    """A part of a call is none; the task ends."""
    call = {"type": "tool_use", "id": "a", "name": "lookup", "input": {}}
    run = converse(template(allowed_tools=TOOLS), [reply([call], stop)])

    assert isinstance(run.end, Broke)
    assert 1 == len(run.performed)
