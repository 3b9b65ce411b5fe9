"""The same rows for every adapter: whoever replies, a program sees no difference.

What an adapter lacks it refuses by name. The rows of failing servers are in
`test_runtime_failures.py`.
"""

import json
import threading

import jsonschema_rs
import pytest
from conformance_support import Engine, Local, Messages, asking, every, telling
from runtime_support import begun, perform
from support.running import error_of

from sexplang.machine import Done
from sexplang.runtime import Journal
from sexplang.runtime.models.adapters import local
from sexplang.terms.core import Race

KEY = "sk-ant-very-secret-0123456789"
STOPS = {"end_turn", "max_tokens", "tool_use"}

READ = {
    "name": "read_file",
    "description": "Reads a text file.",
    "input_schema": {
        "type": "object",
        "properties": {"path": {"$ref": "#/$defs/Path"}},
        "required": ["path"],
        "$defs": {"Path": {"type": "string"}},
    },
}
IMAGE = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"}}
PDF = {
    "type": "document",
    "source": {"type": "base64", "media_type": "application/pdf", "data": "AAAA"},
}
NOTE = {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "Mint."}}


@pytest.fixture
def adapter(request, tmp_path):
    """One adapter of the test's own."""
    return request.param(tmp_path)


def user(content):
    return {"role": "user", "content": content}


def assistant(content):
    return {"role": "assistant", "content": content}


def hello(**more):
    return {"messages": (user("Hello?"),), "max_tokens": 12, **more}


def text_of(outcome):
    (block,) = outcome.value["content"]
    assert "text" == block["type"]
    return block["text"]


@every
def test_a_reply_has_blocks_a_stop_reason_counts_and_a_model(adapter):
    """Text goes in, and text comes out."""
    reply = adapter.ask(hello(), "Good day.").value

    if not isinstance(adapter, (Engine, Local)):
        assert reply == {
            "content": ({"type": "text", "text": "Good day."},),
            "stop_reason": "end_turn",
            "usage": reply["usage"],
            "model": reply["model"],
        }
    assert {"content", "stop_reason", "usage", "model"} == set(reply)
    assert reply["content"] and {"text"} == {block["type"] for block in reply["content"]}
    assert reply["content"][0]["text"]
    assert reply["stop_reason"] in STOPS
    for name in ("input_tokens", "output_tokens"):
        assert type(reply["usage"][name]) is int and reply["usage"][name] >= 0
    assert isinstance(reply["model"], str) and reply["model"]


@asking
def test_what_is_said_reaches_the_model_in_order(adapter):
    """System prompt, all turns of the history, whatever the script; a system prompt without words
    is none."""
    said = "Grüße an 漢字 \U0001f600 \u05e9\u05dc\u05d5\u05dd"
    turns = (user(said), assistant("First answer."), user([{"type": "text", "text": "And now?"}]))
    adapter.ask({"messages": turns, "system": "Answer in Norwegian.", "max_tokens": 2})
    adapter.ask({"messages": turns, "system": "", "max_tokens": 2})
    first, second = adapter.heard

    places = [first.index(words) for words in (said, "First answer.", "And now?")]
    assert places == sorted(places)
    assert "Answer in Norwegian." in first
    assert "system" not in second


@every
def test_a_tool_is_offered_used_and_its_result_is_answered(adapter):
    """The call has an id, the tool's name and an object; the conversation goes on with its
    result."""
    asked = user("Read the file notes.txt with the tool.")
    tools = {"tools": (READ,), "max_tokens": 60}
    call = {"tool_use": {"name": "read_file", "input": {"path": "notes.txt"}}}
    forced = adapter.ask({"messages": (asked,), "tool_choice": {"type": "any"}, **tools}, call)
    if isinstance(adapter, Engine):  # it has no tools for this model, and no call is made up
        assert "it calls no tool, which `tool_choice` demands" in error_of(forced)["message"]
        content = [{"type": "tool_use", "id": "call_1", **call["tool_use"]}]
    else:
        assert forced.value["stop_reason"] == "tool_use"
        content = forced.value["content"]
    (block,) = content
    result = {"type": "tool_result", "tool_use_id": block["id"], "content": "Tea at five."}
    turns = (asked, assistant(content), user((result,)))
    answered = adapter.ask(
        {"messages": turns, "tool_choice": {"type": "none"}, **tools}, "At five."
    )

    assert (block["type"], block["name"]) == ("tool_use", "read_file")
    assert isinstance(block["id"], str) and block["id"]
    assert isinstance(block["input"]["path"], str)
    assert text_of(answered) and answered.value["stop_reason"] in ("end_turn", "max_tokens")
    for heard in adapter.heard:
        assert "read_file" in heard and "Reads a text file." in heard
    assert all("Tea at five." in heard for heard in adapter.heard[-1:])


