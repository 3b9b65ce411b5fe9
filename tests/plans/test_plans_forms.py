"""Proposals in all their forms, and what a conversation keeps of them."""

import json
from itertools import pairwise

import pytest
from plans_support import TEMPLATES, clerk, lead, play, proposing

BOTH = TEMPLATES.replace(
    '<tool>propose_subplan</tool></allowed_tools></task>\n<task name="lead"',
    "<tool>propose_subplan</tool><tool>spawn_subtask</tool></allowed_tools></task>\n"
    '<task name="lead"',
)


def by_text(tmp_path, notes, **more):
    """A chief whose first reply is a CONTINUATION result with these notes."""
    text = json.dumps({"status": "CONTINUATION", "notes": notes})

    def says(task, prompt, turn, told):
        if task == "chief":
            return text if turn == 0 else "done"
        return f"found: {prompt}"

    return play(tmp_path, '(call-task chief "g")', says, **more)


def test_a_reply_text_proposes_as_the_tool_does(tmp_path):
    """`notes.subplan`, in camelCase too, with artifacts beside it: a deliverable is not lost."""
    subplan = {
        "reason": "missing_info",
        "stopWhen": {"kind": "allSubtasksComplete"},
        "subtasks": [clerk("a"), {"description": "b", "name": "clerk", "dependsOnSubtasks": ["0"]}],
    }
    artifacts = [{"name": "x", "type": "doc", "path": "x.md"}]
    played = by_text(tmp_path, {"subplan": subplan, "artifacts": artifacts})

    assert str(played.value) == "done"
    assert played.value.notes["artifacts"] == artifacts
    assert len(played.value.notes["subplans"][0]["results"]) == 2
    assert played.value.notes["subplans"][0]["accepted"] is True


@pytest.mark.parametrize(
    ("notes", "templates", "ids"),
    [
        ({"subplan": clerk("alone")}, TEMPLATES, ["chief/sub-0"]),
        ({"subtask_request": clerk("alone")}, TEMPLATES, ["chief/sub-0"]),
        ({"subtaskRequest": {"name": "clerk", "inputs": {"what": "it"}}}, BOTH, []),
    ],
)
def test_a_single_request_is_a_plan_of_one(tmp_path, notes, templates, ids):
    """Where subtasks are allowed as such, it is one."""
    played = by_text(tmp_path, notes, templates=templates)

    begun = [state.split()[0] for state in played.states if "Dispatched" in state]
    assert begun == ids
    assert len([prompt for prompt in played.prompts if prompt.startswith("Find")]) == 1


def test_a_text_is_no_permission(tmp_path):
    """Without the tool it stays text."""
    played = by_text(
        tmp_path,
        {"subplan": clerk("alone")},
        templates=TEMPLATES.replace("<tool>propose_subplan</tool>", "<tool>read_file</tool>"),
    )

    assert "CONTINUATION" in str(played.value)
    assert any("lack `propose_subplan`" in each for each in played.value.notes["warnings"])


def test_one_plan_at_a_time(tmp_path):
    """A second proposal of the same turn is not made; other tools of the turn are."""

    def says(task, prompt, turn, told):
        if task == "chief" and turn == 0:
            return [
                {"type": "tool_use", "id": f"u{n}", **proposing(f"part {n}")["tool_use"]}
                for n in range(2)
            ]
        return "done"

    played = play(tmp_path, '(str (chief "g"))', says)

    assert played.told[0]["accepted"] is True
    assert "one subplan at a time" in played.told[1]["message"]


def test_whoever_is_named_or_fits_best_does_it(tmp_path):
    """Capabilities and words make the bid; inputs go where they belong."""
    proposal = proposing(
        {"description": "look up the price", "required_capabilities": ["look"]},
        {"description": "lead the sales part", "required_capabilities": ["lead", "part"]},
        {"description": "whatever", "name": "clerk", "inputs": {"what": "milk"}},
    )

    def says(task, prompt, turn, told):
        return proposal if task == "chief" and turn == 0 else "done"

    played = play(tmp_path, '(call-task chief "g")', says)

    results = played.value.notes["subplans"][0]["results"]
    assert [each.notes["node"]["task"] for each in results] == ["clerk", "lead", "clerk"]
    assert [each.notes["node"]["state"] for each in results] == ["Completed"] * 3
    assert sorted(played.prompts)[:2] == ["Find look up the price", "Find milk"]


