"""Output formats: reading, repairing by asking again, and giving up."""

import pytest
from tasks_driver import converse, says, template

from sexplang.terms.template import Limits, OutputFormat

JSON = OutputFormat("json", "object")


def test_json_is_parsed_and_the_text_is_kept():
    """parsed_content has the value, content the reply."""
    run = converse(template(output_format=JSON), [says('{"a": [1]}')])

    assert run.result.fields["parsed_content"] == {"a": (1,)}
    assert run.result.fields["content"] == '{"a": [1]}'
    assert "repairs" not in run.notes


def test_json_in_an_undeclared_format_stays_text():
    """Nothing is guessed."""
    assert converse(template(), [says('{"a": 1}')]).result.fields["parsed_content"] is None


def test_a_reply_that_does_not_fit_is_asked_for_again_with_the_reason():
    """Each repair is noted; usage is that of all turns."""
    run = converse(template(output_format=JSON), [says("[1]"), says("oops"), says("{}")])

    assert run.result.fields["parsed_content"] == {}
    assert "it must be an object" in run.requests[1]["messages"][-1]["content"][0]["text"]
    assert [note.split(":")[0] for note in run.notes["repairs"]] == ["asked again"] * 2
    assert "it is an array" in run.notes["repairs"][0]
    assert run.result.fields["usage"] == {"input_tokens": 30, "output_tokens": 6}


def test_after_two_repairs_it_is_an_output_format_failure():
    """The last reply is the content; expected and actual type are in the details."""
    error = converse(template(output_format=JSON), [says("[1]"), says("x"), says("[2]")]).error

    assert (error["type"], error["reason"]) == ("TASK_FAILURE", "output_format_failure")
    assert "[2]" == error["content"] == error["details"]["originalOutput"]
    assert error["details"]["expectedType"] == "object"
    assert error["details"]["actualType"] == "array"
    assert len(error["details"]["repairs"]) == 2


def test_a_reply_that_cannot_be_read_says_why():
    """Where the JSON ends to be some, beside the reply as it was."""
    error = converse(template(output_format=JSON), [says('{"a": ?}')] * 3).error

    assert "output_format_failure" == error["reason"]
    assert error["details"]["parseError"]
    assert '{"a": ?}' == error["content"] == error["details"]["originalOutput"]


def test_without_a_turn_left_nothing_is_asked_again():
    """The failure is that of the format, which says more than the limit."""
    task = template(output_format=JSON, limits=Limits(max_turns=1))

    assert converse(task, [says("x")]).error["reason"] == "output_format_failure"


def test_the_format_is_said_in_words_too():
    """Not every server can enforce a schema."""
    run = converse(template(output_format=JSON, system="Be terse."), [says("{}")])

    words = 'Answer with one JSON value that fits this schema and nothing else: {"type": "object"}'

    assert run.requests[0]["system"] == f"Be terse.\n\n===\n\n{words}"
    assert run.requests[0]["output_schema"] == {"type": "object"}


def test_repairs_of_the_text_are_noted():
    """A code fence is taken off without asking again."""
    run = converse(template(output_format=JSON), [says('```json\n{"a": 1}\n```')])

    assert run.result.fields["parsed_content"] == {"a": 1}
    assert "fence" in run.notes["repairs"][0]


@pytest.mark.parametrize("score, noted", [("0.5", 0.5), ("true", None), ('"high"', None)])
def test_a_success_score_is_passed_on(score, noted):
    """`successScore` of the answer becomes a note."""
    run = converse(template(output_format=JSON), [says(f'{{"successScore": {score}}}')])

    assert noted == run.notes.get("successScore")
