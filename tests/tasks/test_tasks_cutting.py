"""Results that do not fit into a conversation: as much of each as there is room for, and marked."""

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from tasks_driver import converse, says, template, uses

from sexplang.tasks.prompt.window import cut_to, tokens_in
from sexplang.terms.task import task_result
from sexplang.terms.values.value import Value

WINDOW: dict[str, Any] = {"context_windows": {"": 10_000}}


def results_of(request: dict[str, Any]) -> list[str]:
    """The texts of the last message's tool results."""
    return [block["content"] for block in request["messages"][-1]["content"]]


def test_ten_long_results_are_shortened_to_what_fits():
    """Each to the same length, with what was left out; short ones stay whole; so do all in the
    notes. The conversation can go on: half of what was left is left."""
    task = template(allowed_tools=("lookup",))
    long = [f"{n} " + "word " * 4_000 for n in range(9)]
    calls = uses(*[(str(n), "lookup", {}) for n in range(10)])
    run = converse(task, [calls, (*long, "short"), says("done")], **WINDOW)

    *cut, last = results_of(run.requests[1])
    assert last == "short"
    assert [text[:7] for text in cut] == [f"{n} word "[:7] for n in range(9)]
    assert len({len(text) for text in cut}) == 1
    assert cut[0].endswith(" left out: there is no room; notes.shortened of the result has them]")
    left_out = 20_002 - cut[0].index("\n[")
    assert f"[{left_out:,} of 20,002 characters left out" in cut[0]
    assert run.notes["shortened"] == tuple(
        [{"tool_use_id": str(n), "content": text} for n, text in enumerate(long)]
    )
    assert run.notes["warnings"] == (
        "9 results shortened: there is no room for the whole in the context window",
    )
    assert 3_500 < run.notes["metrics"]["context"]["peak_usage"] <= 4_000 + 12


def test_a_conversation_goes_on_after_many_of_them():
    """Turn after turn: the older ones make room, so that the newest is as long as the first."""
    task = template(allowed_tools=("lookup",))
    turn = [{**uses(("a", "lookup", {})), "usage": {}}, ("x" * 100_000,)]
    run = converse(task, [*turn * 5, says("done")], **WINDOW)

    sizes = [len(results_of(request)[0]) for request in run.requests[1:]]
    assert max(sizes) - min(sizes) < 1_000 and min(sizes) > 10_000
    assert len(run.notes["shortened"]) == 5


def test_a_subtask_result_is_shortened_in_a_message_too():
    """Where a reply's text asked for the subtask."""
    asks = says(json.dumps({"status": "CONTINUATION", "notes": {"subtask_request": {"name": "t"}}}))
    task = template(allowed_tools=("spawn_subtask",))
    run = converse(task, [asks, task_result("y" * 50_000), says("done")], **WINDOW)

    (block,) = run.requests[1]["messages"][-1]["content"]
    assert block["text"].startswith("The result of the subtask:\n\nyyy")
    assert "characters left out" in block["text"]
    (kept,) = run.notes["shortened"]
    assert kept == {"content": "The result of the subtask:\n\n" + "y" * 50_000}


def test_the_results_of_a_plan_are_shortened_one_by_one():
    """What the model reads is JSON all the same, and each result has its part."""
    plan = {"subtasks": [{"description": f"part {n}"} for n in range(10)]}
    done = tuple([task_result(f"{n}" + " \n" * 10_000) for n in range(10)])
    reply: dict[str, Value] = {"accepted": True, "reason": None, "results": done}
    task = template(allowed_tools=("propose_subplan",))
    script = [uses(("a", "propose_subplan", plan)), reply, says("done")]
    run = converse(task, script, **WINDOW)

    (text,) = results_of(run.requests[1])
    contents = [each["content"] for each in json.loads(text)["results"]]
    assert [content[0] for content in contents] == [str(n) for n in range(10)]
    assert all(
        each.endswith("left out: there is no room; notes.subplans of the result has them]")
        for each in contents
    )
    assert run.notes["subplans"] == (reply,)
    assert "shortened" not in run.notes


def test_sources_of_a_shortened_result_are_known():
    """What a tool says that it has read is read from the whole."""
    task = template(allowed_tools=("lookup",))
    told = {"text": "z" * 50_000, "sources": ("a.org",)}
    run = converse(task, [uses(("a", "lookup", {})), (told,), says("done")], **WINDOW)

    assert run.notes["sources"] == ("a.org",)


@given(st.lists(st.text(), max_size=6), st.integers(0, 4), st.integers(1, 3_000))
def test_texts_are_cut_to_the_room_there_is(texts, at, room):
    """Together they fit if the marks do; nothing is cut that fits; all begin as they did."""
    long = [*texts[:at], "é" * 20_000, *texts[at:]]
    cut = cut_to(long, room, "here")

    marked = [text for text, whole in zip(cut, long, strict=True) if text != whole]
    if room >= 60 * len(long):
        assert sum(map(tokens_in, cut)) <= room
    assert cut_to(texts, sum(map(tokens_in, texts)), "here") == texts
    for text in marked:
        kept = text[: text.rindex("\n[")]
        assert any(whole.startswith(kept) for whole in long)
