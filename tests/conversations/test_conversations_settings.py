"""The settings of a model's calls: who sets them, what is sent of them, and who refuses them."""

import json

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from support.messages_server import MessagesServer

import sexplang
from sexplang.runtime import Refusal
from sexplang.runtime.models.adapters.local_request import build_request as engine_request
from sexplang.runtime.models.adapters.messages import build_body
from sexplang.runtime.models.payload_check import check_payload
from sexplang.tasks.prompt.window import output
from sexplang.templates.xml.template_reader import read_templates
from sexplang.terms.model.payload import OPTIONS, PAYLOAD
from sexplang.terms.source import Source
from sexplang.terms.values.boundary import plain

ASK = "(define-input p type: json) (model p)"
HELLO = {"messages": [{"role": "user", "content": "Hello"}]}
USUAL = {"model": "m", "max_tokens": 4096, "stream": True, **HELLO}
TOOL = {"name": "look_up", "input_schema": {"type": "object"}}
MARK = {"type": "ephemeral"}

WIRE = [
    ("temperature", 0, {"temperature": 0}),
    ("temperature", 0.2, {"temperature": 0.2}),
    ("top_p", 0.9, {"top_p": 0.9}),
    ("top_k", 40, {"top_k": 40}),
    ("stop_sequences", ["END", "\n\n"], {"stop_sequences": ["END", "\n\n"]}),
    ("thinking", True, {"thinking": {"type": "adaptive"}}),
    ("thinking", False, {"thinking": {"type": "disabled"}}),
    ("thinking", 2000, {"thinking": {"type": "enabled", "budget_tokens": 2000}}),
    (
        "thinking",
        8000,
        {"thinking": {"type": "enabled", "budget_tokens": 8000}, "max_tokens": 12096},
    ),
    ("thinking", {"type": "between_tools"}, {"thinking": {"type": "between_tools"}}),
    ("effort", "low", {"output_config": {"effort": "low"}}),
    ("tool_choice", "any", {"tool_choice": {"type": "any"}}),
    ("tool_choice", "look-up:all", {"tool_choice": {"type": "tool", "name": "look-up_all"}}),
    ("tool_choice", {"type": "none"}, {"tool_choice": {"type": "none"}}),
    ("metadata", {"user_id": "u"}, {"metadata": {"user_id": "u"}}),
    ("cache", True, {"cache_control": MARK}),
    ("cache", "1h", {"cache_control": {**MARK, "ttl": "1h"}}),
    ("cache", False, {}),
    ("service_tier", "auto", {"service_tier": "auto"}),
    ("provider", {"speed": "fast", "betas": ["fast-1"]}, {"speed": "fast"}),
]
"""A setting, and what it adds to the body that a server of the Messages protocol gets."""


@pytest.mark.parametrize(("key", "value", "body"), WIRE, ids=lambda part: json.dumps(part)[:40])
def test_a_setting_goes_over_the_wire(key, value, body):
    """As the protocol has it, and nothing else changes. A choice of tools comes with them."""
    offered = {"tools": [{**TOOL, "name": "look-up_all"}]} if key == "tool_choice" else {}
    kept = {"cache": False} if offered else {}
    with MessagesServer("ok") as server:
        asked = {**HELLO, **offered, **kept, key: value}
        sexplang.run(ASK, inputs={"p": asked}, model=f"{server.url}#m")

    assert [USUAL | offered | body] == server.journal


def test_each_setting_has_a_row_at_the_wire():
    """But for the one that the protocol has not, which is refused by name."""
    with MessagesServer("ok") as server, pytest.raises(sexplang.Failed) as failed:
        sexplang.run(ASK, inputs={"p": {**HELLO, "seed": 3}}, model=server.url)

    assert {*OPTIONS} - {"seed"} == {key for key, _, _ in WIRE}
    assert "the Messages protocol has no `seed`" in str(failed.value)
    assert [] == server.journal