SCHEMA = {
    "type": "object",
    "properties": {"answer": {"enum": ["yes", "no"]}, "sure": {"$ref": "#/$defs/Sure"}},
    "required": ["answer", "sure"],
    "additionalProperties": False,
    "$defs": {"Sure": {"type": "boolean"}},
}


@asking
@pytest.mark.parametrize("tools", [(), (READ,)], ids=["alone", "with tools"])
def test_a_schema_is_met(adapter, tools):
    """Also one that refers to its own parts, beside a tool whose schema does."""
    payload = hello(output_schema=SCHEMA, tools=tools, max_tokens=90)
    payload |= {"tool_choice": {"type": "none"}} if tools else {}
    outcome = adapter.ask(payload, '{"answer": "yes", "sure": true}')

    assert jsonschema_rs.is_valid(SCHEMA, json.loads(text_of(outcome)))
    assert '"json_schema"' in adapter.heard[0] and '"sure"' in adapter.heard[0]


@every
@pytest.mark.parametrize("tools", [(), (READ,)], ids=["alone", "with tools"])
def test_a_reply_of_too_many_tokens_is_cut_and_says_so(adapter, tools):
    """What was said until then is text, and nothing but what the model said."""
    words = user("Count from one to one hundred.")
    payload = {"messages": (words,), "tools": tools, "max_tokens": 9}
    payload |= {"tool_choice": {"type": "none"}} if tools else {}
    outcome = adapter.ask(
        payload, {"content": [{"type": "text", "text": "One, two"}], "stop_reason": "max_tokens"}
    )

    assert "max_tokens" == outcome.value["stop_reason"]
    assert '{"reply"' not in text_of(outcome)


@asking
@pytest.mark.parametrize("block", [IMAGE, PDF, {"type": "video"}], ids=lambda block: block["type"])
@pytest.mark.parametrize("wrap", ["in a message", "in a result", "in the system prompt"])
def test_what_is_no_text_is_sent_as_it_is_or_refused(adapter, block, wrap):
    """Never left out: a model that cannot see it says so."""
    call = {"type": "tool_use", "id": "1", "name": "look", "input": {}}
    result = {"type": "tool_result", "tool_use_id": "1", "content": (block,)}
    payload = {
        "in a message": {"messages": (user((block, {"type": "text", "text": "What is it?"})),)},
        "in a result": {"messages": (user("Look."), assistant((call,)), user((result,)))},
        "in the system prompt": hello(system=(block,)),
    }[wrap]
    outcome = adapter.ask(payload)

    if isinstance(outcome, Done) and isinstance(adapter, Messages) and not adapter.prefix:
        assert json.dumps(block, ensure_ascii=False) in adapter.heard[0]
    elif isinstance(outcome, Done):
        kind = "file" if block is PDF else "image_url"
        assert "base64,AAAA" in adapter.heard[0] and f'"type": "{kind}"' in adapter.heard[0]
    else:
        error = error_of(outcome)
        assert error["reason"] == "llm_error"
        assert any(word in error["message"] for word in (block["type"], "file", "content"))
        assert "another --model" in error["hint"] or isinstance(adapter, Engine)


@asking
def test_a_document_that_is_text_is_read_by_every_model(adapter):
    """Text stays text."""
    adapter.ask({"messages": (user((NOTE, {"type": "text", "text": "Sum up."})),), "max_tokens": 2})

    assert "Mint." in adapter.heard[0]


@asking
def test_more_text_than_a_model_takes_is_an_error_that_counts(adapter):
    """Nobody cuts it off silently."""
    long = {"messages": (user("word " * 9000),)}
    refusal = {"status": 400, "message": "prompt is too long: 9005 tokens > 8192 maximum"}
    error = error_of(adapter.ask(long, refusal))

    assert ("RESOURCE_EXHAUSTION", "context") == (error["type"], error["reason"])
    metrics = error["details"]["metrics"]
    assert metrics["used"] > metrics["limit"] == 8192


