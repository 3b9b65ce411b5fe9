"""What the five documents write, tried as they write it: calls, warnings, entries in the log."""

import json

import pytest
from support.messages_server import MessagesServer

import sexplang
from sexplang import (
    AtomicTaskExecutor,
    Diagnostics,
    Dispatcher,
    Handler,
    Permissions,
    SexpEvaluator,
    TaskSystem,
)

TASKS = """
<task name="child" type="atomic">
  <params><param name="word" type="string"/></params>
  <instructions>Say {{word}}.</instructions>
</task>
<task name="parent" type="atomic">
  <instructions>Find out.</instructions>
  <allowed_tools><tool>spawn_subtask</tool></allowed_tools>
</task>
"""


def uses(name, given):
    return {
        "content": [{"type": "tool_use", "id": "u1", "name": name, "input": given}],
        "stop_reason": "tool_use",
        "usage": {"input_tokens": 1, "output_tokens": 1},
    }


@pytest.fixture
def folder(tmp_path):
    one, _, two = TASKS.strip().partition("</task>\n")
    (tmp_path / "child.xml").write_text(one + "</task>")
    (tmp_path / "parent.xml").write_text(two)
    return tmp_path


def run(folder, text, model, **options):
    (folder / "main.sexp").write_text(f'(import "child.xml") (import "parent.xml")\n{text}')
    return sexplang.run(folder / "main.sexp", model=model, **options)


# -- Files of templates (seeds 12)


@pytest.mark.parametrize("command", ["python3 -c \"open('pwned','w').write('x')\"", "rm -rf src"])
def test_a_template_runs_nothing_though_it_may_be_run(folder, command):
    """Its command names files, whatever the executables that a person permits for tests."""
    (folder / "src").mkdir()
    (folder / "t.xml").write_text(
        '<task name="t" type="atomic"><instructions>Go.</instructions>'
        f'<file_paths source="command"><command>{command}</command></file_paths></task>'
    )
    (folder / "t.sexp").write_text('(import "t.xml") (t)')
    asked = []

    with pytest.raises(Diagnostics, match="does not only name files"):
        sexplang.run(
            folder / "t.sexp",
            model=lambda payload: asked.append(payload) or "done",
            permissions=Permissions(folder=folder, run=["python3", "rm"]),
        )
    assert not asked and not (folder / "pwned").exists() and (folder / "src").is_dir()


def test_a_script_is_run_with_its_own_permission(folder):
    """And what it finds is given to the call."""
    (folder / "a.md").write_text("Tea.")
    seen = []

    def model(payload):
        seen.append(payload["system"])
        return "done"

    program = """
    (define said (system:run_script "echo" args: ["a.md"]))
    (call-atomic-task 'child inputs: {word: "x"} file_paths: [(string-trim said.notes.stdout)])
    """
    run(folder, program, model, permissions=Permissions(folder=folder, run=["echo"]))

    assert '<file path="a.md">\nTea.\n</file>' in seen[0]


# -- Subagents (seeds 10, 19)


LITERAL = """
(run-parallel-subagents
  [{id: "a"
    context: {task: "one" relevantHistory: "we like tea" constraints: ["short"]
              systemPrompt: "Be brief." parentTraceId: "trace-1"}}])
"""


def entries(text, model, **options):
    """What a program writes to the log, and its value."""
    found = []
    written = {"log": lambda level, words: found.append(words)}
    return sexplang.run(text, model=model, effects=written, **options), found


def test_the_literal_of_a_subagent_is_read_as_it_stands():
    """Its trace is the one that the log names."""
    value, found = entries(LITERAL, lambda payload: f"{payload['system']}")

    (result,) = value["results"]
    assert (True, "Be brief.") == (result["result"]["success"], result["result"]["content"])
    complete = [each for each in found if each["event"] == "subagent.complete"]
    assert ["trace-1"] == [each["traceId"] for each in complete]