ENGINE = {
    "temperature": (0.5, {"temperature": 0.5}),
    "top_p": (0.5, {"top_p": 0.5}),
    "top_k": (3, {"top_k": 3}),
    "seed": (7, {"seed": 7}),
    "stop_sequences": (["END"], {"stop": ["END"]}),
    "tool_choice": ("auto", {}),
}
LACKS = {
    "thinking": 2000,
    "effort": "low",
    "metadata": {"user_id": "u"},
    "cache": True,
    "service_tier": "auto",
    "provider": {"grammar": "x"},
}


@pytest.mark.parametrize("key", [*ENGINE])
def test_the_local_model_takes_a_setting(key):
    value, more = ENGINE[key]

    plain, made = engine_request(HELLO), engine_request({**HELLO, key: value})

    assert plain | more == {name: made[name] for name in plain | more}


@pytest.mark.parametrize("key", [*LACKS])
def test_the_local_model_refuses_a_setting_that_it_lacks_by_name(key):
    with pytest.raises(Refusal) as refused:
        engine_request({**HELLO, key: LACKS[key]})

    assert f"the local model has no `{key}`" == refused.value.error.fields["message"]
    assert {*ENGINE, *LACKS} == {*OPTIONS}


def test_what_is_off_is_nothing_to_the_local_model():
    assert engine_request(HELLO) == engine_request({**HELLO, "thinking": False, "cache": False})


@given(st.text(max_size=50).filter(lambda key: key not in PAYLOAD), st.sampled_from([0, "x", None]))
@example("maxtokens", 3)
@example("temprature", None)
@example("Temperature", 0)
def test_an_unknown_key_is_refused(key, value):
    """Whatever it is, and whatever it holds."""
    with pytest.raises(Refusal) as refused:
        check_payload({**HELLO, key: value})

    error = refused.value.error.fields
    assert ("protocol_error", "bad-payload") == (error["reason"], error["details"]["code"])
    assert "did you mean `" in error["hint"] or "`provider: {" in error["hint"]


SLIPS = {
    "maxtokens": "max_tokens",
    "maxTokens": "max_tokens",
    "max_output_tokens": "max_tokens",
    "temprature": "temperature",
    "top-p": "top_p",
    "topK": "top_k",
    "stop": "stop_sequences",
    "stop_sequence": "stop_sequences",
    "toolChoice": "tool_choice",
    "reasoning_effort": "effort",
    "cache_control": "cache",
    "output_config": "effort",
    "response_format": "output_schema",
    "message": "messages",
}


@pytest.mark.parametrize("key", [*SLIPS])
def test_a_slip_is_told_what_was_meant(key):
    with pytest.raises(Refusal) as refused:
        check_payload({**HELLO, key: 1})

    assert f"did you mean `{SLIPS[key]}`?" == refused.value.error.fields["hint"]


MISFITS = [
    ("temperature", -0.1, "a number from 0 to 2"),
    ("temperature", True, "a number from 0 to 2"),
    ("temperature", "low", "a number from 0 to 2"),
    ("top_p", 1.1, "a number from 0 to 1"),
    ("top_k", 0, "a whole number"),
    ("top_k", 2.0, "a whole number"),
    ("seed", 2**32, "a whole number"),
    ("stop_sequences", "END", "a list of texts"),
    ("stop_sequences", [], "a list of texts"),
    ("stop_sequences", [""], "a list of texts"),
    ("thinking", 1023, "from 1024"),
    ("thinking", {}, "with a type"),
    ("effort", "most", "one of low"),
    ("effort", ["low"], "one of low"),
    ("tool_choice", "", "the name of a tool"),
    ("metadata", {"user_id": 3}, "a table of texts"),
    ("cache", "2h", '"5m" or "1h"'),
    ("cache", 1, '"5m" or "1h"'),
    ("service_tier", 1, "tier"),
    ("provider", "fast", "a table"),
    ("provider", {"messages": []}, "may not hold `messages`"),
    ("provider", {"model": "x"}, "may not hold `model`"),
    ("provider", {"stream": False}, "may not hold `stream`"),
    ("provider", {"temperature": 1}, "may not hold `temperature`"),
    ("provider", {"betas": ["a\r\nx-api-key: b"]}, "a list of names"),
    ("max_tokens", 1.5, "a whole number"),
]