SLOW = hello(output_schema={"type": "string", "minLength": 2000}, max_tokens=4000)
LONG = hello(system="word " * 800, max_tokens=4000)


@asking
@pytest.mark.parametrize("payload", [SLOW, LONG], ids=["answering", "reading"])
def test_a_call_in_flight_that_is_cancelled_leaves_nothing_running(adapter, payload):
    """Whether the model answers already or still reads: no thread, no connection, and the next
    call is answered as if there had been none."""
    before = adapter.ask(hello(), "Good day.")
    threads = set(threading.enumerate())
    late = perform("sleep", 0.4)
    race = Race((perform("model", payload), late), span=late.span)
    outcome = adapter.run(lambda: begun(race), payload, {"fail": "trickle"})

    assert isinstance(outcome, Done) and None is outcome.value
    for thread in set(threading.enumerate()) - threads:
        thread.join(60)  # told to end; it may not have got to it yet
        assert not thread.is_alive()
    assert not local._asking.locked()
    assert before == adapter.ask(hello(), "Good day.")


@asking
def test_a_call_ends_when_its_time_is_over(adapter):
    """All attempts together."""
    error = error_of(adapter.ask({**SLOW, "timeout": 0.2}, {"fail": "trickle"}))

    assert ("RESOURCE_EXHAUSTION", "seconds") == (error["type"], error["reason"])
    assert 0.2 == error["details"]["metrics"]["limit"]
    assert "allow more in the payload, timeout: 0.4, or ask for less at once" == error["hint"]


@every
def test_a_key_is_shown_by_nobody(adapter, monkeypatch):
    """Not in a reply, an error, or the journal."""
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    if not isinstance(adapter, Engine):
        monkeypatch.setenv("OPENAI_API_KEY", KEY)
    journal = Journal()
    seen = [adapter.ask(hello(), f"It is {KEY}.", journal=journal)]
    seen.append(adapter.ask(hello(output_schema={"$ref": f"#/{KEY}"}), {"error": KEY}))
    seen.append(adapter.ask(hello(), {"status": 401, "message": KEY}, {"error": KEY}))

    assert KEY not in repr([getattr(each, "error", each) for each in seen]) + repr(journal)
    assert KEY not in repr([each.error.fields for each in seen if not isinstance(each, Done)])
    assert all(KEY not in heard.replace(f"#/{KEY}", "") for heard in adapter.heard)


@asking
def test_a_request_holds_nothing_of_the_run(adapter):
    """No id, no time, no attempt: what is equal to the program is the same bytes."""
    replies = [adapter.ask(hello(task="greet"), "Hi.", run_id=f"run-{at}").value for at in range(2)]

    keys = {*json.loads(adapter.heard[0])}
    assert keys <= {"model", "max_tokens", "messages", "stream", "stream_options", *STEADY}
    assert adapter.heard[0] == adapter.heard[1]
    assert "run-" not in adapter.heard[0] and "greet" not in adapter.heard[0]
    assert replies[0] == replies[1]


STEADY = ("seed", "temperature", "cache_prompt", "return_progress")
"""What makes replies of the real models equal."""


def nested(depth):
    data = {}
    for _ in range(depth):
        data = {"a": data}
    return data


@asking
def test_a_reply_ends_where_it_is_told_to_stop(adapter):
    """A text that stops it is no part of it."""
    words = "Count: one, two, three, four, five, six. Repeat that."
    asked = {"messages": (user(words),), "max_tokens": 30, "stop_sequences": ("five",)}
    whole = {"content": [{"type": "text", "text": "One, "}], "stop_reason": "stop_sequence"}
    reply = adapter.ask(asked, whole)

    assert "five" not in text_of(reply)
    assert reply.value["stop_reason"] in ("end_turn", "stop_sequence", "max_tokens")
    assert "five" in adapter.heard[0]


@telling
def test_a_refusal_says_so(adapter):
    """What was said until then is kept."""
    said = {"content": [{"type": "text", "text": "I will not"}], "stop_reason": "refusal"}
    reply = adapter.ask(hello(), said)

    assert (text_of(reply), reply.value["stop_reason"]) == ("I will not", "refusal")