def test_each_entry_of_the_log_has_the_fields_of_its_event(caplog):
    """`traceId` is in every one."""
    failing = '(spawn-subagent task: "x" parent_trace_id: "t")'
    program = f'(run-parallel-subagents [{{id: "a" task: "x"}}] parent_trace_id: "t") {failing}'
    replies = iter([uses("read_file", {"path": "a"}), uses("read_file", {"path": "a"})])

    def model(payload):
        return next(replies, None) or "done"

    _, found = entries(program, model, limits=sexplang.Limits(subagent_calls=1))
    fields = {each["event"]: set(each) for each in found}

    assert {"t"} == {each["traceId"] for each in found}
    assert {
        "subagent.parallel.start": {"event", "traceId", "taskCount"},
        "subagent.max_iterations": {"event", "traceId", "task", "iterations"},
        "subagent.failed": {"event", "traceId", "task", "durationMs", "isTimeout", "error"},
        "subagent.parallel.complete": {
            *("event", "traceId", "successCount", "failureCount", "totalDurationMs")
        },
    } == fields


def test_an_entry_without_a_trace_names_the_run(caplog):
    """A table is written as JSON."""
    with caplog.at_level("DEBUG", "sexplang"):
        sexplang.run('(spawn-subagent task: "x")', model=lambda payload: "done", run_id="run-7")
    (entry,) = [json.loads(each.message) for each in caplog.records if "subagent" in each.message]

    assert ("subagent.complete", "run-7", 1) == (
        *(entry["event"], entry["traceId"], entry["iterations"]),
    )


def test_a_table_as_the_task_of_a_subagent_is_found_before_the_run():
    (found,) = sexplang.check('(spawn-subagent {task: "x"})')

    assert ("error", True) == (found.severity, "takes a text, not a table" in found.title)
    assert "what to do" in found.hint


# -- Warnings (seeds 16, 17)


def test_the_answer_of_a_child_is_its_own(folder):
    """A request as the document has it: the parent asks for JSON, and that is all it is told."""
    told = []
    request = {
        "name": "child",
        "description": "verify",
        "inputs": {"word": "tea"},
        "context_management": {"inherit_context": "subset"},
        "file_paths": ["/src/main.py"],
        "return_expectations": "JSON",
    }

    def model(payload):
        last = payload["messages"][-1]["content"][-1]
        if payload["task"] == "child":
            return '{"ok": true}'
        if last["type"] == "tool_result":
            told.append(last["content"])
            return "done"
        return uses("spawn_subtask", request)

    result = run(folder, "(call-task parent)", model)

    assert ['{"ok": true}'] == told
    assert any("/src/main.py" in each for each in result.notes["warnings"])


def test_named_files_are_context(folder):
    """A task that sees files does not execute with minimal context."""
    (folder / "a.md").write_text("Tea.")
    call = """
    (call-atomic-task 'child inputs: {word: "x"} file_paths: ["a.md"]
      context_management: {inherit_context: "none" fresh_context: "disabled"})
    """
    result = run(folder, call, lambda payload: "done")

    assert () == tuple(result.notes["warnings"])


# -- Hints (seeds 14, 15, 21)


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ('(call-atomic-task \'child (word "x"))', 'write `inputs: {word: "x"}`'),
        ('(call-atomic-task child (word "x"))', 'write `inputs: {word: "x"}`'),
        ('(call-atomic-task \'child word: "x")', 'write `inputs: {word: "x"}`'),
        ('(call-atomic-task \'child word: (str 1) model: "m")', "`inputs: {word: (str 1)}`"),
        ('(call-task child (word "x"))', 'write `word: "x"`'),
        ('(child (word "x"))', 'write `word: "x"`'),
    ],
)
def test_inputs_beside_a_task_are_told_where_they_go(folder, text, hint):
    with pytest.raises(Diagnostics) as caught:
        run(folder, text, [])

    (found,) = caught.value.diagnostics
    assert hint in found.hint


