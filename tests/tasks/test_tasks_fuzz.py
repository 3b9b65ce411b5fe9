"""Properties: any reply gives a Want; substitution never expands twice; sessions are plain data."""

from itertools import pairwise

from attrs import asdict
from hypothesis import given
from hypothesis import strategies as st
from tasks_driver import matching, system, template, uses

from sexplang.tasks.start.call_settings import DEFAULTS, effective, read_requested
from sexplang.terms.task import Broke, Finished, Perform
from sexplang.terms.template import ContextManagement, OutputFormat
from sexplang.terms.values.boundary import plain
from sexplang.terms.values.value import Fault, Record, symbol

TOOLS = ("read_file", "lookup", "spawn_subtask", "request_user_input")

words = st.sampled_from(
    ["text", "tool_use", "end_turn", "refusal", "CONTINUATION", "a", "", "subset", "{{x}}", *TOOLS]
)
values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-2, 3)
    | st.floats()
    | st.text(max_size=8)
    | words
    | st.builds(symbol, words),
    lambda inner: (
        st.lists(inner, max_size=4).map(tuple)
        | st.dictionaries(st.text(max_size=5) | words, inner, max_size=4)
        | st.builds(Record, st.just("TaskResult"), st.just({"content": "c", "status": "FAILED"}))
    ),
    max_leaves=12,
)
continuations = st.sampled_from(
    [
        '{"status": "CONTINUATION"}',
        '{"status": "CONTINUATION", "notes": {"subtask_request": {"description": "d"}}}',
        '{"status": "CONTINUATION", "notes": {"evaluation_request": 3}}',
    ]
)
texts = st.fixed_dictionaries({"type": st.just("text"), "text": st.text() | continuations})
tools = st.fixed_dictionaries(
    {
        "type": st.just("tool_use"),
        "id": st.sampled_from("abcdef"),
        "name": st.sampled_from([*TOOLS, "other"]),
        "input": values
        | st.fixed_dictionaries(
            {}, optional={"path": words, "description": words, "prompt": words, "inputs": values}
        ),
    }
)
replies = st.fixed_dictionaries(
    {
        "content": st.lists(texts | tools | values, max_size=4).map(tuple),
        "stop_reason": st.none()
        | st.sampled_from(
            ["end_turn", "tool_use", "pause_turn", "refusal", "stop_sequence", "max_tokens", "else"]
        ),
    },
    optional={"usage": values, "model": st.just("m")},
)
answers = st.one_of(values, replies, replies)


def paired(payload):
    """Whether each call has its result in the next message, and there is no other result."""
    messages = [(), *[each["content"] for each in payload["messages"]], ()]
    return all(
        [block["id"] for block in said if block["type"] == "tool_use"]
        == [block["tool_use_id"] for block in told if block["type"] == "tool_result"]
        for said, told in pairwise(messages)
    )


@given(st.lists(answers, min_size=1, max_size=8), st.sampled_from(["text", "json"]))
def test_whatever_is_replied_a_conversation_wants_something(script, kind):
    """Every advance is a Perform of well-formed asks, a Finished or a Broke; never an exception."""
    tasks = system(max_turns=6)
    task = template(allowed_tools=TOOLS, output_format=OutputFormat(kind))
    _, session, want = tasks.begin(task, {}, {}, ())
    for value in script:
        if not isinstance(want, Perform):
            break
        assert want.together or len(want.asks) == 1
        assert all(ask.attempt == (ask.operation != "model") for ask in want.asks)
        plain(tuple(ask.arguments for ask in want.asks))
        assert all(paired(ask.arguments[0]) for ask in want.asks if ask.operation == "model")
        session, want = tasks.advance(session, (value,) * len(want.asks))
    assert isinstance(want, (Perform, Finished, Broke))


@given(values, st.dictionaries(words | st.sampled_from(["max_depth", "file_paths"]), values))
def test_whatever_is_given_a_task_begins_or_breaks(value, overrides):
    """Inputs and overrides of any kind."""
    _, _, want = system().begin(template("{{x}} {{x.a[0]}}", "x"), {"x": value}, overrides, ())

    assert isinstance(want, (Perform, Broke))


@given(values)
def test_whatever_is_requested_match_answers(value):
    """With a template or with an error record."""
    assert matching(value, (template(description="a b"),)) is not None


slots = st.lists(st.sampled_from(["{{x}}", "{{y}}", "{{", "}}", "{{{{", "{", "x", " "]), max_size=6)


@given(st.text(alphabet="{}xy. a", max_size=30) | slots.map("".join), slots.map("".join))
def test_a_value_is_never_expanded_again(source, value):
    """What a value looks like has no influence on what else is replaced."""
    tasks = system()
    task = template(f"{source}|", "x")
    _, _, want = tasks.begin(task, {"x": value}, {}, ())
    _, _, marked = tasks.begin(task, {"x": "\0"}, {}, ())

    assert type(want) is type(marked)
    if isinstance(want, Perform) and isinstance(marked, Perform):
        pair = [
            it.asks[0].arguments[0]["messages"][0]["content"][0]["text"] for it in (marked, want)
        ]
        assert pair[0].replace("\0", value) == pair[1]


@given(st.integers(0, 3))
def test_a_session_is_plain_data(stage):
    """No function is in it, at any moment."""
    tasks = system()
    task = template(allowed_tools=TOOLS)
    _, session, _ = tasks.begin(task, {}, {"file_paths": ("a",)}, ())
    call = uses(("a", "lookup", {}), ("b", "spawn_subtask", {"description": "d"}))
    for reply in (("text",), (call,), ("found",))[:stage]:
        session, _ = tasks.advance(session, reply)

    plain(asdict(session))


dimensions = {
    "inherit_context": ["full", "none", "subset"],
    "accumulate_data": [True, False],
    "accumulation_format": ["notes_only", "full_output"],
    "fresh_context": ["enabled", "disabled"],
}
some = st.fixed_dictionaries(
    {}, optional={key: st.sampled_from(choices) for key, choices in dimensions.items()}
)


@given(st.sampled_from(sorted(DEFAULTS)), some, some)
def test_merged_settings_never_break_the_exclusivity(subtype, template_has, request_has):
    """What is set is kept, and fresh context never stands beside an inherited one."""
    chosen = {**template_has, **request_has}
    both = chosen.get("fresh_context") == "enabled" and chosen.get("inherit_context") in (
        "full",
        "subset",
    )
    try:
        merged = effective(subtype, ContextManagement(**template_has), read_requested(request_has))
    except Fault:
        assert both
        return
    assert not both
    assert all(getattr(merged, key) == value for key, value in chosen.items())
    assert merged.fresh_context == "disabled" or merged.inherit_context == "none"