@pytest.mark.parametrize(("key", "value", "words"), MISFITS, ids=repr)
def test_a_value_that_does_not_fit_is_refused(key, value, words):
    with pytest.raises(Refusal) as refused:
        check_payload({**HELLO, key: value})

    message = refused.value.error.fields["message"]
    assert message.startswith(f"`{key}` in the payload of `model` ")
    assert words in message


def test_the_open_door_opens_nothing_else():
    """No key, no address, no header but the one for betas; and no setting that is said already."""
    door = {"x-api-key": "k", "headers": {"x-api-key": "k"}, "base_url": "http://other"}
    door = {**door, "betas": ["one-2025", "two"], "output_config": {"task_budget": 3}}
    with MessagesServer("ok") as server:
        payload = {**HELLO, "effort": "low", "provider": door}
        sexplang.run(ASK, inputs={"p": payload}, model=f"{server.url}#m")
    with pytest.raises(Refusal) as refused:
        build_body(
            {**HELLO, "effort": "low", "provider": {"output_config": {"effort": "max"}}}, "m"
        )

    (body,), (headers,) = server.journal, server.headers
    assert "one-2025,two" == headers["anthropic-beta"]
    assert "k" not in headers.values()
    assert {"effort": "low", "task_budget": 3} == body["output_config"]
    assert USUAL == {key: body[key] for key in USUAL}
    assert "`provider` sets `output_config`" in refused.value.error.fields["message"]


AGENT = """
(defatom agent
  (params q)
  (instructions "{{q}}")
  (allowed_tools look_up)
  (options temperature: 0 effort: low thinking: 2000 tool_choice: look_up))
"""
THOUGHT = {"type": "thinking", "thinking": "I look it up.", "signature": "c2ln"}
CALL = {"type": "tool_use", "id": "toolu_1", "name": "look_up", "input": {"order": 17}}


def look_up(order: int) -> str:
    """Looks an order up."""
    return "tea"


def test_the_options_of_a_task_are_in_each_of_its_requests():
    """What the model thought before it called a tool goes back with its signature. A model that had
    to call one may answer then."""
    with MessagesServer({"content": [THOUGHT, CALL], "stop_reason": "tool_use"}, "Tea.") as server:
        said = sexplang.run(f'{AGENT} (agent "What?")', model=server.url, tools=[look_up])

    first, second = server.journal
    assert "Tea." == said
    for body in server.journal:
        assert (0, {"effort": "low"}) == (body["temperature"], body["output_config"])
        assert {"type": "enabled", "budget_tokens": 2000} == body["thinking"]
    assert {"type": "tool", "name": "look_up"} == first["tool_choice"]
    assert "tool_choice" not in second
    assert [THOUGHT, CALL] == second["messages"][1]["content"]


def test_an_option_of_a_call_wins_over_that_of_the_template():
    """One by one, also in the request of a subtask."""
    program = f"""{AGENT}
    (call-atomic-task 'agent inputs: {{q: "a"}} options: {{temperature: 1 top_p: 0.5 effort: nil}})
    (subtask {{name: "agent" inputs: {{q: "b"}} options: {{effort: 'high}}}})"""
    with MessagesServer("ok") as server:
        sexplang.run(program, model=server.url, tools=[look_up])

    call, subtask = server.journal
    assert (1, 0.5, {"effort": "low"}) == (
        *(call[key] for key in ("temperature", "top_p")),
        call["output_config"],
    )
    assert (0, {"effort": "high"}) == (subtask["temperature"], subtask["output_config"])


def test_a_model_sets_no_options():
    """What a model asks a subtask to be asked with is left out, and noted."""
    program = """
    (defatom child (params q) (instructions "{{q}}") (options temperature: 0))
    (defatom parent (instructions "Go.") (allowed_tools spawn_subtask))
    (call-task parent)"""
    wish = {"description": "x", "name": "child", "inputs": {"q": "x"}, "options": {"effort": "max"}}
    use = {"tool_use": {"name": "spawn_subtask", "input": wish}}
    with MessagesServer(use, "child", "done") as server:
        result = sexplang.run(program, model=server.url)

    assert "output_config" not in server.journal[1]
    assert "a subtask request has no field `options`; it was left out" in result.notes["warnings"]


