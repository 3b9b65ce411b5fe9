"""Subtasks: requests, CONTINUATION results, and the template that takes a request."""

import json

import pytest
from tasks_driver import converse, failure, matching, says, template, uses

from sexplang.tasks.requests.subtask_request import subtask_request
from sexplang.terms.task import task_result
from sexplang.terms.template import OutputFormat, Template
from sexplang.terms.values.value import Record

ASKING = template(allowed_tools=("spawn_subtask",))


def spawn(identity="a", **request):
    """A reply that calls spawn_subtask."""
    return uses((identity, "spawn_subtask", request), text="I need help.")


def continuation(request, **notes):
    """The text of a CONTINUATION result."""
    result = {"status": "CONTINUATION", "content": "c", "notes": {**notes, **request}}
    return json.dumps(result)


def test_the_tool_asks_for_a_subtask_and_the_result_answers_it():
    """The request has the depth of the child and the CONTINUATION TaskResult."""
    run = converse(
        ASKING,
        [spawn(description="d", inputs={"n": 1}, maxDepth=3), task_result("child"), says("done")],
    )
    (ask,) = run.performed[1].asks
    (request,) = ask.arguments
    result = request["result"].fields

    assert (ask.operation, ask.attempt, run.performed[1].together) == ("subtask", True, False)
    assert request["depth"] == 1
    assert {key: request[key] for key in request if key not in ("depth", "result")} == {
        "description": "d",
        "type": "atomic",
        "inputs": {"n": 1},
        "max_depth": 3,
    }
    assert (result["status"], result["content"]) == ("CONTINUATION", "I need help.")
    assert result["notes"]["subtask_request"]["description"] == "d"
    assert (run.requests[1]["messages"][-1]["content"][0]) == {
        "type": "tool_result",
        "tool_use_id": "a",
        "content": "child",
    }
    assert run.result.fields["content"] == "done"


def test_a_parent_may_ask_several_times_in_one_turn_and_over_turns():
    """Each is answered on its own."""
    two = uses(
        ("a", "spawn_subtask", {"description": "d"}), ("b", "spawn_subtask", {"description": "e"})
    )
    run = converse(ASKING, [two, "A", "B", spawn("c", description="f"), "C", says("done")])
    told = [message["content"] for message in run.requests[-1]["messages"][2::2]]

    assert [[block["content"] for block in blocks] for blocks in told] == [["A", "B"], ["C"]]


def test_the_failure_of_a_child_is_told_as_its_task_error():
    """With reason, and what was done until then."""
    run = converse(ASKING, [spawn(description="d"), failure("llm_error", "half"), says("done")])
    (block,) = run.requests[1]["messages"][-1]["content"]

    assert block["is_error"]
    assert json.loads(block["content"]) == {
        "type": "TASK_FAILURE",
        "reason": "llm_error",
        "message": "it broke",
        "content": "half",
    }


def test_a_lowered_depth_holds_for_the_whole_chain():
    """What a request set, no child's request can raise."""
    run = converse(
        ASKING,
        [spawn(description="d", max_depth=4), "A", says("done")],
        overrides={"max_depth": 2},
    )

    assert run.performed[1].asks[0].arguments[0]["max_depth"] == 2


@pytest.mark.parametrize("fence", ["{}", "```json\n{}\n```", "  ```\n{}```\n"])
def test_a_reply_that_is_a_continuation_asks_for_a_subtask(fence):
    """The answer is a user message; then the parent goes on and may ask again."""
    request = {"subtaskRequest": {"description": "d", "templateHints": ["h"]}}
    text = fence.format(continuation(request, other=1))
    run = converse(ASKING, [says(text), "child", says(text), failure(), says("done")])
    asked = run.performed[1].asks[0].arguments[0]
    messages = run.requests[-1]["messages"]

    assert asked["template_hints"] == ("h",)
    assert text == asked["result"].fields["content"]
    assert messages[2]["content"][0]["text"] == "The result of the subtask:\n\nchild"
    assert messages[4]["content"][0]["text"].startswith("The subtask failed:")
    assert run.result.fields["content"] == "done"


