"""Conversations by scripts of replies: turns, tools, stop reasons, limits."""

import json

import pytest
from tasks_driver import converse, failure, reply, says, system, template, uses

from sexplang.terms.task import Broke, Perform, error_record, make_failed_result, task_result
from sexplang.terms.template import Limits, OutputFormat

TOOLS = ("read_file", "list_files", "lookup", "spawn_subtask", "request_user_input")
BAD = '{"status": "CONTINUATION", "notes": {"subtask_request": {}}}'


def test_a_text_is_the_result():
    """A reply of text that ends its turn finishes the task."""
    run = converse(template("Say {{x}}.", "x"), [says("hi")], {"x": "hi"})

    assert run.result.fields["content"] == "hi"
    assert run.result.fields["status"] == "COMPLETE"
    assert run.result.fields["usage"] == {"input_tokens": 10, "output_tokens": 2}


def test_the_payload_is_a_plain_table_of_the_messages_protocol():
    """The model is asked with everything that the template says."""
    task = template("Say {{x}}.", "x", provider="anthropic", model="m1", system="Be terse.")
    run = converse(task, [says("hi")], {"x": "hi"}, base_prompt="You are a tool.")

    assert run.requests == [
        {
            "model": "anthropic:m1",
            "system": "You are a tool.\n\n===\n\nBe terse.",
            "messages": ({"role": "user", "content": ({"type": "text", "text": "Say hi."},)},),
            "tools": (),
            "task": "t",
        }
    ]
    assert not run.performed[0].asks[0].attempt


def test_the_payload_says_all_that_its_template_sets():
    """Its texts with their values, its limits, its tools, the form of its answer."""
    task = template(
        *("Say {{x}}.", "x"),
        system="Of {{x}}.",
        allowed_tools=("look",),
        limits=Limits(max_turns=3, max_output_tokens=900, timeout=7),
        output_format=OutputFormat("json", "object"),
    )
    (asked,) = converse(task, [says("{}")], {"x": "tea"}).requests

    assert "Of tea.\n\n===\n\nAnswer with one JSON value" in asked["system"]
    assert (900, 7, {"type": "object"}) == (
        *(asked["max_tokens"], asked["timeout"]),
        asked["output_schema"],
    )
    assert ["look"] == [tool["name"] for tool in asked["tools"]]
    assert "Say tea." == asked["messages"][0]["content"][0]["text"]


def test_a_string_is_a_reply_of_text():
    """A program that mocks the model may answer with a string."""
    assert converse(template(), ["hi"]).result.fields["content"] == "hi"


def test_direct_tools_of_a_turn_are_performed_together():
    """They stand in one Perform, each under attempt; results go back in the order of the calls."""
    asked = uses(
        ("a", "read_file", {"path": "x.md"}),
        ("b", "lookup", {"word": "tea"}),
        ("c", "list_files", {"glob": "*"}),
        text="Let me look.",
    )
    run = converse(
        template(allowed_tools=TOOLS), [asked, ("X", failure(), ("p", "q")), says("done")]
    )
    perform = run.performed[1]
    *_, said, told = run.requests[1]["messages"]

    assert perform.together
    assert [(ask.operation, ask.arguments, ask.attempt) for ask in perform.asks] == [
        ("read-file", ("x.md",), True),
        ("tool", ("lookup", {"word": "tea"}), True),
        ("list-files", ("*",), True),
    ]
    assert asked["content"] == said["content"]
    assert told["role"] == "user"
    assert [block["tool_use_id"] for block in told["content"]] == ["a", "b", "c"]
    assert [told["content"][at]["content"] for at in (0, 2)] == ["X", '["p", "q"]']
    assert [block.get("is_error") for block in told["content"]] == [None, True, None]
    assert json.loads(told["content"][1]["content"])["reason"] == "tool_execution_error"


def test_the_id_of_a_call_is_its_own_within_a_turn():
    """Another turn may have it again; each result follows its call."""
    call = uses(("a", "lookup", {}))
    run = converse(template(allowed_tools=TOOLS), [call, ("v",), call, ("w",), says("done")])
    told = [message["content"][0] for message in run.requests[2]["messages"][2::2]]

    assert [("a", "v"), ("a", "w")] == [(each["tool_use_id"], each["content"]) for each in told]


