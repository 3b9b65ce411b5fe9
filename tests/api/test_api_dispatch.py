"""The Dispatcher for Python: what a name stands for, and that every end is a TaskResult."""

import asyncio
import json

import pytest

import sexplang

LIBRARY = """<templates>
<task name="greet" type="atomic" subtype="director">
  <description>Greet somebody</description>
  <params><param name="who"/></params>
  <instructions>Greet {{who}}.</instructions>
</task>
<task name="shout" type="atomic"><instructions>Shout.</instructions></task>
</templates>"""


SLOW = """<templates>
<task name="outer" type="atomic">
  <instructions>Ask for inner.</instructions>
  <limits timeout="0.2"/><allowed_tools><tool>spawn_subtask</tool></allowed_tools>
</task>
<task name="inner" type="atomic"><instructions>Take long.</instructions></task>
</templates>"""


def louder(text: str) -> str:
    """Says it louder."""
    return text.upper()


def shout() -> str:
    """A tool with the name of a task."""
    return "!"


@pytest.fixture
def library(tmp_path):
    (tmp_path / "tasks.xml").write_text(LIBRARY)
    (tmp_path / "a.md").write_text("Notes.")
    return tmp_path


def failure(result):
    """The error of a FAILED result."""
    assert result.status == "FAILED"
    return result.notes["error"]


@pytest.mark.parametrize("identifier", ["greet", "atomic:director"])
def test_a_task_is_found_by_name_and_by_subtype(library, identifier):
    asked = []

    def model(payload):
        asked.append(payload["messages"][0]["content"][0]["text"])
        return "Hello."

    result = sexplang.dispatch(identifier, {"who": "Ann"}, library=library, model=model)

    assert (str(result), asked) == ("Hello.", ["Greet Ann."])
    assert result.notes["execution_path"] == "subtask_template"
    assert (result.notes["context_source"], result.notes["context_files_count"]) == ("none", 0)


def test_a_tool_answers_where_no_task_has_the_name(library):
    result = sexplang.dispatch("louder", {"text": "hi"}, library=library, tools=[louder])

    assert (str(result), result.notes["tool_output"]) == ("HI", "HI")
    assert result.notes["execution_path"] == "direct_tool"


def test_a_program_sees_the_inputs_as_names_and_the_tasks(library):
    result = sexplang.dispatch("(* a 2)", {"a": [1, 2][1]})
    assert (str(result), result.notes["sexp_raw_result"]) == ("4", 4)
    assert result.notes["execution_path"] == "s_expression"

    result = sexplang.dispatch("(greet who)", {"who": "Bo"}, library=library, model=["Hi."])
    assert str(result) == "Hi."


def test_a_continuation_that_nobody_can_answer_is_a_failed_result(library):
    """As the value of a program: there is no conversation that could go on."""
    program = '(task-result {content: "c" status: "CONTINUATION" notes: {}})'
    error = failure(sexplang.dispatch(program, library=library))

    assert error["reason"] == "tool_execution_error"


def test_a_name_that_is_a_task_and_a_tool_is_refused(library):
    error = failure(sexplang.dispatch("shout", library=library, tools=[shout]))

    assert error["reason"] == "configuration_error"


@pytest.mark.parametrize(
    ("identifier", "inputs", "reason"),
    [
        ("nobody", {}, "template_not_found"),
        ("greet", {}, "input_validation_failure"),
        ("greet", {"who": object()}, "not-data"),
        ("(+ 1", {}, "input_validation_failure"),
        ("(+ 1 x)", {}, "input_validation_failure"),
        ("(+ 1 x)", {"x": "one"}, "subtask_failure"),
        ("(+ 1 x)", {"x)": 1}, "input_validation_failure"),
        ('(raise "no")', {}, "subtask_failure"),
        ("(lambda (x) x)", {}, "subtask_failure"),
        ("louder", {"text": 3}, "input_validation_failure"),
    ],
)
def test_whatever_goes_wrong_is_a_failed_result(library, identifier, inputs, reason):
    result = sexplang.dispatch(identifier, inputs, library=library, tools=[louder], model=["x"])

    error = failure(result)
    assert reason in (error["reason"], (error["details"].get("originalError") or {}).get("reason"))
    assert error["type"] == "TASK_FAILURE"


