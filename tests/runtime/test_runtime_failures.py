"""What servers of both protocols do wrong: one named error each, and nothing half-delivered."""

import json

import pytest
from conformance_support import serving
from runtime_support import ASK, asked
from support.chat_server import DONE, chat_server, chunk, data
from support.messages_server import MessagesServer, message
from support.running import error_of

from sexplang.machine import Done
from sexplang.runtime import Endpoint, Retries
from sexplang.runtime.driver.events import Said

BOUNDED = Endpoint(silence=20, total=30, most_bytes=1_000_000)
SHORT = {
    "hang": Endpoint(silence=0.15, total=20),
    "silence": Endpoint(silence=0.15, total=20),
    "trickle": Endpoint(silence=20, total=0.4),
}
ONCE = Retries(attempts=1)


@pytest.fixture
def adapter(request, tmp_path):
    return request.param(tmp_path)


def odd(**usage):
    return {"content": [], "usage": usage}


FAILURES = [
    ({"status": 429}, "llm_error", "model-busy", 3),
    ({"status": 529}, "llm_error", "model-busy", 3),
    ({"status": 503}, "llm_error", "model-busy", 3),
    ({"status": 500}, "llm_error", "model-failed", 3),
    ({"status": 502}, "llm_error", "model-failed", 3),
    ({"status": 408}, "llm_error", "model-failed", 3),
    ({"status": 400}, "llm_error", "model-refused-request", 1),
    ({"status": 413}, "llm_error", "model-refused-request", 1),
    ({"status": 422}, "llm_error", "model-refused-request", 1),
    ({"status": 401}, "configuration_error", "bad-key", 1),
    ({"status": 402}, "configuration_error", "bad-key", 1),
    ({"status": 403}, "configuration_error", "bad-key", 1),
    ({"status": 404}, "configuration_error", "model-not-found", 1),
    ({"status": 307}, "configuration_error", "model-redirected", 1),
    ({"fail": "reset"}, "connection_error", "no-connection", 3),
    ({"fail": "cut"}, "connection_error", "reply-cut-short", 3),
    ({"fail": "torn"}, "connection_error", "reply-cut-short", 3),
    ({"fail": "garbage"}, "protocol_error", "bad-reply", 1),
    ({"fail": "html"}, "protocol_error", "bad-reply", 1),
    ({"fail": "badjson"}, "protocol_error", "bad-reply", 1),
    ({"fail": "malformed"}, "protocol_error", "bad-reply", 1),
    ({"fail": "error"}, "llm_error", "model-busy", 3),
    ({"fail": "hang"}, "connection_error", "model-timeout", 2),
    ({"fail": "silence"}, "connection_error", "model-timeout", 2),
    ({"fail": "trickle"}, "connection_error", "model-timeout", 1),
    ({"fail": "flood"}, "protocol_error", "bad-reply", 1),
    (odd(input_tokens="three"), "protocol_error", "bad-reply", 1),
    (odd(output_tokens=-1), "protocol_error", "bad-reply", 1),
    (
        [{"type": "tool_use", "id": "1", "name": "x", "input": '{"a": [1, '}],
        *("protocol_error", "bad-reply"),
        1,
    ),
]


@serving
@pytest.mark.parametrize(("item", "reason", "code", "attempts"), FAILURES, ids=str)
def test_each_failure_ends_as_an_error_with_its_code(adapter, item, reason, code, attempts):
    """What may pass is tried again, a bounded number of times; nothing hangs."""
    fails = item.get("fail") if isinstance(item, dict) else None
    error = error_of(adapter.ask(ASK, item, endpoint=SHORT.get(fails, BOUNDED)))

    assert ("TASK_FAILURE", reason) == (error["type"], error["reason"])
    assert (code, attempts) == (error["details"]["code"], error["details"]["attempts"])
    assert attempts == len(adapter.heard)
    assert "Error" not in error["message"] and "'NoneType'" not in error["message"]


@serving
def test_a_server_that_does_not_count_gives_no_usage(adapter):
    """So that a budget keeps what it had reserved."""
    assert adapter.ask(ASK, odd(input_tokens=None)).value["usage"] is None