def test_one_direct_tool_is_a_fork_as_well():
    """So that handlers around it see the same whatever the number."""
    run = converse(template(allowed_tools=TOOLS), [uses(("a", "lookup", {})), ("v",), says("done")])

    assert run.performed[1].together


def test_what_stands_alone_follows_one_by_one_in_block_order():
    """Subtasks and questions come after the direct tools; results are in block order again."""
    asked = uses(
        ("a", "request_user_input", {"prompt": "Which?", "choices": ["x", "y"]}),
        ("b", "lookup", {}),
        ("c", "spawn_subtask", {"description": "d", "inputs": {"n": 1}}),
    )
    run = converse(
        template(allowed_tools=TOOLS),
        [asked, ("found",), "x", task_result("child"), says("done")],
    )

    assert [[ask.operation for ask in perform.asks] for perform in run.performed] == [
        ["model"],
        ["tool"],
        ["ask-user"],
        ["subtask"],
        ["model"],
    ]
    assert [perform.together for perform in run.performed] == [False, True, False, False, False]
    assert run.performed[2].asks[0].arguments == ("Which?", ("x", "y"))
    results = run.requests[1]["messages"][-1]["content"]
    assert [(block["tool_use_id"], block["content"]) for block in results] == [
        ("a", "x"),
        ("b", "found"),
        ("c", "child"),
    ]


@pytest.mark.parametrize(
    "name, given",
    [
        ("shell", {"command": "ls"}),
        ("read_file", {"file": "x"}),
        ("read_file", {"path": 3}),
        ("read_file", "x"),
        ("list_files", {}),
        ("list_files", {"glob": "*", "path": "a"}),
        ("read_file", {"path": "a", "x" * 100_000: 1}),
        ("request_user_input", {"prompt": "?", "choices": "x"}),
        ("spawn_subtask", {"inputs": {}}),
        ("spawn_subtask", {"description": "d", "inputs": [1]}),
    ],
)
def test_a_call_that_cannot_be_made_is_told_to_the_model(name, given):
    """An unknown tool or an input that does not fit is an error result; nothing is performed."""
    run = converse(template(allowed_tools=TOOLS), [uses(("a", name, given)), says("done")])
    (block,) = run.requests[1]["messages"][-1]["content"]

    assert block["is_error"]
    assert json.loads(block["content"])["type"] == "TASK_FAILURE"
    assert len(block["content"]) < 500
    assert [perform.asks[0].operation for perform in run.performed] == ["model", "model"]


def test_a_tool_that_is_not_allowed_is_not_performed():
    """A task has the tools that its template allows, none by default."""
    two = template(limits=Limits(max_turns=2))
    run = converse(two, [uses(("a", "read_file", {"path": "x"})), says("done")])

    assert run.requests[1]["messages"][-1]["content"][0]["is_error"]


def test_tool_names_are_made_safe_and_found_again():
    """Providers take letters, digits, `_` and `-`; the operation gets our name."""
    run = converse(
        template(allowed_tools=("system:run", "system_run")),
        [uses(("a", "system_run", {}), ("b", "system_run_2", {})), ("1", "2"), says("done")],
    )

    assert [tool["name"] for tool in run.requests[0]["tools"]] == ["system_run", "system_run_2"]
    assert [ask.arguments[0] for ask in run.performed[1].asks] == ["system:run", "system_run"]