LONG = "Be kind. " * 500


def marks(payload):
    """What of a request is marked to be kept: its opening, and all of it."""
    body = build_body({**HELLO, **payload}, "m")
    system = body.get("system")
    opening = system[0].get("cache_control") if isinstance(system, list) else None
    return opening, body.get("cache_control")


def test_what_is_long_is_marked_to_be_kept():
    """A system prompt at once, a conversation when it goes on; tools always."""
    talk = [{"role": "user", "content": LONG}, {"role": "assistant", "content": "Yes."}]
    talk = [*talk, {"role": "user", "content": "Go on."}]

    assert (None, None) == marks({"system": "Be kind."})
    assert (MARK, None) == marks({"system": LONG})
    assert (None, None) == marks({"messages": talk[:1]})
    assert (None, MARK) == marks({"messages": talk})
    assert (MARK, MARK) == marks({"system": LONG, "messages": talk})
    assert (MARK, MARK) == marks({"system": "Be kind.", "tools": [TOOL]})
    assert (MARK, MARK) == marks({"system": "Be kind.", "cache": True})
    assert ({**MARK, "ttl": "1h"},) * 2 == marks({"system": "Be kind.", "cache": "1h"})
    assert (None, None) == marks(
        {"system": LONG, "messages": talk, "tools": [TOOL], "cache": False}
    )


@pytest.mark.parametrize(
    ("model", "most"),
    [
        ("claude-sonnet-5-5", 40_000),
        ("claude-opus-4-1", 32_000),
        ("claude-3-5-haiku-latest", 8_192),
        ("claude-3-haiku", 4_096),
        ("local", 1_024),
        ("mine", 4_096),
    ],
)
def test_a_reply_is_as_long_as_its_model_can_write(model, most):
    """Where nobody says how long: at most the part of its window that is left."""
    assert most == output(model)
    if model != "local":
        assert most == build_body(HELLO, model)["max_tokens"]
    else:
        assert most == engine_request(HELLO)["max_tokens"]
    assert 7 == build_body({**HELLO, "max_tokens": 7}, model)["max_tokens"]


CHECKED = {
    '(model {messages: [{role: "user" content: "x"}] maxtokens: 3})': "no key `maxtokens`",
    '(model {messages: [{role: "user" content: (read-file "a")}] temperature: 3})': "`temperature`",
    "(define (f t) (perform model {messages: t provider: {model: 3}})) (f [])": "may not hold",
}


@pytest.mark.parametrize("program", [*CHECKED])
def test_check_finds_what_the_text_shows(program):
    found = [each for each in sexplang.check(program) if each.code == "bad-payload"]

    assert 1 == len(found)
    assert CHECKED[program] in found[0].title


def test_a_program_that_answers_model_has_payloads_of_its_own():
    program = """
    (handle (model {question: "x"})
      ((model payload) resume (resume payload.question)))"""

    assert "x" == sexplang.run(program)
    assert [] == [each.code for each in sexplang.check(program)]


def test_a_recording_is_repeated_with_the_options_it_was_made_with(tmp_path):
    """They are in the request, and so in its digest; how long a reply may be is its model's own, so
    the model need not be there."""
    program = '(defatom t (instructions "Hello.") (options temperature: 0)) (t)'
    path = str(tmp_path / "run.jsonl")
    with MessagesServer("Good day.") as server:
        sexplang.run(program, model=f"{server.url}#claude-sonnet-5-5", record=path)
    again = sexplang.run(program, model=f"replay:{path}")
    with pytest.raises(sexplang.Failed) as failed:
        sexplang.run(program.replace("temperature: 0", "temperature: 1"), model=f"replay:{path}")

    assert 40_000 == server.journal[0]["max_tokens"]
    assert "Good day." == again
    assert "journal-mismatch" == failed.value.reason


