"""Calls that a model makes: why it stopped beside them, what they hold, and what answers them."""

import json

import pytest
from tasks_driver import converse, reply, says, template, uses

from sexplang.terms.task import Broke, error_record, make_failed_result
from sexplang.terms.template import OutputFormat
from sexplang.terms.values.value import Procedure, Record

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


def nested(depth):
    """A list in lists, so many in all."""
    made = ()
    for _ in range(depth - 1):
        made = (made,)
    return made


def told(run):
    """The message of the error that the model was told, which is the last that was said to it."""
    (block,) = run.requests[-1]["messages"][-1]["content"]
    assert block["is_error"]
    return json.loads(block["content"])


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ('{"word": 1, "word": 2}', "has the key `word` twice in one object: keep one"),
        ('{"a": [{"b": 1, "b": 1}]}', "has the key `b` twice"),
        (f'{{"word": {"9" * 5_000}}}', "a number in it is too long"),
        (f'{{"word": {"9" * 4_250}}}', "a number in it is too long"),
        ('{"word": 1e400}', "is no data: a number in it is larger than any float"),
        ('{"word": ' + "[" * 200 + "]" * 200 + "}", "nests more than 190 levels deep"),
        ('{"word": ' + "[" * 5_000 + "]" * 5_000 + "}", "nested too deep"),
        ({"word": (float("inf"),)}, "a number in it is larger than any float"),
        ({"word": float("nan")}, "it holds NaN"),
        (Record("Tea", {"word": float("nan")}), "it holds NaN"),
        ({"word": nested(190)}, "nests more than 190 levels deep"),
        ("{" * 100_000, "is no data"),
        ("tea", "is no object"),
        (3, "is no object"),
    ],
)
def test_an_input_that_nobody_can_hold_is_told_to_the_model(given, words):
    """It is not called, and goes back as an empty one."""
    run = converse(template(allowed_tools=TOOLS), [uses(("a", "lookup", given)), says("done")])

    assert words in told(run)["message"]
    assert {} == run.requests[1]["messages"][1]["content"][0]["input"]
    assert ["model", "model"] == [ask.operation for want in run.performed for ask in want.asks]
    assert "done" == run.result.fields["content"]


def test_an_input_that_fits_into_a_conversation_is_called_with():
    """As deep as it may be, with the largest float."""
    given = {"word": nested(189), "most": 1.7976931348623157e308}
    run = converse(template(allowed_tools=TOOLS), [uses(("a", "lookup", given)), ("x",), says("")])

    assert ("lookup", given) == run.performed[1].asks[0].arguments
    assert given == run.requests[1]["messages"][1]["content"][0]["input"]


@pytest.mark.parametrize("number", [float("nan"), float("-inf")])
def test_an_answer_with_a_number_that_json_lacks_is_told_to_the_model(number):
    """Wherever it stands; in the details of an error, the error is told without them."""
    for answer in (number, (number,), {"a": ({"b": number},)}):
        run = converse(
            template(allowed_tools=TOOLS), [uses(("a", "lookup", {})), (answer,), says("")]
        )
        said = told(run)
        assert "not-json" == said["details"]["code"]
        assert "a model cannot be given" in said["message"]

    error = error_record("TASK_FAILURE", "seconds", "it broke", details={"left": number})
    failed = (make_failed_result(error),)
    run = converse(template(allowed_tools=TOOLS), [uses(("a", "lookup", {})), failed, says("")])
    assert {"type": "TASK_FAILURE", "reason": "seconds", "message": "it broke"} == told(run)


@pytest.mark.parametrize("depth", [0, 1])
@pytest.mark.parametrize("name", ["lookup", "spawn_subtask"])
def test_a_function_is_no_answer(depth, name):
    """Whether it stands alone or in a list: that is a mistake of the program, which ends it."""
    call = uses(("a", name, {"description": "d"}))
    answer = (Procedure(),) if depth else Procedure()
    run = converse(
        template(allowed_tools=(name,)),
        [call, (answer,) if name == "lookup" else answer],
    )

    assert run.error["reason"] == "not-data"
    assert run.error["details"]["turns"]["used"] == 1


@pytest.mark.parametrize(
    "content",
    [
        (),
        ({"type": "text", "text": ""},),
        ({"type": "text", "text": " \n"},),
        ({"type": "thinking", "thinking": "…"},),
    ],
)
@pytest.mark.parametrize("before", [[], [uses(("a", "lookup", {})), ("v",)]])
def test_a_turn_that_ends_without_a_word_is_an_empty_answer(content, before):
    """Providers give that after the results of tools, without a block. It is noted."""
    task = template(allowed_tools=TOOLS)
    run = converse(task, [*before, reply(content, "end_turn")])
    spoken = converse(task, [*before, says("done")])

    assert ("COMPLETE", "") == (run.result.fields["status"], run.result.fields["content"].strip())
    assert ["the model ended its turn without a word: the answer is empty"] == [
        *run.notes["warnings"]
    ]
    assert () == spoken.notes["warnings"]


def test_an_empty_answer_that_is_no_json_is_asked_for_again():
    task = template(output_format=OutputFormat(type="json", schema="object"))
    run = converse(task, [reply([], "end_turn"), says("{}")])

    assert 2 == run.notes["turns"]
    assert () == run.notes["warnings"]