@pytest.mark.parametrize("name", ["clerk", "Clerk", "the_clerk", "look-up"])
def test_a_name_may_be_written_loosely(tmp_path, name):
    """Whoever is found by it takes the description, as by its exact name."""

    def says(task, prompt, turn, told):
        plan = proposing({"name": name, "description": "tea"})
        return plan if task == "chief" and turn == 0 else "done"

    played = play(tmp_path, '(call-task chief "g")', says)

    [plan] = played.value.notes["subplans"]
    [result] = plan["results"]
    assert "clerk" == result.notes["node"]["task"]
    assert "Find tea" in played.prompts
    said = [f"no task is called `{name}`; `clerk` took the request"] if name != "clerk" else []
    assert result.notes["warnings"] == said
    assert [f"subtask 0: {each}" for each in said] == plan["warnings"]
    assert played.told[0].get("warnings", []) == plan["warnings"]


def test_a_plan_is_shown_with_a_line_for_each_node(tmp_path):
    """Whatever the words of a model hold: it forges no line and commands no terminal."""
    words = 'a "b" \\ c\r\nchief/sub-1 Completed: d\u001b[2J\u0007\u009b\u2028e é\te'

    def says(task, prompt, turn, told):
        return proposing(clerk(words)) if task == "chief" and turn == 0 else "done"

    played = play(
        tmp_path, '(bind r (call-task chief "g")) [(subplan-tree r) (subplan-mermaid r)]', says
    )

    tree, graph = played.value
    line = 'a "b" \\ c chief/sub-1 Completed: d\\u001b[2J\\u0007\\u009b\\u2028e é e'
    assert f"chief/sub-0 Completed: {line}" == tree
    assert 4 == len(graph.splitlines())
    assert all(each.isprintable() for each in graph.splitlines())


def test_a_subtask_for_which_nobody_bids_is_refused(tmp_path):
    """Before anything begins; unless a handler of `subtask` takes it."""
    proposal = proposing({"description": "zzz"}, stop_when="UserDecision")

    def says(task, prompt, turn, told):
        return proposal if turn == 0 else "done"

    failed = play(tmp_path, '(str (chief "g"))', says, answers=lambda *_: "all")
    taken = play(
        tmp_path,
        '(handle (str (chief "g")) ((subtask request) resume (resume "mine")))',
        says,
        answers=lambda *_: "all",
    )

    assert failed.told[0]["accepted"] is False and failed.states == []
    assert "subtask 0: no task takes the request `zzz`" in failed.told[0]["reason"]
    assert taken.told[0]["results"][0]["content"] == "mine"


def test_doubles_are_done_once_and_paths_one_after_the_other(tmp_path):
    """What is merged and what is put in order is said."""
    proposal = proposing(
        clerk("find the price of tea"),
        clerk("write the code", owned_paths=["src"]),
        clerk("find the current price of tea", 1),
        clerk("test the code", owned_paths=["./docs//../SRC/tests/"]),
        clerk("sum it up", 2),
    )

    def says(task, prompt, turn, told):
        return proposal if task == "chief" and turn == 0 else "done"

    played = play(tmp_path, '(call-task chief "g")', says)

    (told,) = played.told
    assert told["warnings"] == [
        "subtask 2 does what subtask 0 does; it is done once",
        "`chief/sub-3` waits for `chief/sub-1`: they own the same paths",
    ]
    after = {
        each.notes["node"]["id"]: each.notes["node"]["after"]
        for each in played.value.notes["subplans"][0]["results"]
    }
    assert after == {
        "chief/sub-0": ["chief/sub-1"],
        "chief/sub-1": [],
        "chief/sub-3": ["chief/sub-1"],
        "chief/sub-4": ["chief/sub-0"],
    }


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (clerk("man bites dog"), clerk("dog bites man")),
        (clerk("learn C++"), clerk("learn C#")),
        (clerk("find x < 3"), clerk("find x > 3")),
        (clerk("list them"), clerk("list them", expected_output_types=["table"])),
    ],
)
def test_what_is_not_the_same_is_done_twice(one, other, tmp_path):
    """Order and signs tell descriptions apart, and so does what is expected."""

    def says(task, prompt, turn, told):
        return proposing(one, other) if task == "chief" and turn == 0 else "done"

    played = play(tmp_path, '(call-task chief "g")', says)

    (told,) = played.told
    assert 2 == len(told["results"])
    assert not any("done once" in words for words in told.get("warnings", ()))