@pytest.mark.parametrize(
    "text",
    [
        "CONTINUATION",
        '{"status": "CONTINUATION"',
        '{"status": "COMPLETE", "content": "CONTINUATION"}',
        '["CONTINUATION"]',
        "[" * 50_000 + "CONTINUATION",
        '{"CONTINUATION":' * 50_000,
    ],
)
def test_any_other_text_is_just_text(text):
    """Only a whole JSON object of that status is a request."""
    assert text == converse(template(), [says(text)]).result.fields["content"]


def test_a_reply_asks_for_a_subtask_only_where_the_template_allows_it():
    """What a text says is no permission: without `spawn_subtask` it is just text, and noted."""
    text = continuation({"subtask_request": {"description": "d"}})
    run = converse(template(), [says(text)])

    assert run.result.fields["content"] == text
    assert "spawn_subtask" in run.notes["warnings"][0]


def test_the_older_evaluation_request_is_converted_with_a_warning():
    """It becomes a subtask of subtype evaluator."""
    old = {"evaluation_request": {"type": "bash_script", "criteria": ["fast"], "target": "t"}}
    run = converse(ASKING, [says(continuation(old)), "fine", says("done")])
    request = run.performed[1].asks[0].arguments[0]

    assert (request["subtype"], request["description"]) == ("evaluator", "evaluate fast")
    assert request["inputs"] == {"criteria": ("fast",), "target": "t"}
    assert run.notes["warnings"] == (
        "notes.evaluation_request is the older form; write notes.subtask_request",
    )


def test_a_malformed_continuation_is_told_to_the_model():
    """The message names what is missing."""
    run = converse(ASKING, [says(continuation({"task": "verify"})), says("done")])

    assert "notes.subtask_request" in run.requests[1]["messages"][-1]["content"][0]["text"]


@pytest.mark.parametrize(
    "notes",
    [
        '{"subtask_request": {"description": "d", "inputs": {"x": 1, "x": 2}}}',
        '{"subtask_request": {"description": "d"}, "x": 1, "x": 2}',
        '{"evaluation_request": {"criteria": "c", "x": 1, "x": 2}}',
    ],
)
def test_a_key_that_stands_twice_in_a_continuation_is_told_to_the_model(notes):
    """Nobody knows which value is meant."""
    run = converse(ASKING, [says(f'{{"status": "CONTINUATION", "notes": {notes}}}'), says("done")])

    words = run.requests[1]["messages"][-1]["content"][0]["text"]
    assert "The subtask request is malformed: x: it occurs twice in one object: keep one" == words


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ("1e400", "notes: a number in it is larger than any float"),
        ("NaN", "notes: it holds NaN"),
        ("[" * 200 + "]" * 200, "notes: it nests more than 190 levels deep"),
    ],
    ids=["large", "nan", "deep"],
)
def test_a_continuation_that_json_cannot_hold_is_told_to_the_model(given, words):
    """Nobody is asked for the subtask."""
    request = f'{{"subtask_request": {{"description": "d", "inputs": {{"x": {given}}}}}}}'
    run = converse(ASKING, [says(f'{{"status": "CONTINUATION", "notes": {request}}}'), says("")])

    said = run.requests[1]["messages"][-1]["content"][0]["text"]
    assert f"The subtask request is malformed: {words}" == said


NOTES = '"notes": {"subtask_request": {"description": "d"}}'


