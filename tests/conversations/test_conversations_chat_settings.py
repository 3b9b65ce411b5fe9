"""The settings of a model's calls in the OpenAI protocol: what is sent, and what is refused."""

import pytest

from sexplang.runtime import Refusal
from sexplang.runtime.models.adapters.chat_request import build_chat_body
from sexplang.runtime.models.adapters.messages import build_body
from sexplang.terms.model.payload import OPTIONS

HELLO = {"messages": [{"role": "user", "content": "Hello"}]}
TOOL = {"name": "look_up", "input_schema": {"type": "object"}}

CHAT = {
    "temperature": (0.5, {"temperature": 0.5}),
    "top_p": (0.5, {"top_p": 0.5}),
    "seed": (7, {"seed": 7}),
    "stop_sequences": (["END"], {"stop": ["END"]}),
    "effort": ("low", {"reasoning_effort": "low"}),
    "tool_choice": (
        "look_up",
        {"tool_choice": {"type": "function", "function": {"name": "look_up"}}},
    ),
    "metadata": ({"user_id": "u"}, {"metadata": {"user_id": "u"}}),
    "cache": (False, {}),
    "service_tier": ("flex", {"service_tier": "flex"}),
    "provider": ({"min_p": 0.1}, {"min_p": 0.1}),
}
CHAT_LACKS = {"top_k": 3, "thinking": 2000, "cache": "1h", "provider": {"betas": ["fast-1"]}}


@pytest.mark.parametrize("key", [*CHAT])
def test_a_setting_goes_to_a_server_of_the_openai_protocol(key):
    """And nothing else changes."""
    value, more = CHAT[key]
    asked = HELLO | ({"tools": [TOOL]} if key == "tool_choice" else {})
    plain, made = (
        build_chat_body(each, "m", is_provider=False) for each in (asked, {**asked, key: value})
    )

    assert plain | more == made


@pytest.mark.parametrize("key", [*CHAT_LACKS])
def test_the_openai_protocol_refuses_a_setting_that_it_lacks_by_name(key):
    with pytest.raises(Refusal) as refused:
        build_chat_body({**HELLO, key: CHAT_LACKS[key]}, "m", is_provider=True)

    error = refused.value.error.fields
    name = "betas" if key == "provider" else key
    assert f"the OpenAI protocol has no `{name}`" == error["message"]
    assert "another --model" in error["hint"]
    assert {*CHAT, *CHAT_LACKS} == {*OPTIONS}


@pytest.mark.parametrize(
    ("choice", "body"),
    [
        ("auto", {"tool_choice": "auto"}),
        ("any", {"tool_choice": "required"}),
        ("none", {"tool_choice": "none"}),
        (
            {"type": "auto", "disable_parallel_tool_use": True},
            {"tool_choice": "auto", "parallel_tool_calls": False},
        ),
    ],
    ids=str,
)
def test_a_choice_of_tools_in_the_openai_protocol(choice, body):
    made = build_chat_body({**HELLO, "tools": [TOOL], "tool_choice": choice}, "m", is_provider=True)

    assert body.items() <= made.items()


def test_openai_itself_has_its_own_name_for_the_length_of_a_reply():
    """And is strict with schemas that name all their fields as required alone."""
    fields = {"type": "object", "properties": {"n": {"type": "integer", "minimum": 1}}}
    asked = {**HELLO, "max_tokens": 9, "output_schema": {**fields, "required": ["n"]}}
    own = build_chat_body(asked, "m", is_provider=True)
    other = build_chat_body(asked, "m", is_provider=False)
    loose = build_chat_body({**asked, "output_schema": fields}, "m", is_provider=True)

    assert (own["max_completion_tokens"], other["max_tokens"]) == (9, 9)
    own, other, loose = (each["response_format"]["json_schema"] for each in (own, other, loose))
    assert (own["strict"], own["schema"]["additionalProperties"]) == (True, False)
    assert (other["strict"], other["schema"]) == (True, asked["output_schema"])
    assert (loose["strict"], loose["schema"]) == (False, fields)


def test_what_another_model_thought_goes_to_neither_protocol():
    """A signature is a server's own: only thinking that has one goes back."""
    thought = {"type": "thinking", "thinking": "Hm."}
    said = [thought, {"type": "text", "text": "Yes."}]
    turns = [*HELLO["messages"], {"role": "assistant", "content": said}, *HELLO["messages"]]
    signed = [{**thought, "signature": "s"}, said[1]]
    own = [turns[0], {"role": "assistant", "content": signed}, turns[2]]

    assert build_body({"messages": turns}, "m")["messages"][1]["content"] == said[1:]
    assert build_body({"messages": own}, "m")["messages"][1]["content"] == signed
    chat = build_chat_body({"messages": own}, "m", is_provider=False)["messages"]
    assert chat[1] == {"role": "assistant", "content": "Yes."}


def test_results_of_tools_have_messages_of_their_own():
    """An error says so, and an image follows where the protocol takes it."""
    image = {"type": "image", "source": {"type": "url", "url": "http://h/a.png"}}
    results = [
        {"type": "tool_result", "tool_use_id": "1", "content": "none", "is_error": True},
        {"type": "tool_result", "tool_use_id": "2", "content": [image]},
        {"type": "text", "text": "Go on."},
    ]
    made = build_chat_body(
        {"messages": [{"role": "user", "content": results}]}, "m", is_provider=False
    )
    first, second, third = made["messages"]

    assert first == {"role": "tool", "tool_call_id": "1", "content": "Error: none"}
    assert (second["role"], second["tool_call_id"]) == ("tool", "2")
    assert "What this result shows follows." in second["content"]
    label, shown, words = third["content"]
    assert "the result of 2" in label["text"]
    assert shown == {"type": "image_url", "image_url": {"url": "http://h/a.png"}}
    assert words == {"type": "text", "text": "Go on."}


LACKING = [
    ({"tools": [{"type": "web_search_1", "name": "web"}]}, "no tool of the type `web_search_1`"),
    ({"tools": [{**TOOL, "defer_loading": True}]}, "no `defer_loading` in the tool `look_up`"),
    (
        {"system": [{"type": "text", "text": "x", "cache_control": {}}]},
        "no `cache_control` in a text",
    ),
    ({"tools": [TOOL], "tool_choice": {"type": "odd"}}, "the type `odd`"),
    ({"provider": {"stop": "x"}, "stop_sequences": ["y"]}, "`provider` sets `stop`"),
]


@pytest.mark.parametrize(("more", "words"), LACKING, ids=[words for _, words in LACKING])
def test_what_the_protocol_lacks_is_refused_by_name(more, words):
    with pytest.raises(Refusal, match=words):
        build_chat_body({**HELLO, **more}, "m", is_provider=False)
