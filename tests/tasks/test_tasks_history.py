"""Earlier turns: which a model sees, which are kept, and what is no history."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tasks_driver import converse, says, template

from sexplang.terms.template import HistoryConfig

HISTORY = (
    {"role": "user", "content": "1"},
    {"role": "assistant", "content": "2"},
    {"role": "user", "content": "3"},
    {"role": "assistant", "content": "4"},
)


@given(st.integers(1, 4), st.booleans(), st.booleans())
def test_history_is_shown_and_recorded_as_its_settings_say(most: int, use: bool, record: bool):
    task = template(history_config=HistoryConfig(use, most, record))
    run = converse(task, [says("ok")], overrides={"history": HISTORY})

    earlier = run.requests[0]["messages"][:-1]
    assert earlier == (HISTORY[-2 * most :] if use else ())
    history = run.notes.get("history")
    assert (history is not None) == record
    assert history is None or (history[:4], len(history)) == (HISTORY, 6)


CALL = {"type": "tool_use", "id": "t1", "name": "look", "input": {}}
RESULT = {"type": "tool_result", "tool_use_id": "t1", "content": ({"type": "text", "text": "Tea"},)}
CALLED = (
    {"role": "user", "content": "1"},
    {"role": "assistant", "content": (CALL,)},
    {"role": "user", "content": (RESULT,)},
    {"role": "assistant", "content": "2"},
)


@pytest.mark.parametrize("most", [1, 2])
def test_a_question_is_kept_with_the_calls_after_it(most: int):
    """A result without its call, or a call without its result, is sent to nobody."""
    task = template(history_config=HistoryConfig(history_turns_to_include=most))
    run = converse(task, [says("ok")], overrides={"history": HISTORY + CALLED})

    assert (HISTORY[2:] + CALLED if most == 2 else CALLED) == run.requests[0]["messages"][:-1]


@pytest.mark.parametrize(
    ("blocks", "says_"),
    [
        (({"type": "text", "text": 5},), "content[0] of message 1 a text block has no text"),
        (({"type": "text"},), "a text block has no text"),
        (({},), "a block is no table with a type"),
        (("text",), "a block is no table with a type"),
        (({"type": 5},), "a block is no table with a type"),
        ((CALL | {"id": ""},), "its id, name and table of input"),
        ((CALL | {"name": 5},), "its id, name and table of input"),
        ((CALL | {"input": ()},), "its id, name and table of input"),
        ((RESULT,), "a `tool_result` is no answer of a user"),
        ((CALL,), "the calls of its last message have no results"),
        ((CALL, CALL), "two calls in message 1 have one id"),
    ],
)
def test_a_history_is_judged_as_a_reply_is(blocks, says_):
    """Of a type it knows a block has what that wants, and a call has its result."""
    history = ({"role": "user", "content": "1"}, {"role": "assistant", "content": blocks})
    run = converse(template(), [], overrides={"history": history})

    assert "input_validation_failure" == run.error["reason"]
    assert says_ in run.error["message"]


@pytest.mark.parametrize(
    "history",
    [
        (*CALLED[:2], {"role": "user", "content": "2"}),
        (*CALLED[:2], {"role": "user", "content": (RESULT, RESULT)}),
        CALLED[2:],
        (*CALLED[:2], {"role": "user", "content": (RESULT | {"tool_use_id": "t2"},)}),
        (*CALLED[:2], {"role": "user", "content": (RESULT | {"content": (CALL,)},)}),
        ({"role": "user", "content": (CALL,)}, CALLED[2]),
        ({"role": "user", "content": "1", "name": "Ada"},),
        ({"role": "user", "content": None},),
        ({"role": "user", "content": " "},),
        ({"role": "user", "content": ()},),
        ({"role": "user", "content": ({"type": "text", "text": " "},)},),
    ],
)
def test_a_history_with_a_call_and_no_result_is_refused(history):
    run = converse(template(), [], overrides={"history": history})

    assert "input_validation_failure" == run.error["reason"]
    assert ("history",) == run.error["details"]["fields"]


def test_a_history_with_an_empty_answer_can_be_gone_on_with():
    """What no provider takes is not in it."""
    first = converse(template(), [""], overrides={"history": ()})
    history = first.notes["history"]
    second = converse(template(), ["b"], overrides={"history": history})

    assert "(nothing)" == history[-1]["content"][0]["text"]
    assert "b" == second.result.fields["content"]


def test_no_history_is_noted_where_none_was_given():
    assert "history" not in converse(template(), [says("ok")]).notes