@pytest.mark.parametrize("fence", ["%s", "```json\n%s\n```"])
@pytest.mark.parametrize(
    ("text", "words"),
    [
        (f'{{"status": "CONTINUATION", {NOTES},}}', "it is not JSON: Expecting property name"),
        (f'{{"status": "CONTINUATION", {NOTES}', "it is not JSON: Expecting ',' delimiter"),
        (f"{{'status': 'CONTINUATION', {NOTES}}}", "it is not JSON"),
        (f'{{"status": "CONTINUATION", "status": "X", {NOTES}}}', "status: it occurs twice"),
        ('{"status": "CONTINUATION", "notes": ' + "[" * 9_000, "nested too deep"),
    ],
    ids=["comma", "open", "quotes", "twice", "deep"],
)
def test_a_text_that_is_nearly_a_continuation_is_told_to_the_model(fence, text, words):
    """It asks for something; whoever waits for an answer is not given it."""
    run = converse(ASKING, [says(fence % text), says("done")])
    planning = template(allowed_tools=("propose_subplan",))
    proposing = converse(planning, [says(fence % text), says("done")])

    said = run.requests[1]["messages"][-1]["content"][0]["text"]
    assert said.startswith("The subtask request is malformed: ") and words in said
    said = proposing.requests[1]["messages"][-1]["content"][0]["text"]
    assert said.startswith("The subplan is malformed: ") and words in said
    assert "done" == run.result.fields["content"] == proposing.result.fields["content"]


REQUEST = '{"description": "d"}'
WHOLE = f'{{"status": "CONTINUATION", {NOTES}}}'


@pytest.mark.parametrize(
    "text",
    [
        f"Here is my request:\n{WHOLE}",
        f"I need help.\n\n```json\n{WHOLE}\n```\n",
        f"{WHOLE}\n\nI wait for it.",
        f"With {{this}} in mind,\nthis:\n{WHOLE}",
        WHOLE.replace("CONTINUATION", "continuation"),
        WHOLE.replace("CONTINUATION", "Continuation "),
        f"So: \n {WHOLE.lower()}",
        f'{{"subtask_request": {REQUEST}}}',
        f'{{"status": "CONTINUATION", "subtask_request": {REQUEST}}}',
        f'{{"status": "CONTINUATION", "notes": {{}}, "subtask_request": {REQUEST}}}',
        f'{{"subtaskRequest": {REQUEST}, "content": "c"}}',
        f"{{{NOTES}}}",
    ],
)
def test_a_continuation_that_misses_by_a_little_is_read(text):
    """Where it can mean nothing else; the notes say so."""
    run = converse(ASKING, [says(text), "child", says("done")])
    (ask,) = run.performed[1].asks

    assert ("subtask", "d") == (ask.operation, ask.arguments[0]["description"])
    assert "CONTINUATION result" in run.notes["warnings"][0]
    planning = template(allowed_tools=("propose_subplan",))
    plan = text.replace("subtask_request", "subplan").replace("subtaskRequest", "subplan")
    answer = {"accepted": False, "reason": "no", "results": ()}
    run = converse(planning, [says(plan), answer, says("done")])
    assert "subplan" == run.performed[1].asks[0].operation


@pytest.mark.parametrize(
    "text",
    [
        f"First {WHOLE} and then the rest.",
        f"The format is {WHOLE}",
        f"Like this:\n{{{NOTES}}}",
        f"{WHOLE} That is how one would write it.",
        f"A guide.\n\nA reply may be:\n\n```json\n{WHOLE}\n```",
        f"{WHOLE}\n{WHOLE}",
        f"Write {WHOLE[:-1]},}}",
        f"So: {WHOLE[:-2]}",
    ],
)
def test_one_that_is_not_certain_is_told_to_the_model(text):
    """It is no answer either."""
    run = converse(ASKING, [says(text), says("done")])

    said = run.requests[1]["messages"][-1]["content"][0]["text"]
    assert said.startswith("The subtask request is malformed: result: it ")
    assert "done" == run.result.fields["content"]
    error = converse(ASKING, [says(text)] * 3).error
    assert "input_validation_failure" == error["reason"]


JSON = OutputFormat("json", {"type": "object", "properties": {"subplan": {"type": "object"}}})


@pytest.mark.parametrize("around", ["%s", "The answer: %s", "```json\n%s\n```"])
@pytest.mark.parametrize(
    "text",
    [
        '{"status": "continuation", "page": 2}',
        '{"status": "Continuation", "notes": {"page": 2}}',
        f'{{"status": "COMPLETE", {NOTES}}}',
        f'{{"status": "open", "subtask_request": {REQUEST}}}',
        f'{{"title": "t", "subtask_request": {REQUEST}}}',
        '{"subtask_request": "none"}',
        '{"subtask_request": {"id": 3}}',
        '{"status": "COMPLETE", "text": "\'status\': \'CONTINUATION\'"}',
    ],
)
def test_an_answer_may_speak_of_continuations(around, text):
    """And have a status of its own."""
    assert around % text == converse(ASKING, [says(around % text)]).result.fields["content"]