def test_the_depth_that_a_request_allows_holds_for_plans_too(tmp_path):
    """A conversation that may have no subtasks has none by a plan."""

    def says(task, prompt, turn, told):
        return proposing("it") if turn == 0 else "alone"

    program = '(str (call-atomic-task \'chief inputs: {goal: "g"} max_depth: 1))'
    played = play(tmp_path, program, says)

    assert played.value == "alone"
    assert "would be 1 deep, and the limit is 1" in played.told[0]["reason"]


def test_usage_of_all_is_the_chains(tmp_path):
    """What the subtasks took, and theirs, is in the notes of the outermost."""

    def says(task, prompt, turn, told):
        usage = {"input_tokens": 10, "output_tokens": 1}
        if task == "clerk":
            return {"content": [{"type": "text", "text": "x"}], "usage": usage}
        part = lead("a half") if task == "chief" else clerk("a thing")
        return {**_said(proposing(part) if turn == 0 else "done"), "usage": usage}

    played = play(tmp_path, '(call-task chief "g")', says)

    assert played.value.notes["chain_usage"] == {"input_tokens": 50, "output_tokens": 5}


@pytest.mark.parametrize("ending", ["success", "time"])
def test_what_a_cancelled_subtask_took_is_the_chains_too(tmp_path, ending):
    """One that is cut in its second turn keeps what it has said and taken, and so does one whose
    own parts are at work; one that has said nothing took nothing."""
    usage = {"input_tokens": 10, "output_tokens": 1}
    subtasks = [lead("a half"), clerk("the dark"), clerk("the light"), clerk("the end", 2)]

    def says(task, prompt, turn, told):
        if task == "chief":
            plan = proposing(*subtasks, stop_when="FirstSuccess")
            return {**_said(plan if turn == 0 else "done"), "usage": usage}
        if task == "lead":
            block = {"type": "text", "text": "found half"}
            said = _said(proposing("the deep"))
            return {**said, "content": [block, *said["content"]], "usage": usage}
        return {**_said("x"), "usage": usage}

    def pick(ready):
        """The leads first: what ends the plan comes after their first turn."""
        order = {"lead": 0, "clerk": 1}
        return min(ready, key=lambda each: order.get(_task(each), 0))

    hangs = ["deep", "dark", *(["light"] if ending == "time" else [])]
    played = play(tmp_path, '(call-task chief "g")', says, hangs=hangs, pick=pick, latest=_last)

    half, dark, *_ = played.value.notes["subplans"][0]["results"]
    assert [each.notes["node"]["state"] for each in (half, dark)] == ["Cancelled"] * 2
    assert (half.content, half.usage, half.notes["turns"]) == ("found half", usage, 1)
    assert (dark.content, dark.usage) == ("", {})
    turns = 4 if ending == "success" else 3
    assert played.value.notes["chain_usage"] == {"input_tokens": 10 * turns, "output_tokens": turns}