def test_a_status_that_is_none_is_told_the_three():
    with pytest.raises(sexplang.Failed, match="TaskResult") as caught:
        sexplang.run('(task-result {status: "WAITING" content: "x" notes: {} usage: {}})')

    assert "COMPLETE, CONTINUATION, FAILED" in caught.value.error.fields["hint"]


# -- At the wire


def test_the_literals_of_a_subagent_and_a_request_at_the_wire(folder):
    """What a server receives of both: the context alone; a child's answer as the child gave it."""
    request = {
        "type": "verification",
        "name": "child",
        "description": "Verify generated code",
        "inputs": {"word": "tea"},
        "template_hints": ["child"],
        "context_management": {"inherit_context": "subset"},
    }

    def answer(body):
        last = body["messages"][-1]["content"]
        words = json.dumps(last)
        if "Find out." in words:
            return uses("spawn_subtask", request)
        answered = '{"ok": true}' if "Say tea." in words else "done"
        return {"content": [{"type": "text", "text": answered}]}

    with MessagesServer(answer) as server:
        sexplang.run(LITERAL, model=server.url)
        run(folder, "(parent)", server.url)
        subagent, first, child, second = server.journal

    assert ("Be brief.", 4096) == (_text(subagent["system"]), subagent["max_tokens"])
    context, _, task = [_text(each["content"]) for each in subagent["messages"]]
    assert "Context:\nwe like tea" == context
    assert task.startswith("Task: one\n\nConstraints:\n- short\n")
    assert "trace-1" not in json.dumps(subagent)
    assert "Say tea." == _text(child["messages"][-1]["content"])
    (result,) = second["messages"][-1]["content"]
    assert ("tool_result", '{"ok": true}') == (result["type"], _text(result["content"]))
    assert first["messages"] == second["messages"][:1]


def _text(content):
    return content if isinstance(content, str) else content[0]["text"]


# -- Arguments that the components do not take


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda h, s, t: Handler(model=5), "model is a name"),
        (lambda h, s, t: Handler(effects=5), "effects is a table by name, not int"),
        (lambda h, s, t: Handler(parallel=0), "parallel is an integer from 1 on"),
        (lambda h, s, t: h.execute_prompt(None), "payload is a table by name, not NoneType"),
        (lambda h, s, t: h.execute_prompt({1: 2}), "the names in payload are str, not int"),
        (lambda h, s, t: TaskSystem((), 3), "handler is a Handler, not int"),
        (lambda h, s, t: s.find_template(None), "identifier is a text, not NoneType"),
        (lambda h, s, t: s.execute_atomic_template(None), "request is a table by name"),
        (lambda h, s, t: s.execute_atomic_template({1: 2}), "the names in request are str"),
        (lambda h, s, t: AtomicTaskExecutor(3), "handler is a Handler"),
        (lambda h, s, t: AtomicTaskExecutor(h).execute_body(t, None), "params is a table"),
        (lambda h, s, t: AtomicTaskExecutor(h).execute_body(t, {1: 2}), "names in params are str"),
        (lambda h, s, t: AtomicTaskExecutor(h).execute_body("child", {}), "template is a Template"),
        (lambda h, s, t: SexpEvaluator(3), "tasks is a TaskSystem, not int"),
        (lambda h, s, t: SexpEvaluator(s).evaluate(3), "text is a text, not int"),
        (lambda h, s, t: SexpEvaluator(s).evaluate("x", [1]), "inputs is a table by name"),
        (lambda h, s, t: Dispatcher(3), "tasks is a TaskSystem"),
        (lambda h, s, t: Dispatcher(None), "tasks is a TaskSystem, not NoneType"),
    ],
)
def test_an_argument_that_a_component_does_not_take_is_a_type_error(folder, call, words):
    handler = Handler(model=["done"])
    tasks = TaskSystem(folder / "child.xml", handler)

    with pytest.raises(TypeError, match=words):
        call(handler, tasks, tasks.find_template("child"))