@pytest.mark.parametrize(
    ("given", "arguments"),
    [
        ({"command": "ls"}, ("ls", (), None, 300)),
        (
            {"command": "wc", "args": ("-l",), "input": "x", "timeout": 2.5},
            ("wc", ("-l",), "x", 2.5),
        ),
        ({}, "command"),
        ({"command": ""}, "command"),
        ({"command": ("ls", "-l")}, "command"),
        ({"command": "ls", "args": "-l"}, "args"),
        ({"command": "ls", "args": (1,)}, "args"),
        ({"command": "ls", "input": 1}, "input"),
        ({"command": "ls", "timeout": 301}, "timeout"),
        ({"command": "ls", "timeout": 0}, "timeout"),
        ({"command": "ls", "timeout": True}, "timeout"),
        ({"command": "ls", "cwd": "/"}, "cwd"),
    ],
)
def test_a_script_of_a_model_is_an_operation(given, arguments):
    """With at most its time; what does not fit is an error that the model is told."""
    answers = [({"exit_code": 0},)] if isinstance(arguments, tuple) else []
    run = converse(
        template(allowed_tools=("system:run_script",)),
        [uses(("a", "system_run_script", given)), *answers, says("done")],
    )

    if isinstance(arguments, tuple):
        (ask,) = run.performed[1].asks
        assert ("run-script", arguments, True) == (ask.operation, ask.arguments, ask.attempt)
    else:
        told = run.requests[1]["messages"][-1]["content"][0]
        assert told["is_error"] and f"`{arguments}` " in told["content"]


@pytest.mark.parametrize(
    "stop, type_, reason",
    [
        ("max_tokens", "RESOURCE_EXHAUSTION", "output"),
        ("model_context_window_exceeded", "RESOURCE_EXHAUSTION", "context"),
        ("refusal", "TASK_FAILURE", "llm_error"),
        (None, "TASK_FAILURE", "protocol_error"),
        ("brand_new", "TASK_FAILURE", "protocol_error"),
    ],
)
def test_every_other_stop_reason_breaks_the_task_and_keeps_the_text(stop, type_, reason):
    """What was said until then is the content of the error."""
    error = converse(template(), [says("half an ans", stop)]).error

    assert (type_, reason, "half an ans") == (error["type"], error["reason"], error["content"])


@pytest.mark.parametrize(
    ("script", "fields", "words"),
    [
        ([says("x", "max_tokens")], {}, "max_output_tokens"),
        ([says("x", "model_context_window_exceeded")], {}, "split the task"),
        ([says("x", "refusal")], {}, "catch llm_error"),
        ([says("x", None)], {}, "run it again"),
        ([uses(("a", "lookup", {}))], {"limits": Limits(max_turns=1)}, "max_turns"),
        ([says("x")] * 3, {"output_format": OutputFormat("json")}, "loosen the schema"),
        ([says(BAD)] * 3, {"allowed_tools": TOOLS}, "write {description"),
    ],
)
def test_what_ends_a_task_says_what_to_do_and_is_tried_no_more(script, fields, words):
    """Trying again is the program's: nothing is asked beside the script."""
    assert words in converse(template(**fields), script).error["hint"]


def test_a_reply_that_is_cut_off_says_how_long_it_was():
    """Used and allowed, in tokens of output."""
    task = template(limits=Limits(max_output_tokens=900))
    error = converse(task, [says("x", "max_tokens")]).error

    assert {"used": 2, "limit": 900} == error["details"]["metrics"]


USED = {"input_tokens": 77, "output_tokens": 20}


@pytest.mark.parametrize("stop", ["max_tokens", "model_context_window_exceeded", "refusal", None])
def test_a_failed_task_counts_its_last_reply(stop):
    """In its window as in its usage; the window has a limit wherever it is told."""
    error = converse(template(), [says("half an ans", stop, usage=USED)]).error
    details = error["details"]

    assert USED == details["usage"]
    assert {"used": 97, "limit": 80_000, "peak_usage": 97} == details["context"]
    assert 1 == details["turns"]["used"]
    if error["reason"] == "context":
        assert {"used": 97, "limit": 80_000} == details["metrics"]


def test_a_refusal_names_its_category():
    """The category of the provider is in the details."""
    error = converse(template(), [says("", "refusal", stop_details={"category": "cyber"})]).error

    assert error["details"]["category"] == "cyber"


def test_a_paused_turn_goes_on():
    """pause_turn asks again with what was said; the texts are one answer."""
    two = template(limits=Limits(max_turns=2))
    run = converse(two, [says("one ", "pause_turn"), says("two", "stop_sequence")])

    assert run.result.fields["content"] == "one two"
    assert run.requests[1]["messages"][-1]["role"] == "assistant"
    assert run.result.fields["usage"] == {"input_tokens": 20, "output_tokens": 4}