@pytest.mark.parametrize(
    ("identifier", "inputs"),
    [(None, {}), (3, {}), (b"greet", {}), ("greet", [1]), ("greet", {1: 2})],
)
def test_a_question_that_is_none_is_a_failed_result(library, identifier, inputs):
    error = failure(sexplang.dispatch(identifier, inputs, library=library))
    later = failure(asyncio.run(sexplang.adispatch(identifier, inputs, library=library)))

    assert "input_validation_failure" == error["reason"] == later["reason"]
    assert "of a dispatch cannot be" in error["message"]


@pytest.mark.parametrize("options", [{"model": 3}, {"budget": 3}])
def test_an_option_of_another_type_is_a_type_error_that_says_what_it_takes(options):
    (name,) = options
    with pytest.raises(TypeError, match=f"{name} is a .*, not int"):
        sexplang.dispatch("(+ 1 2)", **options)


def test_the_tools_of_the_language_itself_are_dispatched(library):
    """Under the names that models have for them, and within what is permitted."""
    read = sexplang.dispatch("read_file", {"path": "a.md"}, library=library)
    assert (str(read), read.notes["execution_path"]) == ("Notes.", "direct_tool")
    listed = sexplang.dispatch("list_files", {"glob": "*.md"}, library=library)
    assert listed.notes["tool_output"] == ["a.md"]

    allowed = sexplang.Permissions(run=["echo"], folder=library)
    ran = sexplang.dispatch(
        "system:run_script", {"command": "echo", "args": ["hi"]}, permissions=allowed
    )
    assert (ran.status, str(ran), ran.notes["exit_code"]) == ("COMPLETE", "hi\n", 0)
    allowed = sexplang.Permissions(run=["cat"], folder=library)
    asked = {"command": "cat", "args": ["-", "nothing"], "input": "hi"}
    refused = sexplang.dispatch("system:run_script", asked, permissions=allowed)
    assert (refused.status, str(refused), refused.notes["exit_code"]) == ("FAILED", "hi", 1)
    assert failure(refused)["details"]["code"] == "script-status"
    denied = failure(sexplang.dispatch("system:run_script", {"command": "echo"}, library=library))
    assert denied["details"]["originalError"]["reason"] == "run-denied"
    assert failure(sexplang.dispatch("read_file", {}, library=library))["reason"] == (
        "input_validation_failure"
    )
    found = sexplang.dispatch("get_context", {"query": "tea"}, library=library)
    assert set(found.notes["tool_output"]) == {"summary", "matches", "error"}


def test_a_task_with_the_name_of_one_of_them_is_refused(tmp_path):
    (tmp_path / "t.xml").write_text(
        '<task name="read_file" type="atomic"><instructions>Read.</instructions></task>'
    )
    error = failure(sexplang.dispatch("read_file", {}, library=tmp_path))

    assert error["reason"] == "configuration_error"


def test_a_failed_result_keeps_what_was_taken_and_said(tmp_path):
    """Where a deadline ends the task: its words, tokens and turns."""
    (tmp_path / "t.xml").write_text(SLOW)

    async def model(payload):
        if payload["task"] == "inner":
            await asyncio.sleep(60)
        asks = {"type": "tool_use", "id": "a", "name": "spawn_subtask", "input": {"name": "inner"}}
        return {
            "content": [{"type": "text", "text": "So far."}, asks],
            "stop_reason": "tool_use",
            "usage": {"input_tokens": 10, "output_tokens": 5},
            "model": "m",
        }

    result = sexplang.dispatch("outer", library=tmp_path, model=model)

    assert failure(result)["reason"] == "seconds"
    assert (result.content, result.usage) == ("So far.", {"input_tokens": 10, "output_tokens": 5})
    assert result.notes["turns"] == 1
    assert result.notes["metrics"]["context"]["used"] == 15


def test_the_root_cause_stays_reachable(library):
    error = failure(sexplang.dispatch("(greet who)", {"who": "A"}, library=library, model=[]))

    assert error["details"]["originalError"]["reason"] == "script-mismatch"
    error = failure(sexplang.dispatch('(error "why" 1)'))
    assert error["details"]["originalError"]["message"].startswith("why")


