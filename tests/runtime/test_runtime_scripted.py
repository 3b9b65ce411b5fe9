"""Scripted models: a file of replies, taken in order or by rule."""

import json

import pytest
from runtime_support import ASK, asked, begun, perform, request, seq, table
from support.running import error_of

import sexplang
from sexplang.runtime import Refusal, drive
from sexplang.runtime.models.adapters.scripted import read_script, read_scripted_model


def script(tmp_path, data):
    file = tmp_path / "script.json"
    file.write_text(data if isinstance(data, str) else json.dumps(data))
    return f"scripted:{file}"


def said(model, payload=ASK, task=None):
    reply = (
        read_scripted_model(model.removeprefix("scripted:")) if isinstance(model, str) else model
    )
    return reply(payload, request("model", payload, task=task))["content"]


def test_replies_are_taken_in_order_for_each_task(tmp_path):
    """Each task has the list from its beginning."""
    model = read_scripted_model(script(tmp_path, ["one", "two"]).removeprefix("scripted:"))
    texts = [said(model, {**ASK, "task": task})[0]["text"] for task in ("a", "b", "a", "b")]

    assert ["one", "one", "two", "two"] == texts


def test_the_first_rule_that_fits_replies(tmp_path):
    """By task, by words of the request, a number of times."""
    rules = [
        {"task": "greet", "reply": "hello", "times": 1},
        {"contains": "weather", "reply": "sunny"},
        {"reply": "whatever"},
    ]
    model = read_scripted_model(script(tmp_path, rules).removeprefix("scripted:"))
    weather = {"messages": [{"role": "user", "content": "the weather?"}]}
    texts = [
        said(model, ASK, "greet"),
        said(model, ASK, "greet"),
        said(model, weather),
        said(model, {**ASK, "system": "about weather"}),
    ]

    assert ["hello", "whatever", "sunny", "sunny"] == [text[0]["text"] for text in texts]


def test_a_reply_may_call_tools_or_be_blocks(tmp_path):
    """Calls get an id that follows from the request's identity."""
    replies = [
        {"tool_use": {"name": "look", "input": {"at": 1}}},
        [{"type": "text", "text": "a"}, {"type": "tool_use", "name": "look", "input": {}}],
        {"text": "b", "usage": {"input_tokens": 5}},
    ]
    model = script(tmp_path, replies)
    outcome = drive(
        begun(seq(perform("model", ASK), perform("model", ASK), perform("model", ASK))),
        table(model=model),
    )
    call = said(model)[0]

    assert ("tool_use", "look", {"at": 1}) == (call["type"], call["name"], call["input"])
    assert call["id"] == said(model)[0]["id"]
    assert {"input_tokens": 5, "output_tokens": 0} == outcome.value["usage"]


def test_a_scripted_error_fails_as_a_models(tmp_path):
    """With its type; it is not tried again."""
    error = error_of(asked(script(tmp_path, [{"error": "overloaded_error"}, "not this"])))

    assert ("llm_error", "overloaded_error") == (error["reason"], error["details"]["type"])


@pytest.mark.parametrize(
    "data",
    [["only one"], [{"contains": "other", "reply": "x"}], []],
    ids=["list", "rules", "empty"],
)
def test_when_nothing_fits_the_request_is_shown(tmp_path, data):
    """`script-mismatch` says what was asked."""
    model = script(tmp_path, data)
    program = begun(seq(perform("model", ASK), perform("model", ASK)))
    error = error_of(drive(program, table(model=model)))

    assert "script-mismatch" == error["reason"]
    assert "Hello?" in error["message"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[1,", "line 1, column 4"),
        ('{"a": 1}', "not a list"),
        ("[3]", "item 1"),
        ('["x", {"reply": "y"}]', "item 1 is a reply"),
        ('[{"reply": "x", "task": 3}]', "`task` is not a str"),
        ('[{"reply": "x", "contians": "y"}]', "contians"),
        ('[{"tool_use": "look"}]', "`tool_use` is not a table such as"),
        ('[{"text": "x", "error": "y"}]', "exactly one of"),
        ('[{"tool_use": []}]', "`tool_use`"),
        ('[{"text": "x", "usage": {"input_tokens": "three"}}]', "`input_tokens` is not a whole"),
        ('[{"reply": "x", "usage": {"output_tokens": true}}]', "`output_tokens` is not a whole"),
        ('[{"text": "x", "stop_reason": 3}]', "`stop_reason` is not a string"),
        ('[{"text": "x", "text": "y"}]', "the key `text` twice"),
        ('[{"tool_use": {"name": "f", "input": {"a": 1, "a": 1}}}]', "the key `a` twice"),
        ("[" * 100_000, "nested"),
        (f"[{'9' * 5_000}]", "integer of more than 4,300 digits"),
        ("\udcff", "UTF-8"),
    ],
)
def test_a_malformed_script_is_refused_with_its_place(tmp_path, text, words):
    """Before anything of it is used."""
    file = tmp_path / "script.json"
    file.write_bytes(text.encode("utf-8", "surrogateescape"))

    with pytest.raises(Refusal) as raised:
        read_script(str(file))

    assert "bad-script" == raised.value.error.fields["reason"]
    assert words in raised.value.error.fields["message"]


def test_a_byte_order_mark_is_skipped(tmp_path):
    """As it is at the start of a program."""
    file = tmp_path / "script.json"
    file.write_bytes('\ufeff["x"]'.encode())

    assert ["x"] == read_script(str(file))


def test_a_missing_script_is_refused():
    """With the reason that the system gives."""
    assert "bad-script" == error_of(asked("scripted:/nowhere.json"))["reason"]


TYPED = """(defatom sort (params (text string)) (instructions "Sort {{text}}")
  (returns {label: string})) (sort "a")"""


@pytest.mark.parametrize("usage", [{}, {"usage": {"output_tokens": 2}}])
def test_a_table_below_reply_is_the_json_of_a_typed_task(usage):
    rules = [{"task": "sort", "reply": {"label": "späm"}, **usage}]
    assert {"label": "späm"} == sexplang.run(TYPED, model=rules)
    both = TYPED.replace("{label: string}", "{label: string text: string}")
    said = {"label": "spam", "text": "Buy!"}  # `text` is a key of replies too
    assert said == sexplang.run(both, model=[{"task": "sort", "reply": said, **usage}])
    pair = TYPED.replace("{label: string}", "[string]")
    assert ["a", "b"] == sexplang.run(pair, model=[{"reply": ["a", "b"]}])


def test_a_list_of_blocks_below_reply_is_blocks():
    assert "x" == sexplang.run(
        '(get-in (model {messages: [{role: "user" content: "a"}]}) ["content" 0 "text"])',
        model=[{"reply": [{"type": "text", "text": "x"}]}],
    )


@pytest.mark.parametrize("reply", [{"label": "spam"}, ["a"], 3, None])
def test_a_function_that_returns_no_reply_is_named(reply):
    def classify(payload):
        return reply

    with pytest.raises(sexplang.Failed) as raised:
        sexplang.run(TYPED, model=classify)
    assert "the function `classify` returned" in str(raised.value)
    assert "item 1" not in str(raised.value)
    assert 'return the reply as text (json.dumps(…)) or {"text": …}' in str(raised.value)