def test_a_stop_to_use_no_tool_is_a_protocol_error():
    """stop_reason tool_use without a call means that the reply is broken."""
    assert converse(template(), [says("x", "tool_use")]).error["reason"] == "protocol_error"


def test_a_model_that_never_stops_calling_tools_ends_at_the_turn_limit():
    """The turn after the limit is never asked, and what nobody would read is not performed."""
    task = template(allowed_tools=TOOLS, limits=Limits(max_turns=3))
    call = uses(("a", "lookup", {}))
    run = converse(task, [call, ("1",), call, ("2",), call])

    assert len(run.requests) == 3
    assert (run.error["type"], run.error["reason"]) == ("RESOURCE_EXHAUSTION", "turns")
    assert run.error["details"] == {
        "task": "t",
        "resource": "turns",
        "metrics": {"used": 3, "limit": 3},
        "turns": {"used": 3, "limit": 3},
        "context": {"used": 12, "limit": 80_000, "peak_usage": 590},
        "usage": {"input_tokens": 30, "output_tokens": 6},
    }


@pytest.mark.parametrize(
    ("format_", "turns"), [(OutputFormat(), 1), (OutputFormat("json"), 3)], ids=["text", "json"]
)
def test_a_task_without_tools_has_one_turn_and_its_repairs(format_, turns):
    """Nothing that such a model says makes it be asked more often than `check` counts on."""
    call = uses(("a", "lookup", {}))
    run = converse(template(output_format=format_), [call] * turns)

    assert (turns, "turns") == (len(run.requests), run.error["reason"])


def test_a_request_lowers_the_turn_limit_and_never_raises_it():
    """The template's limit is the most there is."""
    task = template(allowed_tools=TOOLS, limits=Limits(max_turns=2))
    call = uses(("a", "lookup", {}))

    assert len(converse(task, [call], overrides={"max_turns": 1}).requests) == 1
    assert len(converse(task, [call, ("1",), call], overrides={"max_turns": 9}).requests) == 2


def test_four_fifths_of_the_turns_are_a_warning_once():
    """The warning is in the notes of the result."""
    task = template(allowed_tools=TOOLS, limits=Limits(max_turns=10))
    call = uses(("a", "lookup", {}))
    run = converse(task, [call, ("1",)] * 9 + [says("done")])

    assert run.notes["warnings"] == ("8 of 10 turns are used",)
    assert 10 == run.notes["turns"]


def test_what_others_say_is_no_turn():
    """Tools, a person and subtasks answer as often as they are asked."""
    task = template(allowed_tools=TOOLS, limits=Limits(max_turns=2))
    asked = uses(
        ("a", "lookup", {}),
        ("b", "lookup", {}),
        ("c", "request_user_input", {"prompt": "Tea?"}),
        ("d", "request_user_input", {"prompt": "Hot?"}),
        ("e", "spawn_subtask", {"description": "d"}),
    )
    run = converse(task, [asked, ("1", "2"), "yes", "no", "child", says("done")])

    assert 2 == run.notes["turns"] == run.notes["metrics"]["turns"]["used"]


@pytest.mark.parametrize(
    "value",
    [
        None,
        7,
        {},
        {"content": "hi"},
        {"content": (3,)},
        {"content": ({"text": "no type"},)},
        {"content": ({"type": "text"},), "stop_reason": "end_turn"},
        {"content": ({"type": "tool_use", "name": "x", "input": {}},)},
        {"content": (), "stop_reason": 4},
        {"content": (), "stop_reason": "end_turn", "usage": 3},
        {"content": (), "stop_reason": "end_turn", "usage": {"input_tokens": -1}},
        {"content": (), "stop_reason": "end_turn", "usage": {"output_tokens": True}},
        {"content": (), "stop_reason": "end_turn", "model": 1},
        {"content": ()},
        {"content": ({"type": "text", "text": "x"},), "usage": {"input_tokens": "three"}},
    ],
)
def test_what_is_no_reply_is_a_protocol_error(value):
    """Garbage from a server breaks the task with a TaskError."""
    error = converse(template(), [value]).error

    assert (error["type"], error["reason"]) == ("TASK_FAILURE", "protocol_error")


