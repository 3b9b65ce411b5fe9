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
        ('context: {task: "x"} task: "y"', "the field `task` occurs twice"),
        ('task: "x" systemPrompt: "s" system_prompt: "t"', "`system_prompt` occurs twice"),
        ('context: "x"', "`context` is a table"),
        ('task: "x" maxIterations: 0', "`max_iterations:` is a number of calls"),
        ('task: "x" max_iterations: "3"', "`max_iterations:` is a number of calls"),
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


@pytest.mark.parametrize("field", ["maxIterations", "max_iterations"])
@pytest.mark.parametrize(("asked", "made"), [(2, 2), ("2.0", 2), (50, 10)])
def test_fewer_calls_may_be_asked_for(field, asked, made):
    """And no more than the run allows."""
    called = []

    def answer(payload):
        called.append(payload)
        return {"tool_use": {"name": "look", "input": {}}}

    def look() -> str:
        """Looks."""
        return "nothing"

    program = f'(run-parallel-subagents [{{id: "a" task: "x" {field}: {asked}}}])'
    result = sexplang.run(program, model=answer, tools=[look])

    assert made == len(called)
    assert f"after {made} calls" in result["results"][0]["result"]["error"]


def test_a_tool_that_nobody_has_is_no_subagents():
    """It is said which there are, before any call; the other ones are done."""
    called = []

    def answer(payload):
        called.append(payload)
        return "done"

    def look() -> str:
        """Looks."""
        return "nothing"

    program = """
    (run-parallel-subagents [{id: "a" task: "x" tools: ["look" "nope" "never"]}
                             {id: "b" task: "y" tools: ["look" "read_file"]}])
    """
    result = sexplang.run(program, model=answer, tools=[look])

    first, second = [each["result"] for each in result["results"]]
    assert (first["success"], second["success"], len(called)) == (False, True, 1)
    assert first["error"].startswith(
        "unknown-tool: nobody has the tools `nope`, `never`; there are look, read_file, list_files"
    )


def test_a_tool_that_a_handler_may_answer_is_offered():
    """Which ones it answers, nobody knows but the handler."""
    program = """
    (handle (spawn-subagent task: "x" tools: ["mine"])
      ((tool name inputs) resume (resume (str name " here"))))
    """

    def answer(payload):
        if len(payload["messages"]) > 1:
            return payload["messages"][-1]["content"][0]["content"]
        return {"tool_use": {"name": payload["tools"][0]["name"], "input": {}}}

    assert "mine here" == sexplang.run(program, model=answer)["content"]


def test_an_id_is_a_text():
    """A number is none, and it is said so."""
    with pytest.raises(sexplang.Failed, match=r"has an `id`, a text .*, not 1"):
        sexplang.run('(run-parallel-subagents [{id: 1 task: "x"}])', model=[])
