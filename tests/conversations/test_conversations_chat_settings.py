"""The settings of a model's calls in the OpenAI protocol: what is sent, and what is refused."""

import pytest

from sexplang.runtime import Refusal
from sexplang.runtime.models.adapters.chat_request import build_chat_body
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