def test_what_a_schema_has_is_a_part_of_the_answer():
    """A plan may be what a task is to give; and a list is no request."""
    task = template(allowed_tools=("propose_subplan",), output_format=JSON)
    run = converse(task, [says('{"subplan": {"description": "d"}}')])
    assert {"subplan": {"description": "d"}} == run.result.fields["parsed_content"]

    listed = f'[{{"subtask_request": {REQUEST}}}]'
    assert listed == converse(ASKING, [says(listed)]).result.fields["content"]


@pytest.mark.parametrize("branches", ["anyOf", "oneOf"])
def test_a_branch_of_a_union_is_a_part_of_the_schema(branches):
    """Also one that the schema refers to."""
    fields = {"status": {"enum": ["CONTINUATION"]}, "page": {"type": "integer"}}
    page = {"type": "object", "properties": fields, "required": ["page"]}
    schema = {branches: [{"$ref": "#/$defs/page"}, {"type": "array"}], "$defs": {"page": page}}
    task = template(allowed_tools=("spawn_subtask",), output_format=OutputFormat("json", schema))
    run = converse(task, [says('{"status": "CONTINUATION", "page": 2}')])

    assert {"status": "CONTINUATION", "page": 2} == run.result.fields["parsed_content"]


@pytest.mark.parametrize("answer", ["The answer is 5.", '{"a": 5}'])
def test_what_a_model_thinks_is_no_request(answer):
    """As it is no answer; a request behind it is one."""
    text = f"<think>{WHOLE}</think>\n{answer}"
    assert text == converse(ASKING, [says(text)]).result.fields["content"]
    run = converse(ASKING, [says(f"<think>How?</think>\n{WHOLE}"), "child", says("done")])
    assert "subtask" == run.performed[1].asks[0].operation


def test_two_requests_in_one_result_are_told_to_the_model():
    """None of them is dropped."""
    task = template(allowed_tools=("spawn_subtask", "propose_subplan"))
    two = continuation({"subtask_request": {"description": "d"}, "subplan": {"description": "p"}})
    run = converse(task, [says(two), says("done")])

    said = run.requests[1]["messages"][-1]["content"][0]["text"]
    assert "malformed: notes: they hold a subplan and a subtask_request: keep one" in said


def test_a_near_miss_is_the_answer_of_a_task_that_may_not_ask():
    """It is noted, as for a whole one."""
    text = f"Here is my request:\n{WHOLE}"
    run = converse(template(), [says(text)])

    assert text == run.result.fields["content"]
    assert "spawn_subtask" in run.notes["warnings"][0]


@pytest.mark.timeout(20)
@pytest.mark.parametrize("part", ["{", '{"a":', '{"subtask": ', "{a} ", '{"a": 1} '])
def test_a_long_text_is_looked_at_in_no_time(part):
    text = "continuation " + part * 200_000
    assert (
        text
        == converse(ASKING, [says(text)], max_context_window_fraction=1).result.fields["content"]
    )


def test_too_many_malformed_requests_break_the_task():
    """After two, as a tool call or as a text."""
    bad = says(continuation({"subtask_request": {"inputs": {}}}))
    error = converse(ASKING, [bad] * 3).error

    assert error["reason"] == "input_validation_failure"
    assert error["details"]["fields"] == ("description",)
    error = converse(ASKING, [spawn(inputs=(1,))] * 3).error
    assert error["reason"] == "input_validation_failure"
    assert error["details"]["fields"] == ("inputs", "description")
    assert "inputs: write a table; description: say" in error["message"]
    error = converse(ASKING, [uses(("a", "spawn_subtask", 3))] * 3).error
    assert error["details"]["fields"] == ("tool_use.input",)


