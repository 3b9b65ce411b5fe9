"""One shape of TaskResult, wherever it comes from."""

import json

import pytest

import sexplang

TASKS = """
(defatom chief (instructions "Chief") (allowed_tools spawn_subtask))
(defatom clerk (instructions "Clerk") (output_format type: json schema: object))
(define (fields result) (json-string result))
"""
SHAPE = ["status", "content", "parsed_content", "notes", "usage"]


def model(payload):
    """A clerk that answers in JSON, and a chief that asks it."""
    if payload["task"] == "clerk":
        return '{"n": 1}'
    if len(payload["messages"]) > 1:
        return payload["messages"][-1]["content"][0]["content"]
    return {"tool_use": {"name": "spawn_subtask", "input": {"name": "clerk", "inputs": {}}}}


@pytest.mark.parametrize(
    ("program", "status"),
    [
        ("(fields (call-task clerk))", "COMPLETE"),
        ("(fields (call-task chief))", "COMPLETE"),
        ("(fields (subtask {name: \"clerk\" inputs: {}}))", "COMPLETE"),
        ("(fields (attempt (call-atomic-task 'clerk max_depth: 0)))", "FAILED"),
        ('(fields (attempt (error "no")))', "FAILED"),
        ('(fields (system:run_script "true"))', "COMPLETE"),
        ('(fields (system:run_script "false"))', "FAILED"),
        ("(handle (str (chief)) ((subtask request) k (fields request.result)))", "CONTINUATION"),
    ],
)  # fmt: skip
def test_every_result_has_the_same_fields(program, status):
    """Tasks, subtasks, scripts, failures, and the CONTINUATION that a handler sees."""
    allowed = sexplang.Permissions(run=["true", "false"])
    result = json.loads(sexplang.run(TASKS + program, model=model, permissions=allowed))

    assert SHAPE == list(result)
    assert status == result["status"]
    assert isinstance(result["content"], str) and isinstance(result["notes"], dict)
    assert ("error" in result["notes"]) == (status == "FAILED")


@pytest.mark.parametrize("identifier", ["clerk", "(clerk)", "(+ 1 2)", "read_file", "nobody"])
def test_the_dispatcher_gives_it_too(tmp_path, identifier):
    """Whatever was asked for, and whatever became of it."""
    file = tmp_path / "tasks.sexp"
    file.write_text(TASKS)
    result = sexplang.dispatch(identifier, {}, library=file, model=model)

    assert all(hasattr(result, name) for name in SHAPE)
    assert ("error" in result.notes) == (result.status == "FAILED")