def found(program):
    """What `check` says of a program: code, title and hint of each."""
    return [(each.code, each.title, each.hint) for each in sexplang.check(program)]


ELSEWHERE = {
    "model": '(model "x")',
    "system": '(system "x")',
    "max_tokens": "(limits max_output_tokens: 5)",
    "max_output_tokens": "(limits max_output_tokens: 5)",
    "timeout": "(limits timeout: 5)",
    "tools": "(allowed_tools read_file)",
    "output_schema": "(returns string)",
}


@pytest.mark.parametrize("key", [*ELSEWHERE])
def test_a_key_that_is_no_setting_is_told_its_clause(key):
    """In `options` and in `provider`, of a task and of a call; the clause is one."""
    clause = ELSEWHERE[key].split()[0]
    task = '(defatom a (instructions "x") {})'
    call = task.format("") + f" (call-atomic-task 'a options: {{{key}: 5}})"
    ((code, _, hint),) = found(task.format(f"(options {key}: 5)"))
    with pytest.raises(sexplang.Failed) as failed:
        sexplang.run(call, model=["ok"])

    assert "unknown-clause" == code
    assert f"write `{clause} " in hint
    assert f"write `{clause} " in str(failed.value)
    assert [] == found(task.format(ELSEWHERE[key]))
    if key in PAYLOAD:
        ((code, _, hint),) = found(task.format(f"(options provider: {{{key}: 5}})"))
        assert "malformed-form" == code
        assert f"write `{clause} " in hint


@pytest.mark.parametrize("key", ["stream", "task"])
def test_a_key_that_nobody_sets_is_left_out(key):
    ((_, _, hint),) = found(f'(defatom a (instructions "x") (options {key}: true))')

    assert "leave it out: the request has it" == hint


def test_a_setting_stands_beside_the_provider():
    ((_, _, hint),) = found('(defatom a (instructions "x") (options provider: {top_p: 1}))')

    assert "write `top_p: …` beside `provider`" == hint


@pytest.mark.parametrize(
    ("key", "example"), [("stop_sequences", '["END"]'), ("metadata", '{"user_id": "…"}')]
)
def test_a_list_or_a_table_is_json_in_xml(key, example):
    task = '<task name="a" type="atomic"><instructions>x</instructions><options {}/></task>'
    with pytest.raises(sexplang.Diagnostics) as wrong:
        read_templates(Source("t.xml", task.format(f'{key}="END"')))
    written = task.format(f"{key}='{example}'")

    (one,) = wrong.value.diagnostics
    assert f"it is written as JSON: <options {key}='{example}'/>" == one.hint
    (task,) = read_templates(Source("t.xml", written))
    assert json.loads(example) == plain(task.options[key])


@pytest.mark.parametrize(
    ("clause", "said"),
    [
        ("(allowed_tools (in-order))", "(in-order name …)"),
        ("(allowed_tools (inorder f))", "did you mean `in-order`?"),
        ("(allowed_tools (both f))", "write a name, or `(in-order name …)`"),
    ],
)
def test_tools_in_order_have_names(clause, said):
    ((code, title, hint),) = found(f'(defatom a (instructions "x") {clause})')

    assert "malformed-form" == code
    assert said in f"{title} {hint}"


EFFORT = 'provider: {output_config: {effort: "high"}}'
CLASHES = {
    "(options tool_choice: nothere) (allowed_tools read_file)": "`tool_choice` is `nothere`",
    "(options tool_choice: any)": "`tool_choice` makes the model call a tool",
    '(options tool_choice: {type: "tool" name: "b"}) (allowed_tools read_file)': "is `b`",
    "(options thinking: 9000) (limits max_output_tokens: 100)": "`thinking` takes 9000 tokens",
    "(options thinking: 2000) (limits max_output_tokens: 2000)": "at most 2000",
    f"(options effort: low {EFFORT})": "`provider` sets `output_config`",
}
TOGETHER = [
    "(options tool_choice: read_file) (allowed_tools read_file)",
    "(options tool_choice: files:read) (allowed_tools files:read)",
    "(options tool_choice: any) (allowed_tools read_file)",
    "(options tool_choice: auto)",
    "(options thinking: 2000) (limits max_output_tokens: 2001)",
    '(options thinking: 2000 provider: {betas: ["on-trial"]}) (limits max_output_tokens: 100)',
    "(options thinking: true effort: low) (limits max_output_tokens: 100)",
    "(options effort: low provider: {output_config: {task_budget: 3}})",
]