@pytest.mark.parametrize("given", [["a.md"], json.dumps(["a.md"])])
def test_file_context_is_a_list_or_its_json(library, given):
    seen = []

    def model(payload):
        seen.append(payload["system"])
        return "ok"

    result = sexplang.dispatch(
        "greet", {"who": "A"}, library=library, file_context=given, model=model
    )

    assert seen == ['<file path="a.md">\nNotes.\n</file>']
    assert result.notes["context_source"] == "explicit_request"
    assert result.notes["context_files_count"] == 1


@pytest.mark.parametrize("given", ["a.md", '{"a": 1}', [1], ("a", 2)])
def test_a_file_context_that_is_none_is_refused(library, given):
    result = sexplang.dispatch("greet", {"who": "A"}, library=library, file_context=given)

    assert failure(result)["reason"] == "input_validation_failure"


@pytest.mark.parametrize(
    ("identifier", "inputs"),
    [("(+ 1 2)", {}), ("read_file", {"path": "a.md"}), ("louder", {"text": "a"})],
)
def test_files_are_refused_where_no_task_could_see_them(library, identifier, inputs):
    result = sexplang.dispatch(
        identifier, inputs, library=library, tools=[louder], file_context=["a.md"]
    )

    assert failure(result)["reason"] == "input_validation_failure"
    assert "names files that a task is to see" in failure(result)["message"]


def test_a_library_that_cannot_be_read_is_a_failed_result(tmp_path):
    assert failure(sexplang.dispatch("x", library=tmp_path / "none.xml"))
    (tmp_path / "bad.xml").write_text("<task")
    assert failure(sexplang.dispatch("x", library=tmp_path / "bad.xml"))["details"]["diagnostics"]


@pytest.mark.parametrize(
    ("identifier", "reason"),
    [
        ("shout", None),
        ("(+ 1 2)", None),
        ("broken", "input_validation_failure"),
        ("(broken)", "input_validation_failure"),
        ("atomic:standard", "input_validation_failure"),
        ("brocken", "template_not_found"),
    ],
)
def test_a_file_of_a_folder_that_cannot_be_read_fails_only_who_needs_it(
    library, identifier, reason
):
    (library / "broken.xml").write_text('<task name="broken" type="atomic">')
    result = sexplang.dispatch(identifier, library=library, model=["Oh."])

    assert (result.notes.get("error") or {}).get("reason") == reason
    warned = [each for each in result.notes.get("warnings", ()) if "is left out" in each]
    assert len(warned) == (reason != "input_validation_failure")


def test_two_files_of_one_name_are_refused_whatever_else_is_there(library):
    (library / "again.xml").write_text(LIBRARY)
    (library / "broken.xml").write_text("<task")
    found = failure(sexplang.dispatch("(+ 1 2)", library=library))["details"]["diagnostics"]

    assert [each["code"] for each in found] == ["duplicate-task"]


def test_what_calls_a_task_that_is_left_out_is_left_out_too(library):
    (library / "broken.xml").write_text('<task name="inner" type="atomic">')
    (library / "outer.xml").write_text('<template name="outer"><call template="inner"/></template>')
    result = sexplang.dispatch("shout", library=library, model=["Oh."])

    assert (str(result), len(result.notes["warnings"])) == ("Oh.", 2)
    assert failure(sexplang.dispatch("(outer)", library=library))["details"]["diagnostics"]


def test_it_works_in_an_event_loop(library):
    async def asked():
        return await sexplang.adispatch("greet", {"who": "A"}, library=library, model=["Hi."])

    assert str(asyncio.run(asked())) == "Hi."


def test_a_name_of_an_input_is_text():
    """The message is about the name, since a table is right."""
    error = failure(sexplang.dispatch("plain", {1: 2}))

    assert error["message"] == "the name of an input of a dispatch cannot be int: 1"


@pytest.mark.parametrize("way", [sexplang.dispatch, sexplang.adispatch])
def test_an_argument_that_there_is_not_is_said_of_dispatch(way):
    with pytest.raises(TypeError, match=r"^dispatch\(\) has no argument `nosuch`"):
        result = way("plain", {}, nosuch=1)
        asyncio.run(result)


def test_a_program_may_run_a_plan():
    """It is built as every other program is."""
    result = sexplang.dispatch('(eval-plan "(+ 1 2)")')

    assert {"status": "done", "value": 3} == result.notes["sexp_raw_result"]