def test_a_model_that_keeps_asking_at_the_depth_limit_ends():
    """It is told twice; the third time the task breaks with what it was told."""
    asking = [spawn(description="d"), failure("execution_halted")] * 3
    text = [says(continuation({"subtask_request": {"description": "d"}})), asking[1]] * 3

    assert converse(ASKING, asking).error["reason"] == "execution_halted"
    assert converse(ASKING, text).error["reason"] == "execution_halted"


def test_several_requests_of_one_turn_are_refused_once():
    """The model asked before it could know."""
    calls = uses(*((name, "spawn_subtask", {"description": "d"}) for name in "abcdef"))
    run = converse(ASKING, [calls, *[failure("execution_halted")] * 6, says("done")])

    assert run.result.fields["content"] == "done"


@pytest.mark.parametrize(
    "request_, field",
    [
        (3, "subtask_request"),
        ({}, "description"),
        ({"description": ""}, "description"),
        ({"description": "d", "inputs": "x"}, "inputs"),
        ({"description": "d", "max_depth": 1.5}, "max_depth"),
        ({"description": "d", "file_paths": "a"}, "file_paths"),
        ({"description": "d", "template_hints": (1,)}, "template_hints"),
        ({"description": "d", "subtype": 1}, "subtype"),
        ({"description": "d", "type": 1}, "type"),
        ({"name": ("a",)}, "name"),
        ({"description": "d", "return_expectations": 1}, "return_expectations"),
        ({"description": "d", "context_management": "full"}, "context_management"),
        ({"description": "d", "history_config": True}, "history_config"),
        ({"description": "d", "max_depth": 1, "maxDepth": 3}, "max_depth"),
        ({"description": "d", "maxDepth": 3, "max_depth": 1}, "max_depth"),
    ],
)
def test_a_malformed_request_is_refused_by_field(request_, field):
    """An input_validation_failure names the fields."""
    error = matching(request_, (template(),))

    assert isinstance(error, Record)
    assert error.fields["reason"] == "input_validation_failure"
    assert field in error.fields["details"]["fields"]


def test_unknown_fields_are_left_out_with_a_warning():
    """A model may add what it likes."""
    read = subtask_request({"description": "d", "mood": "good"})

    assert read.fields == {"type": "atomic", "description": "d", "inputs": {}}
    assert "`mood`" in read.warnings[0]
    assert not subtask_request({"description": "d", "mood": "good"}).problems


@pytest.mark.parametrize(
    ("key", "meant"),
    [
        ("input", "inputs"),
        ("max_dept", "max_depth"),
        ("maxDept", "max_depth"),
        ("files", "file_paths"),
        ("filePath", "file_paths"),
        ("descripton", "description"),
    ],
)
def test_a_field_that_is_nearly_one_is_a_slip(key, meant):
    """What it holds would be missing, so whoever wrote it is told, a model too."""
    read = subtask_request({"name": "d", key: {}})

    assert f"did you mean `{meant}`?" in read.problems[key]
    assert not subtask_request({"name": "d", key: None}).problems


@pytest.mark.parametrize("key", ["mood", "model", "x" * 100_000])
def test_a_program_is_told_of_every_field_that_there_is_not(key):
    """A program that asks for a subtask may misspell nothing; the name of ours is there."""
    error = matching({"name": "report", "inputs": {}, key: "x"}, (template(),))

    assert error.fields["details"]["fields"] == (key,)
    assert "there are type, name, description, inputs" in error.fields["message"]
    given = {"name": template().name, "previous_outputs": ("x",), "depth": 1, "result": {}}
    assert isinstance(matching(given, (template(),)), Template)


def test_what_is_said_of_many_unknown_fields_is_short():
    """The first of them are named, and once what there is."""
    odd = {f"odd{at}": 1 for at in range(1_000)}
    error = matching({"name": "report", **odd}, (template(),))

    message = error.fields["message"]
    assert 1 == message.count("there are type, name, description, inputs")
    assert "odd0: there is no such field; odd1: there" in message
    assert "; and 980 more; odd999: there is no such field; there are" in message
    assert len(message) < 1_200