@pytest.mark.parametrize("clauses", [*CLASHES])
def test_settings_that_leave_no_room_for_each_other_are_refused(clauses):
    """Where the task is read; `check` and a run say the same."""
    program = f'(defatom a (instructions "x") {clauses}) (a)'
    ((code, title, _),) = found(program)
    with pytest.raises(sexplang.Diagnostics) as refused:
        sexplang.run(program, model=["ok"])

    assert "bad-payload" == code
    assert CLASHES[clauses] in title
    assert [title] == [each.title for each in refused.value.diagnostics]


@pytest.mark.parametrize("clauses", TOGETHER)
def test_settings_that_go_together_are_taken(clauses):
    assert [] == found(f'(defatom a (instructions "x") {clauses})')


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"tool_choice": "any"}, "it is offered none"),
        ({"tool_choice": "b", "tools": [TOOL]}, "is `b`"),
        ({"thinking": 9000, "max_tokens": 100}, "takes 9000 tokens"),
        ({"effort": "low", "provider": {"output_config": {"effort": "high"}}}, "sets too"),
    ],
)
def test_what_leaves_no_room_is_not_sent(settings, said):
    with MessagesServer("ok") as server, pytest.raises(sexplang.Failed) as failed:
        sexplang.run(ASK, inputs={"p": {**HELLO, **settings}}, model=server.url)

    assert [] == server.journal
    assert said in str(failed.value)


def test_a_setting_of_a_call_has_room_in_its_task():
    program = """
    (defatom a (instructions "x") (limits max_output_tokens: 100))
    (call-atomic-task 'a options: {thinking: 9000})"""
    with MessagesServer("ok") as server, pytest.raises(sexplang.Failed) as failed:
        sexplang.run(program, model=server.url)

    assert [] == server.journal
    assert "`thinking` in the payload of `model` takes 9000 tokens" in str(failed.value)


CALLS = {
    "options: {temprature: 1}": ("unknown-clause", "did you mean `temperature`?"),
    "options: {max_tokens: 5}": ("unknown-clause", "(limits max_output_tokens: …)"),
    "options: {temperature: 9}": ("malformed-form", "a number from 0 to 2"),
    "options: {temperature: 9 effort: (str q)}": ("malformed-form", "a number from 0 to 2"),
    "history_config: {turns: 9}": ("unknown-clause", "history_turns_to_include"),
    "history_config: {history_turns_to_include: 0}": ("malformed-form", "from 1"),
}


@pytest.mark.parametrize("label", [*CALLS])
def test_check_looks_into_the_settings_of_a_call(label):
    program = f"""(define-input q) (defatom a (instructions "x")) (call-atomic-task 'a {label})"""
    ((code, title, hint),) = found(program)

    assert CALLS[label][0] == code
    assert CALLS[label][1] in f"{title} {hint}"


@pytest.mark.parametrize(
    "label",
    [
        "options: {temperature: 1 effort: 'low top_p: nil}",
        "options: {temperature: q}",
        "options: q",
        "history_config: {history-turns-to-include: 2 use_session_history: nil}",
    ],
)
def test_check_takes_the_settings_that_a_call_may_have(label):
    program = f"""(define-input q) (defatom a (instructions "x")) (call-atomic-task 'a {label})"""

    assert [] == found(program)


def test_a_function_of_that_name_is_the_programs_own():
    program = """
    (define (call-atomic-task task (options {})) options)
    (call-atomic-task 'a options: {b: 1})"""

    assert [] == [each for each in found(program) if "setting" in each[1]]