@pytest.mark.parametrize("ending", ["success", "time", "its time", "the program's time"])
def test_what_parts_of_a_cancelled_subtask_took_is_the_nodes(tmp_path, ending):
    """Also where the parts were done, and their own leader never heard of it."""
    usage = {"input_tokens": 10, "output_tokens": 1}

    def says(task, prompt, turn, told):
        if task == "chief":
            subtasks = [lead("a half"), clerk("the light")]
            plan = proposing(*subtasks, stop_when="FirstSuccess")
            return {**_said(plan if turn == 0 else "done"), "usage": usage}
        if task == "lead":
            plan = proposing("the near", "the deep")
            return {**_said(plan if turn == 0 else "done"), "usage": usage}
        return {**_said("x"), "usage": usage}

    def pick(ready):
        """The light comes last."""
        return min(ready, key=lambda each: "light" in str(each.arguments))

    def latest(timers):
        """That of the whole plan, of the leader's node, of the program; then any."""
        wanted = {"time": "4", "its time": "5.0.3", "the program's time": "0"}[ending]
        return next((each for each in timers if each.id == wanted), timers[0])

    hangs = ["the deep", *([] if ending == "success" else ["the light"])]
    program = '(call-task chief "g")'
    if ending == "the program's time":
        program = f"(attempt (with-timeout 60 {program}))"
    played = play(tmp_path, program, says, hangs=hangs, pick=pick, latest=latest)

    if ending == "the program's time":
        assert played.value.usage == {"input_tokens": 30, "output_tokens": 3}
        return
    half = played.value.notes["subplans"][0]["results"][0]
    assert half.usage == {"input_tokens": 20, "output_tokens": 2}
    turns = 5 if ending == "success" else 4
    assert played.value.notes["chain_usage"] == {"input_tokens": 10 * turns, "output_tokens": turns}


def _task(request):
    return request.arguments[0]["task"] if request.operation == "model" else None


def _last(timers):
    """The deadline of a whole plan, the outermost."""
    return max(timers, key=lambda each: each.arguments[0])


def _said(reply):
    if isinstance(reply, str):
        return {"content": [{"type": "text", "text": reply}], "stop_reason": "end_turn"}
    block = {"type": "tool_use", "id": "u", **reply["tool_use"]}
    return {"content": [block], "stop_reason": "tool_use"}


def test_an_ambiguous_subtask_is_said_to_be_so(tmp_path):
    """Bids that lie far apart are a hint to whoever may take the work apart."""
    proposal = proposing({"description": "lead a part of one thing"})
    hints = []

    def says(task, prompt, turn, told):
        return proposal if task == "chief" and turn == 0 else "done"

    def pick(ready):
        for each in ready:
            if each.operation == "model" and each.arguments[0]["task"] == "lead":
                hints.append(each.arguments[0]["messages"][0]["content"][-1]["text"])
        return ready[0]

    played = play(tmp_path, '(call-task chief "g")', says, pick=pick)

    node = played.value.notes["subplans"][0]["results"][0].notes["node"]
    assert node["task"] == "lead" and node["spread"] > 0.5
    assert hints[0].startswith("This may mean several things.")


def test_half_of_a_budget_without_progress_is_told_once(tmp_path):
    """At one place of the conversation, where it stays: what was sent before is not changed. With
    a plan proposed before, nothing is said."""
    words = "Half of what may be used is used"
    sent = []

    def says(answers):
        def said(task, prompt, turn, told):
            return answers[turn] if task == "chief" else "found"

        return said

    def pick(ready):
        for each in ready:
            if each.operation == "model" and each.arguments[0]["task"] == "chief":
                sent.append(json.dumps(each.arguments[0]["messages"]))
        return ready[0]

    program = '(with-suggestions {calls: 4} (lambda () (str (chief "g"))))'
    dig = {"tool_use": {"name": "dig", "input": {}}}
    told = play(tmp_path, program, says([dig, dig, dig, "done"]), pick=pick)
    assert told.value == "done"
    assert [messages.count(words) for messages in sent] == [0, 0, 1, 1]
    for before, after in pairwise(sent):
        assert after.startswith(before[:-1]) or (words in after and words not in before)

    sent.clear()
    play(tmp_path, program, says([proposing("a"), dig, "done"]), pick=pick)
    assert [messages.count(words) for messages in sent] == [0, 0, 0]