@pytest.mark.timeout(20)
def test_many_unknown_fields_take_no_time():
    """Likely names are looked for in the first of them."""
    read = subtask_request({"description": "d", **{f"input{at}": 1 for at in range(100_000)}})

    assert len(read.problems) == 20


TEMPLATES = (
    Template("summarize", description="Summarize a long text in three sentences"),
    Template("translate", description="Translate a text into French"),
    Template("judge", description="Judges", subtype="evaluator", criteria="accuracy of numbers"),
)


@pytest.mark.parametrize(
    "request_, expected",
    [
        ({"name": "translate"}, "translate"),
        ({"name": "translate", "description": "summarize a text"}, "translate"),
        ({"description": "anything at all", "subtype": "evaluator"}, "judge"),
        ({"description": "anything at all", "type": "evaluator"}, "judge"),
        ({"description": "please summarize this text"}, "summarize"),
        ({"description": "put this into French"}, "translate"),
        ({"description": "check the accuracy"}, "judge"),
        ({"description": "zzz", "template_hints": ("summarize",)}, "summarize"),
        ({"description": "summarize a long text", "template_hints": ("judge",)}, "judge"),
        ({"name": "summarise", "description": "a long text"}, "summarize"),
    ],
)
def test_a_request_finds_its_template(request_, expected):
    """By name, by the only template of its subtype, by words."""
    found = matching(request_, TEMPLATES)

    assert isinstance(found, Template)
    assert expected == found.name


def test_ties_are_decided_by_name():
    """Not by the order of the templates."""
    pair = (
        template("", name="zeta", description="tea"),
        template("", name="beta", description="tea"),
    )

    assert matching({"description": "tea"}, pair).name == "beta"


def test_no_template_is_an_error_with_candidates():
    """At most five are listed, the nearest first."""
    many = tuple(template("", name=f"t{at}", description="nothing alike") for at in range(9))
    error = matching({"description": "brew"}, many).fields

    assert (error["type"], error["reason"]) == ("TASK_FAILURE", "template_not_found")
    assert [item["name"] for item in error["details"]["candidates"]] == [
        "t0",
        "t1",
        "t2",
        "t3",
        "t4",
    ]
    assert matching({"name": "x"}, ()).fields["reason"] == "template_not_found"


@pytest.mark.parametrize(
    ("subtypes", "request_", "expected"),
    [
        (("standard", "subtask"), {}, "t1"),
        (("standard", "subtask"), {"name": "nobody"}, "t1"),
        (("standard", "subtask"), {"subtype": "evaluator"}, None),
        (("subtask", "subtask"), {}, None),
        (("standard", "director"), {}, None),
    ],
)
def test_the_only_template_for_subtasks_takes_what_fits_no_other(subtypes, request_, expected):
    """Not where another subtype is asked for, nor where there are two."""
    known = tuple(template("", name=f"t{at}", subtype=each) for at, each in enumerate(subtypes))
    found = matching({"description": "brew", **request_}, known)

    assert expected == (found.name if isinstance(found, Template) else None)


def test_what_a_child_was_warned_of_stands_in_the_notes_alone():
    """The model that asked reads the child's own answer, which may be JSON that it asked for."""
    said = "file `nofile` could not be read: there is none"
    child = task_result("child", notes={"template_used": "small", "warnings": (said,)})
    run = converse(ASKING, [spawn(description="d", file_paths=("nofile",)), child, says("done")])
    (told,) = run.requests[1]["messages"][-1]["content"]

    assert "child" == told["content"]
    assert (f"subtask `small`: {said}",) == run.notes["warnings"]


def test_a_child_that_another_template_took_is_told_of_once():
    """The child is warned of it as well."""
    said = "no task is called `tiny`; `small` took the request"
    notes = {"template_used": "small", "asked_for": "tiny", "warnings": (said,)}
    run = converse(ASKING, [spawn(description="d"), task_result("c", notes=notes), says("done")])
    (told,) = run.requests[1]["messages"][-1]["content"]

    assert ("c\n\n[" + said + "]", (said,)) == (told["content"], run.notes["warnings"])
