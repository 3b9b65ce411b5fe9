"""What a request for a subtask says, and what the child makes of it: field by field."""

import json

import pytest

import sexplang

CHIEF = """
(defatom chief (instructions "Chief") (file_paths "plan.md") (allowed_tools spawn_subtask))
(defatom clerk (description "Look something up") (params what) (instructions "Clerk on {{what}}"))
(defatom judge (description "Judge a text") (criteria "spelling of names") (subtype evaluator)
  (params what) (instructions "Judge {{what}}") (output_format type: json schema: object))
"""
PLAN = '<file path="plan.md">\nTea first.\n</file>'
NOTES = '<file path="notes.md">\nTea is wet.\n</file>'


@pytest.fixture
def ask(tmp_path):
    """Runs a chief that asks for one subtask: the child's payload, and what the chief is told."""
    (tmp_path / "plan.md").write_text("Tea first.")
    (tmp_path / "notes.md").write_text("Tea is wet.")
    file = tmp_path / "program.sexp"

    def ask(request, call="(chief)"):
        seen = {}

        def model(payload):
            if payload["task"] != "chief":
                seen["child"] = payload
                return '{"said": "by the child"}'
            (*_, last) = payload["messages"]
            if len(payload["messages"]) == 1:
                return {"tool_use": {"name": "spawn_subtask", "input": request}}
            seen["told"] = last["content"][0]
            return "done"

        file.write_text(CHIEF + call)
        seen["value"] = sexplang.run(file, model=model)
        return seen

    return ask


def test_inputs_are_passed_by_parameter(ask):
    """And nothing else of the chief's: the child sees its own prompt."""
    seen = ask({"name": "clerk", "description": "d", "inputs": {"what": "tea"}})

    (message,) = seen["child"]["messages"]
    assert "Clerk on tea" == message["content"][0]["text"]
    assert "" == seen["child"]["system"]
    assert '{"said": "by the child"}' == seen["told"]["content"]


@pytest.mark.parametrize(
    ("request_", "task"),
    [
        ({"name": "judge", "description": "look something up"}, "judge"),
        ({"description": "whatever", "subtype": "evaluator"}, "judge"),
        ({"description": "whatever", "type": "evaluator"}, "judge"),
        ({"description": "whatever", "template_hints": ["judge"]}, "judge"),
        ({"description": "whatever", "templateHints": ["look", "up"]}, "clerk"),
        ({"description": "check the spelling"}, "judge"),
    ],
)
def test_the_task_is_found_by_what_the_request_says(ask, request_, task):
    """Its name, its subtype or type, its hints, its words; those of criteria count."""
    seen = ask({**request_, "inputs": {"what": "tea"}})

    assert task == seen["child"]["task"]


@pytest.mark.parametrize(
    ("request_", "sees"),
    [
        ({}, ""),
        ({"subtype": "subtask"}, ""),
        ({"subtype": "standard"}, PLAN),
        ({"context_management": {"inherit_context": "full"}}, PLAN),
        ({"contextManagement": {"inheritContext": "full"}}, PLAN),
        ({"context_management": {"inherit_context": "none"}, "subtype": "standard"}, ""),
    ],
)
def test_a_child_is_a_subtask_unless_the_request_says_otherwise(ask, request_, sees):
    """So it inherits nothing by itself, whatever the subtype of its template."""
    request = {"name": "clerk", "description": "d", "inputs": {"what": "tea"}, **request_}

    assert sees == ask(request)["child"]["system"]


def test_files_of_a_request_are_there(ask):
    """Also where nothing is inherited."""
    request = {"name": "clerk", "inputs": {"what": "tea"}, "file_paths": ["notes.md"]}

    assert NOTES == ask(request)["child"]["system"]


def test_the_form_of_the_answer_takes_the_place_of_the_templates_own(ask):
    """Without it the reply is asked for as JSON."""
    request = {"name": "judge", "inputs": {"what": "tea"}}
    plain, formed = ask(request), ask({**request, "return_expectations": "one word"})

    assert {"type": "object"} == plain["child"]["output_schema"]
    assert "output_schema" not in formed["child"]
    assert "Form of the answer: one word" == formed["child"]["system"]


@pytest.mark.parametrize(("depth", "refused"), [(0, True), (1, True), (2, False), (99, False)])
def test_a_request_lowers_the_depth_of_its_child(ask, depth, refused):
    """The child has depth 1; a limit that is higher than the system's changes nothing."""
    seen = ask({"name": "clerk", "inputs": {"what": "tea"}, "max_depth": depth})

    assert refused == ("child" not in seen) == seen["told"].get("is_error", False)


def test_a_handler_sees_the_continuation(ask):
    """Its status, what the chief said, and the request in its notes."""
    call = """
    (define (said request)
      (json-string [request.result.status request.result.notes request.depth]))
    (handle (chief) ((subtask request) k (k (said request))))
    """
    seen = ask({"name": "clerk", "description": "d", "inputs": {"what": "tea"}}, call)
    status, notes, depth = json.loads(seen["told"]["content"])

    assert ("CONTINUATION", 1) == (status, depth)
    assert {"name": "clerk", "description": "d", "type": "atomic", "inputs": {"what": "tea"}} == (
        notes["subtask_request"]
    )