def test_two_calls_of_one_id_are_a_protocol_error():
    """Results could not be paired with them."""
    run = converse(template(allowed_tools=TOOLS), [uses(("a", "x", {}), ("a", "x", {}))])

    assert run.error["reason"] == "protocol_error"


@pytest.mark.parametrize(
    "reply",
    [
        uses(("a", "x", {}), ("a", "x", {})),
        uses(("", "x", {})),
        uses(("a", "", {})),
        {**says("x"), "content": ({"type": "text", "text": None},)},
    ],
)
def test_what_is_no_reply_has_its_price(reply):
    """What it took is told, with that of the turns before."""
    script = [uses(("b", "lookup", {})), ("v",), reply]
    run = converse(template(allowed_tools=TOOLS), script)

    assert "protocol_error" == run.error["reason"]
    assert {"input_tokens": 20, "output_tokens": 4} == run.error["details"]["usage"]


def test_blocks_that_are_not_known_are_kept_verbatim():
    """Providers want their own blocks back as they were."""
    block = {"type": "thinking", "thinking": "…", "signature": "s"}
    call = {"type": "tool_use", "id": "a", "name": "lookup", "input": {}}
    run = converse(
        template(allowed_tools=TOOLS), [reply([block, call], "tool_use"), ("v",), says("done")]
    )

    assert (block, call) == run.requests[1]["messages"][1]["content"]


def test_history_holds_no_empty_text():
    """The protocol refuses blank text blocks and empty messages."""
    task = template(allowed_tools=TOOLS)
    call = {"type": "tool_use", "id": "a", "name": "lookup", "input": {}}
    first = reply([{"type": "text", "text": " "}, {"type": "text", "text": ""}, call], "tool_use")
    run = converse(task, [first, ("v",), reply([], "pause_turn"), says("done")])
    messages = run.requests[-1]["messages"]

    assert (call,) == messages[1]["content"]
    assert messages[3]["content"] == ({"type": "text", "text": "(nothing)"},)


def test_branches_of_one_session_are_independent():
    """Advancing a session twice is two conversations."""
    tasks = system()
    call = uses(("a", "lookup", {}))
    _, session, _ = tasks.begin(template(allowed_tools=TOOLS), {}, {}, ())
    waiting, want = tasks.advance(session, (call,))
    left, _ = tasks.advance(waiting, ("left",))
    right, asked = tasks.advance(waiting, ("right",))

    assert isinstance(want, Perform)
    assert isinstance(asked, Perform)
    assert left.messages[-1]["content"][0]["content"] == "left"
    assert right.messages[-1]["content"][0]["content"] == "right"
    assert len(waiting.messages) == 2


def test_a_broken_task_may_be_asked_again():
    """The session before the break is whole: another reply to it goes on."""
    tasks = system()
    _, session, _ = tasks.begin(template(), {}, {}, ())
    broken, want = tasks.advance(session, (None,))

    assert isinstance(want, Broke)
    assert session == broken


def test_half_a_character_does_not_get_into_a_program():
    """JSON lets a lone surrogate in; nothing could write it."""
    assert converse(template(), [says("a\ud800ü")]).result.fields["content"] == "a?ü"


def test_a_time_limit_goes_with_each_model_request():
    """Who performs the request keeps to it; a template without one says nothing."""
    run = converse(template(limits=Limits(timeout=2.5)), [says("done")])

    assert 2.5 == run.requests[0]["timeout"]
    assert "timeout" not in converse(template(), [says("done")]).requests[0]


def test_a_user_who_is_not_there_is_a_warning():
    """The model is told what it can do, and not what the operator could."""
    error = error_record("TASK_FAILURE", "no-answer", "nobody is there: Tea?", hint="a terminal")
    asking = uses(("a", "request_user_input", {"prompt": "Tea?"}))
    run = converse(
        template(allowed_tools=("request_user_input",)),
        [asking, make_failed_result(error), says("Water.")],
    )
    told = json.loads(run.requests[1]["messages"][-1]["content"][0]["content"])

    assert told["hint"].startswith("nobody can be asked now: go on with what you know")
    said = "the user was asked and did not answer: nobody is there: Tea?"
    assert (said,) == run.notes["warnings"]