@telling
def test_several_tools_are_called_at_once(adapter):
    """Each with its input, in order, beside what is said."""
    calls = [
        {
            "type": "tool_use",
            "id": f"t{at}",
            "name": "read_file",
            "input": {"path": f"ü{at}", "as": None},
        }
        for at in range(3)
    ]
    said = [{"type": "text", "text": "I look."}, *calls]
    reply = adapter.ask(hello(tools=(READ,)), {"content": said, "stop_reason": "tool_use"})

    assert [*reply.value["content"]] == said
    assert reply.value["stop_reason"] == "tool_use"


@telling
def test_what_a_model_thought_is_no_part_of_its_answer(adapter):
    thought = {"type": "thinking", "thinking": "Hm.", "signature": "s"}
    said = [thought, {"type": "text", "text": "Yes."}]
    reply = adapter.ask(hello(), {"content": said}).value

    assert [block["type"] for block in reply["content"]] == ["thinking", "text"]
    assert reply["content"][0]["thinking"] == "Hm."


@telling
def test_what_a_prompt_cache_gave_is_counted_apart(adapter):
    usage = {"input_tokens": 7, "output_tokens": 3, "cache_read_input_tokens": 90}
    reply = adapter.ask(hello(), {"content": [{"type": "text", "text": "Yes."}], "usage": usage})

    assert reply.value["usage"] == usage


BAD = [
    (3, "bad-payload", "takes a table"),
    ({}, "bad-payload", "a list of messages"),
    ({"messages": ()}, "bad-payload", "a list of messages"),
    ({"messages": ("x",)}, "bad-payload", "message 1"),
    ({"messages": ({"role": "user"},)}, "bad-payload", "message 1"),
    (hello(timeout="1"), "bad-payload", "`timeout`"),
    ({"messages": ({"content": "x"},)}, "bad-payload", "message 1"),
    ({"messages": (user("x"), {"role": "robot", "content": "x"})}, "bad-payload", "message 2"),
    ({"messages": (user(({"text": "x"},)),)}, "bad-payload", "message 1"),
    ({"messages": (user(({"type": "text", "text": 3},)),)}, "bad-payload", "message 1"),
    (
        {"messages": (assistant(({"type": "tool_use", "id": "1", "name": "x", "input": ()},)),)},
        "bad-payload",
        "message 1",
    ),
    (
        {"messages": (user(({"type": "tool_result", "tool_use_id": "1", "content": 3},)),)},
        "bad-payload",
        "message 1",
    ),
    ({"messages": (user(" \n"),)}, "bad-payload", "message 1"),
    ({"messages": (user("x"), user(()))}, "bad-payload", "message 2"),
    ({"messages": (user(({"type": "text", "text": ""},)),)}, "bad-payload", "a blank one"),
    (hello(system=3), "bad-payload", "`system`"),
    (hello(tools=3), "bad-payload", "`tools`"),
    (hello(tools=({"description": "x"},)), "bad-payload", "`tools`"),
    (hello(tools=({"name": "x", "input_schema": "object"},)), "bad-payload", "`tools`"),
    (hello(tool_choice=3), "bad-payload", "`tool_choice`"),
    (hello(output_schema="string[]"), "bad-payload", "`output_schema`"),
    (hello(max_tokens=0), "bad-payload", "`max_tokens`"),
    (hello(max_tokens=True), "bad-payload", "`max_tokens`"),
    (hello(timeout=-1), "bad-payload", "`timeout`"),
    (hello(system=({"type": "text", "text": "x", "more": nested(300)},)), "bad-payload", "levels"),
    (hello(temperature=float("inf")), "bad-payload", "`temperature`"),
    (hello(temprature=0), "bad-payload", "no key `temprature`"),
    (hello(provider={"at": float("inf")}), "bad-payload", "holds +inf.0, and JSON has no such"),
    (hello(system=({"type": "text", "text": "x", "at": float("nan")},)), "bad-payload", "+nan.0"),
    (hello(system="half \ud800"), "not-text", "surrogate"),
]


@every
@pytest.mark.parametrize(("payload", "code", "words"), BAD, ids=map(str, range(len(BAD))))
def test_a_payload_of_the_wrong_form_is_refused_by_every_model(adapter, payload, code, words):
    """Before any sees it, and in the same words."""
    error = error_of(adapter.ask(payload))

    assert code in (error["reason"], error["details"].get("code"))
    assert words in error["message"]
    assert [] == adapter.heard