def test_what_is_wrong_with_a_request_has_its_own_name(ask):
    """Malformed, for nobody, for a task that takes other inputs, too deep, the same again: each
    says what it is about."""
    what = {"inputs": {"what": "tea"}}
    wrong = {
        "fields": {"inputs": 3, "name": "clerk"},
        "candidates": {"description": "zzz", **what},
        "missing": {"name": "clerk", "inputs": {"about": "tea"}},
        "limit": {"name": "clerk", **what, "max_depth": 0},
        "cycle": {"name": "chief", "inputs": {}},
    }
    told = {key: json.loads(ask(request)["told"]["content"]) for key, request in wrong.items()}

    assert {
        "fields": "input_validation_failure",
        "candidates": "template_not_found",
        "missing": "input_validation_failure",
        "limit": "execution_halted",
        "cycle": "execution_halted",
    } == {key: error["reason"] for key, error in told.items()}
    assert "a malformed subtask request: inputs: write a table" == told["fields"]["message"]
    details = {key: error.get("details", {}) for key, error in told.items()}
    for key in ("candidates", "missing", "limit", "cycle"):
        assert [key] == [each for each in wrong if key in details[each]]


def test_a_program_without_tasks_has_nobody_to_ask():
    """That is said, and no candidates are named."""
    program = '(try (subtask {name: "x"}) (catch (err template_not_found) err.message))'

    said = "no task takes the request `x`: there is none that may be asked for"
    assert said == sexplang.run(program)


FAILING = """
(defatom chief (instructions "Chief") (allowed_tools spawn_subtask))
(defatom clerk (params what) (instructions "on {{what}}") (allowed_tools spawn_subtask))
(define asked {name: "clerk" description: "d" inputs: {what: "tea"}})
"""


def short_of_breath(payload):
    """A clerk that never comes to an end."""
    if payload["task"] == "clerk":
        return {"content": [{"type": "text", "text": "Half"}], "stop_reason": "max_tokens"}
    if len(payload["messages"]) > 1:
        return payload["messages"][-1]["content"][0]["content"]
    inputs = {"name": "clerk", "description": "d", "inputs": {"what": "tea"}}
    return {"tool_use": {"name": "spawn_subtask", "input": inputs}}


def test_a_failed_subtask_says_what_was_asked_for():
    """Its type, reason and content stay, and a handler may answer it where it was raised."""
    program = "(json-string (try (subtask asked) (catch (err output) err)))"
    error = json.loads(sexplang.run(FAILING + program, model=short_of_breath))

    assert ("RESOURCE_EXHAUSTION", "output", "Half") == (
        *(error["type"], error["reason"]),
        error["content"],
    )
    asked = {"name": "clerk", "description": "d", "inputs": {"what": "tea"}}
    assert asked == error["details"]["subtaskRequest"]
    resumed = '(handle (str "It says: " (subtask asked)) ((error err) k (k "nothing")))'
    assert "It says: nothing" == sexplang.run(FAILING + resumed, model=short_of_breath)
    nobody = (
        '(try (subtask {name: "x"}) (catch (err template_not_found) err.details.subtaskRequest))'
    )
    assert {"name": "x"} == sexplang.run(FAILING + nobody, model=short_of_breath)


def test_the_model_that_asked_is_told_all_but_its_own_words():
    """How deep the subtask was, what it had said, what to do."""
    told = json.loads(str(sexplang.run(FAILING + "(chief)", model=short_of_breath)))

    assert ("output", "Half", 1) == (
        *(told["reason"], told["content"]),
        told["details"]["nestingDepth"],
    )
    assert "max_output_tokens" in told["hint"] and "subtaskRequest" not in told["details"]


def test_of_a_chain_that_is_halted_the_innermost_request_is_told():
    """It is said once, however many levels pass it on."""

    def asking(payload):
        """A clerk that has been refused for its depth asks again."""
        said = payload["messages"][0]["content"][0]["text"]
        inputs = {"name": "clerk", "description": "d", "inputs": {"what": f"after {said}"}}
        return {"tool_use": {"name": "spawn_subtask", "input": inputs}}

    program = "(try (subtask (put asked 'max_depth 2)) (catch (err execution_halted) err.details))"
    details = sexplang.run(FAILING + program, model=asking)

    assert (2, "max_depth") == (details["nestingDepth"], details["limit_kind"])
    assert {"what": "after on after on tea"} == details["subtaskRequest"]["inputs"]


def test_each_request_for_a_subtask_counts():
    """What was too deep, a cycle or without its inputs too."""
    whole = {"name": "clerk", "inputs": {"what": "tea"}}
    wrong = (
        {"name": "clerk", "inputs": {"about": "tea"}},
        {**whole, "max_depth": 0},
        {"name": "chief", "inputs": {}},
    )
    good = tuple({**whole, "inputs": {"what": what}} for what in ("tea", "milk", "cups"))
    told = []

    def model(payload):
        if payload["task"] == "clerk":
            return "done"
        said = len(payload["messages"])
        told.extend(block["content"] for block in payload["messages"][-1]["content"] if said > 1)
        asked = {1: wrong, 3: good}.get(said, ())
        calls = [{"name": "spawn_subtask", "input": {"description": "d", **each}} for each in asked]
        return {"tool_use": calls} if calls else "over"

    sexplang.run(FAILING + "(str (chief))", model=model, limits=sexplang.Limits(subtasks=5))

    assert all("TASK_FAILURE" in each for each in told[:3])
    assert ["done", "done"] == told[3:5]
    assert "a run may ask for at most 5 subtasks" == json.loads(told[5])["message"]