def test_an_input_that_is_no_name_or_no_data_is_a_diagnostic(folder):
    evaluator = SexpEvaluator(TaskSystem(folder / "child.xml"))

    assert 3 == evaluator.evaluate("(+ x 1)", {"x": 2})
    for inputs, words in (({"x y": 1}, "`x y`"), ({"x": object()}, "`x` takes data")):
        with pytest.raises(Diagnostics, match=words) as caught:
            evaluator.evaluate("1", inputs)
        assert ["bad-input"] == [each.code for each in caught.value.diagnostics]


def test_a_parameter_that_is_no_data_is_a_failure(folder):
    tasks = TaskSystem(folder / "child.xml")
    executor = AtomicTaskExecutor()
    result = executor.execute_body(tasks.find_template("child"), {"word": object()})

    error = result.notes["error"]
    assert "FAILED" == result.status
    assert "not-data" == error["details"]["originalError"]["reason"]


# -- Requests and plans that are no good

ASKING = """
(defatom find (params what) (description "Find it.") (instructions "Find {{what}}."))
(defatom chief (instructions "Do all.") (allowed_tools %s))
(call-task chief)
"""


def replying(*replies):
    """A model whose `chief` gives these, one after the other, and then an answer."""
    said = iter(replies)
    return lambda payload: next(said, "Done.") if payload["task"] == "chief" else "Found."


@pytest.mark.parametrize(
    ("tool", "given", "reason"),
    [
        ("propose_subplan", {"reason": "Bored", "subtasks": []}, "input_validation_failure"),
        ("spawn_subtask", {"inputs": [1]}, "input_validation_failure"),
        ("propose_subplan", {"reason": "TooLarge", "subtasks": []}, "execution_halted"),
    ],
)
def test_what_is_no_good_for_the_third_time_ends_its_task(tool, given, reason):
    """Malformed, or refused."""
    with pytest.raises(sexplang.Failed) as twice:
        sexplang.run(ASKING % tool, model=replying(*[uses(tool, given)] * 3))

    assert reason == twice.value.reason
    two = sexplang.run(ASKING % tool, model=replying(*[uses(tool, given)] * 2))
    assert "Done." == two.content


@pytest.mark.parametrize("status", ["CONTINUATION", "continuation", None])
def test_a_request_beside_its_status_is_read(status):
    """One level too high, whatever the status."""
    request = {"description": "Find it", "name": "find", "inputs": {"what": "tea"}}
    reply = json.dumps({"status": status, "content": "I ask.", "subtask_request": request})
    result = sexplang.run(ASKING % "spawn_subtask", model=replying(reply))

    assert ["Found."] == [each.content for each in result.notes["subtasks"]]
    plan = {"reason": "TooLarge", "subtasks": [request]}
    done = [{"name": "n", "type": "text", "text": "NN1"}]
    reply = json.dumps({"status": status, "subplan": plan, "notes": {"artifacts": done}})
    planned = sexplang.run(ASKING % "propose_subplan", model=replying(reply))
    assert (1, done) == (len(planned.notes["subplans"]), planned.notes["artifacts"])

    assert ["a request that is no CONTINUATION result was read as one"] == result.notes["warnings"]


def test_the_good_artifacts_of_a_malformed_plan_are_kept():
    """Those without a name are told, and the model refuses to go on."""
    good = {"name": "n", "text": "NN1"}
    plan = {"reason": "TooLarge", "subtasks": ["a"], "artifacts": [good, {"nam": "x"}]}
    refusal = {"content": [], "stop_reason": "refusal"}
    with pytest.raises(sexplang.Failed) as failed:
        model = replying(uses("propose_subplan", plan), refusal)
        sexplang.run(ASKING % "propose_subplan", model=model)

    assert [{"type": "text", **good}] == failed.value.details["partial_results"]["artifacts"]