@serving
def test_a_call_that_was_stopped_in_its_input_has_none(adapter):
    """Half a command line is another command."""
    call = {"type": "tool_use", "id": "t1", "name": "run", "input": '{"args": ["-r", "/srv/da'}
    stopped = adapter.ask(ASK, {"content": [call], "stop_reason": "max_tokens"}).value

    assert (stopped["content"][0]["input"], stopped["stop_reason"]) == ({}, "max_tokens")


WHOLE = {
    "content": [
        {
            "type": "text",
            "text": "Grüße 漢字 \U0001f600.",
            "pieces": ["Gr", "üße 漢", "字 ", "\U0001f600."],
        },
        {"type": "tool_use", "id": "t1", "name": "run", "input": {"a\U0001f600": ["ü", 1]}},
    ],
    "stop_reason": "tool_use",
}


@serving
def test_a_stream_cut_anywhere_is_whole_or_an_error(adapter):
    """At any byte; what had arrived is the error's, and never an answer."""
    reply = adapter.ask(ASK, WHOLE).value
    speech = adapter.serve().speech
    sent = "".join(speech.events(message({"model": "m"}, WHOLE))).encode()
    cuts = [*range(1, len(sent), len(sent) // 25)]
    said = [{"events": [sent[:cut]]} for cut in cuts]
    endings = set()
    with adapter.serve(*said) as server:
        for _ in cuts:
            outcome = asked(f"{adapter.prefix}{server.url}#m", retries=ONCE)
            if isinstance(outcome, Done):  # only the usage may be missing
                assert {**outcome.value, "usage": reply["usage"]} == reply
                endings.add("whole")
                continue
            error = error_of(outcome)
            endings.add(error["details"]["code"])
            assert "Grüße 漢字 \U0001f600.".startswith(error["content"] or "")
            assert error["details"]["usage"]

    assert endings <= {"whole", "reply-cut-short", "bad-reply"} and len(endings) > 1


@serving
def test_pieces_of_any_size_are_told_and_joined(adapter):
    """Cut inside characters, escapes and JSON texts; what is told is what is delivered."""
    speech = adapter.serve().speech
    sent = "".join(speech.events(message({"model": "m"}, WHOLE))).encode()
    with adapter.serve(*[{"events": [sent], "size": size} for size in (1, 7, 64)]) as server:
        for _ in range(3):
            told = []
            reply = asked(f"{adapter.prefix}{server.url}#m", on_event=told.append).value
            said = [event for event in told if isinstance(event, Said)]

            assert reply["content"][0]["text"] == "Grüße 漢字 \U0001f600."
            assert reply["content"][1]["input"] == {"a\U0001f600": ("ü", 1)}
            for event in said:
                event.has_content = True
            assert "".join(event.text for event in said) == reply["content"][0]["text"]
            assert [event.characters for event in said] == sorted(e.characters for e in said)


# -- A server that speaks half of the OpenAI protocol ---------------------------------------------


def heard(*parts, usage=True):
    counts = {"prompt_tokens": 7, "completion_tokens": 3}
    more = [data({"choices": [], "usage": counts})] if usage else []
    return {
        "events": [*[part if isinstance(part, str) else data(part) for part in parts], *more, DONE]
    }


def call(**function):
    return chunk({"tool_calls": [{"index": 0, "function": function}]})


HI = chunk({"content": "Hi."})
STOP = chunk({}, "stop")
HALF = [
    (heard({"output": [{"text": "Hi."}]}), "bad-reply", "a part of it has no `choices`"),
    (
        heard({"choices": [{"text": "Hi.", "index": 0, "finish_reason": "stop"}]}),
        "bad-reply",
        "in `text`, and not in `content`",
    ),
    (heard(chunk({"words": "Hi."}), STOP), "bad-reply", "in `words`, and not in `content`"),
    (
        heard(chunk({"audio": {"data": "AA"}}), STOP),
        "bad-reply",
        "in `audio`, and not in `content`",
    ),
    (heard({"choices": [{"index": 0, "delta": "Hi."}]}), "bad-reply", "its events lack"),
    (heard(chunk({"content": [{"type": "audio"}]}), STOP), "bad-reply", "parts that are no text"),
    (heard(HI), "bad-reply", "it has no `finish_reason`"),
    (heard(chunk({"content": "Hi."}, "eos")), "bad-reply", "its `finish_reason` is `eos`"),
    (heard(chunk({}, "tool_calls")), "bad-reply", "it calls a tool, and calls none"),
    (heard(call(arguments="{}"), STOP), "bad-reply", "calls a tool without a name"),
    (heard(call(name="look", arguments="{'a': 1}"), STOP), "bad-reply", "no whole JSON"),
    (
        heard({"choices": [{"index": 1, "delta": {"content": "Hi."}}]}),
        "bad-reply",
        "several `choices`",
    ),
    (heard(chunk({"content": "<tool_call>{}"}), STOP), "bad-reply", "written as text"),
    (
        heard(chunk({"content": '{"name": "look", "arguments": {}}'}), STOP),
        "bad-reply",
        "written as text",
    ),
    (heard(HI, {"error": {"message": "CUDA", "code": 500}}), "model-failed", "answered 500: CUDA"),
    (heard(HI, {"error": "out of memory"}), "model-failed", "answered 500: out of memory"),
    (heard({"error": {"message": "slow", "type": "rate_limit_exceeded"}}), "model-busy", "slow"),
    ({"status": 400, "message": "model `m` does not exist"}, "model-not-found", "does not exist"),
    (
        {"status": 404, "body": {"error": "model 'm' not found, try pulling it"}},
        "model-not-found",
        "try pulling it",
    ),
    ({"status": 404, "body": {"detail": "Not Found"}}, "model-not-found", "Not Found"),
    (
        {"status": 400, "message": "this model has no `unknown_key`"},
        "model-refused-request",
        "unknown_key",
    ),
    ({"status": 401, "body": {"message": "who are you?"}}, "bad-key", "who are you?"),
    ({"status": 429, "type": "insufficient_quota"}, "bad-key", "answered 429"),
    (
        {"status": 400, "message": "tools is not supported by this model"},
        "model-refused-request",
        "tools is not",
    ),
]
LOOK = {"name": "look", "input_schema": {"type": "object"}}


@pytest.mark.parametrize(("item", "code", "words"), HALF, ids=map(str, range(len(HALF))))
def test_half_a_protocol_is_one_named_error(item, code, words):
    """And its bill is right, or said to be unknown."""
    with chat_server(item) as server:
        model = f"openai:{server.url}#m"
        error = error_of(asked(model, {**ASK, "tools": (LOOK,)}, retries=ONCE))

    assert error["details"]["code"] == code
    assert words in error["message"]
    assert error["content"] in (None, "Hi.") or "written as text" in words
    if code == "bad-reply":
        usage = error["details"]["usage"]
        assert usage in ({"input_tokens": 7, "output_tokens": 3}, {"uncounted": 1})
    elif "Hi." in str(item):
        assert error["details"]["usage"] == {"uncounted": 1}


GOOD = [
    (heard(HI, STOP, usage=False), None),
    (heard({"choices": [{"message": {"content": "Hi."}, "finish_reason": "stop"}]}), 7),
    (heard(chunk({"content": "Hi."}, usage={"prompt_tokens": 5, "completion_tokens": 1}), STOP), 7),
    (heard(": alive\n\n", chunk({"content": [{"type": "text", "text": "Hi."}]}), STOP), 7),
    ({"events": [data(HI), data(STOP)]}, None),
]


@pytest.mark.parametrize(("item", "taken"), GOOD, ids=map(str, range(len(GOOD))))
def test_what_is_certain_is_read(item, taken):
    """A server that does not count, sends a whole message, counts each part, or has no last
    line."""
    with chat_server(item) as server:
        reply = asked(f"openai:{server.url}#m").value

    assert (reply["content"][0]["text"], reply["stop_reason"]) == ("Hi.", "end_turn")
    assert (reply["usage"] and reply["usage"]["input_tokens"]) == taken


def parts(*calls):
    return heard(*[chunk({"tool_calls": [each]}) for each in calls], STOP)


CALLS = [
    parts({"index": 0, "function": {"name": "look", "arguments": '{"a": 1}'}}),
    parts(
        {"id": "x", "function": {"name": "look", "arguments": '{"a"'}},
        {"function": {"arguments": ": 1}"}},
    ),
    parts(
        {"index": 0, "id": "x", "function": {"arguments": '{"a"'}},
        {"index": 0, "function": {"name": "look", "arguments": ": 1}"}},
    ),
    parts({"index": 0, "function": {"name": "look", "arguments": {"a": 1}}}),
    heard(
        chunk({"function_call": {"name": "look", "arguments": '{"a": 1}'}}),
        chunk({}, "function_call"),
    ),
]


@pytest.mark.parametrize("item", CALLS, ids=map(str, range(len(CALLS))))
def test_calls_of_other_servers_are_read(item):
    """Without an id, without an index, with the name behind, with a table, by an old name."""
    with chat_server(item) as server:
        first, again = (asked(f"openai:{server.url}#m").value for _ in range(2))
    (block,) = first["content"]

    assert (block["name"], block["input"], first["stop_reason"]) == ("look", {"a": 1}, "tool_use")
    assert block["id"] and first == again


def test_calls_whose_parts_alternate_are_told_apart():
    """Also when a character is divided between the parts of one."""
    texts = ['{"a": "\ud83d', '{"a": "1', '\ude00"}', '"}']
    each = [{"index": at % 2, "function": {"arguments": text}} for at, text in enumerate(texts)]
    begun = [{"index": at, "id": f"t{at}", "function": {"name": "look"}} for at in range(2)]
    with chat_server(parts(*begun, *each)) as server:
        reply = asked(f"openai:{server.url}#m").value

    assert [block["input"] for block in reply["content"]] == [{"a": "\U0001f600"}, {"a": "1"}]


def test_the_other_protocol_is_named_with_what_to_type():
    """Whichever of the two was meant."""
    with MessagesServer("x") as server:
        meant = error_of(asked(f"openai:{server.url}/v1#m"))
    with chat_server("x") as other:
        other_way = error_of(asked(f"{other.url}#m"))

    assert "it is one of the Messages protocol" in meant["message"]
    assert f"write --model '{server.url}/v1#m'" in meant["hint"]
    with chat_server({"status": 404}) as third:
        unknown = error_of(asked(f"{third.url}#m"))
    assert f"OpenAI protocol, write --model 'openai:{third.url}#m'" in unknown["hint"]
    assert "it is one of the OpenAI protocol" in other_way["message"]
    assert f"write --model 'openai:{other.url}#m'" in other_way["hint"]


def test_a_wrong_name_is_told_the_names_that_are_there():
    with chat_server({"status": 404, "body": {"error": "no such model"}}) as server:
        error = error_of(asked(f"openai:{server.url}#m"))

    assert "the server has `small`, `large`" in error["hint"]
    assert f"write --model 'openai:{server.url}#small'" in error["hint"]


def test_a_server_that_is_not_there_is_told_what_to_type():
    error = error_of(asked("openai:http://127.0.0.1:1#m"))

    assert error["details"]["code"] == "no-connection"
    assert "--model openai:http://127.0.0.1:11434/v1#llama3.2" in error["hint"]


@pytest.mark.parametrize(
    ("key", "words"), [("", "export OPENAI_API_KEY"), ("sk-0123456789ab", "check OPENAI_API_KEY")]
)
def test_a_refused_key_is_told_what_to_type(monkeypatch, key, words):
    monkeypatch.setenv("OPENAI_API_KEY", key)
    with chat_server({"status": 401}) as server:
        assert words in error_of(asked(f"openai:{server.url}#m"))["hint"]


def test_more_text_than_a_model_takes_is_told_in_the_words_of_each_server():
    words = [
        "This model's maximum context length is 8192 tokens. However, you requested 9005 tokens",
        "request (9005 tokens) exceeds the available context size (8192 tokens), try increasing it",
    ]
    for each in words:
        with chat_server({"status": 400, "message": each}) as server:
            error = error_of(asked(f"openai:{server.url}#m"))

        assert (error["reason"], error["details"]["metrics"]) == (
            "context",
            {"used": 9005, "limit": 8192},
        )


def test_a_stream_without_end_is_ended():
    """Of whole parts, which all are right."""
    endless = {"events": [data(chunk({"content": "word "}))] * 20_000}
    with chat_server(endless) as server:
        error = error_of(asked(f"openai:{server.url}#m", endpoint=BOUNDED))

    assert (error["details"]["code"], error["details"]["attempts"]) == ("bad-reply", 1)
    assert json.dumps("word ") not in error["message"] and "too large" in error["message"]
