"""The fields of one of several subagents: all that are written are used, or it is said why not."""

import pytest
from support.messages_server import MessagesServer

import sexplang


@pytest.mark.parametrize(
    "fields",
    [
        'task: "x" relevantHistory: "h" systemPrompt: "s"',
        'task: "x" relevant_history: "h" system_prompt: "s"',
        'context: {task: "x" relevantHistory: "h"} systemPrompt: "s"',
    ],
)
def test_fields_of_one_of_several_may_be_written_as_a_model_does(fields):
    """None is dropped, whether it stands in the context or beside it."""
    with MessagesServer("done") as server:
        sexplang.run(f'(run-parallel-subagents [{{id: "a" {fields}}}])', model=server.url)

    [body] = server.journal
    assert ["Context:\nh", "s"] == [body["messages"][0]["content"], body["system"]]


@pytest.mark.parametrize(
    ("fields", "wrong"),
    [
        ('task: "x" junk: 1', "a subagent has no field `junk`"),
        ('task: "x" relevant_histori: "h"', "a subagent has no field `relevant_histori`"),
        ('context: {task: "x" junk: 1}', "a subagent has no field `junk`"),
        ('context: {task: "x"} task: "y"', "the field `task` stands twice"),
        ('task: "x" systemPrompt: "s" system_prompt: "t"', "`system_prompt` stands twice"),
        ('context: "x"', "`context` is a table"),
    ],
)
def test_a_field_of_one_of_several_that_nobody_knows_is_its_result(fields, wrong):
    """The other ones are done."""
    program = f'(run-parallel-subagents [{{id: "a" {fields}}} {{id: "b" task: "y"}}])'
    result = sexplang.run(program, model=lambda payload: "done")

    first, second = [each["result"] for each in result["results"]]
    assert not first["success"]
    assert wrong in first["error"]
    assert second["success"]


def test_an_id_is_a_text():
    """A number is none, and it is said so."""
    with pytest.raises(sexplang.Failed, match=r"has an `id`, a text .*, not 1"):
        sexplang.run('(run-parallel-subagents [{id: 1 task: "x"}])', model=[])
