"""Plans at work: their order, when they stop, what becomes of the results."""

import json

import pytest
from plans_support import TEMPLATES, clerk, lead, play, proposing

from sexplang.machine import Limits

DIAMOND = (
    clerk("the top"),
    clerk("the left side", 0),
    clerk("the right side", 0),
    clerk("the bottom", 1, 2),
)


def chief(*script):
    """A chief who says these one after the other, and clerks who answer."""

    def says(task, prompt, turn, told):
        return script[turn] if task == "chief" else f"found: {prompt}"

    return says


def states_of(told):
    return [each["state"] for each in told["results"]]


def test_a_diamond_runs_its_middle_in_parallel(tmp_path):
    """Each begins when what it depends on is done, and sees what that gave."""
    played = play(tmp_path, '(str (chief "g"))', chief(proposing(*DIAMOND), "done"))

    assert played.value == "done"
    assert played.widest == 2
    wanted = ["Find the top", "Find the left side", "Find the right side", "Find the bottom"]
    assert [each for each in played.prompts if "Find" in each] == wanted
    assert states_of(played.told[0]) == ["Completed"] * 4
    lives = [state for state in played.states if "sub-3" in state]
    assert [state.split()[1] for state in lives] == ["Pending", "Ready", "Dispatched", "Completed"]
    assert played.states[0] == "chief WaitingForSubtasks"
    assert played.states[-1] == "chief Synthesizing"


def test_the_first_success_of_a_diamond_cancels_a_running_sibling(tmp_path):
    """The top is a step of every way, and not enough; the left side is, while the right one is at
    work: that is withdrawn, and the bottom never begins."""
    proposal = proposing(*DIAMOND, stopWhen={"kind": "FirstSuccess"})
    played = play(
        tmp_path, '(call-task chief "g")', chief(proposal, "one is enough"), hangs=["right"]
    )

    assert str(played.value) == "one is enough"
    (told,) = played.told
    assert told["accepted"] is True and "reason" not in told
    assert states_of(told) == ["Completed", "Completed", "Cancelled", "Cancelled"]
    assert "chief/sub-2 Dispatched" in played.states
    assert "Find the right side" in played.prompts
    assert played.withdrawn >= 1
    assert "Find the bottom" not in played.prompts


def test_a_failure_does_not_end_a_search(tmp_path):
    """One way fails, one hangs, a third succeeds: the results are in their order."""
    subtasks = [clerk("the left side"), clerk("the right side"), clerk("another way")]
    proposal = proposing(*subtasks, clerk("the bottom", 0, 1), stop_when="FirstSuccess")

    def says(task, prompt, turn, told):
        if task == "chief":
            return proposal if turn == 0 else "one is enough"
        return {"error": "overloaded_error"} if "left" in prompt else "here"

    played = play(tmp_path, '(str (chief "g"))', says, hangs=["right"])

    (told,) = played.told
    assert "reason" not in told
    assert states_of(told) == ["Failed", "Cancelled", "Completed", "Cancelled"]
    assert told["results"][2]["content"] == "here"


def test_a_step_alone_is_no_success(tmp_path):
    """The top succeeds, both sides fail."""

    def says(task, prompt, turn, told):
        if task == "chief":
            return proposing(*DIAMOND, stop_when="FirstSuccess") if turn == 0 else "no way"
        return {"error": "overloaded_error"} if "side" in prompt else "here"

    played = play(tmp_path, '(str (chief "g"))', says)

    assert played.told[0]["reason"] == "no subtask succeeded"
    assert states_of(played.told[0]) == ["Completed", "Failed", "Failed", "Failed"]
    assert played.told[0]["results"][3]["error"] == (
        "`chief/sub-3` was not begun: it waits for `chief/sub-1`, `chief/sub-2`, which failed"
    )


def test_when_all_fail_a_first_success_still_goes_to_synthesis(tmp_path):
    """The model is told, as an error, and may make something of it."""

    def says(task, prompt, turn, told):
        if task == "chief":
            two = proposing("one way", "another way", stop_when="first_success")
            return two if turn == 0 else "nothing worked"
        return {"error": "overloaded_error"}

    played = play(tmp_path, '(str (chief "g"))', says)

    assert played.value == "nothing worked"
    assert played.told[0]["reason"] == "no subtask succeeded"
    assert states_of(played.told[0]) == ["Failed", "Failed"]


def test_a_failed_child_ends_nobody_but_those_that_wait_for_it(tmp_path):
    """Whoever is independent of it finishes. The parent has a result for each, and the reasons
    are those of what was begun."""
    subtasks = [
        clerk("good"),
        clerk("bad", 0),
        clerk("slow", 0),
        clerk("below both", 4, 1),
        clerk("below slow", 2),
        clerk("worse"),
        clerk("below below", 3),
    ]

    def says(task, prompt, turn, told):
        if task == "chief":
            return proposing(*subtasks) if turn == 0 else "partly"
        is_bad = "bad" in prompt or "worse" in prompt
        return {"error": "overloaded_error"} if is_bad else "fine"

    def pick(ready):
        return min(ready, key=lambda each: "slow" in str(each.arguments))

    played = play(tmp_path, '(call-task chief "g")', says, pick=pick)

    (told,) = played.told
    failed = [part.partition(":")[0] for part in told["reason"].split("; ")]
    assert failed == ["subtask `chief/sub-1` failed", "subtask `chief/sub-5` failed"]
    assert states_of(told) == [
        *("Completed", "Failed", "Completed", "Failed", "Completed", "Failed", "Failed")
    ]
    assert [told["results"][at]["content"] for at in (0, 2, 4)] == ["fine"] * 3
    (plan,) = played.value.notes["subplans"]
    skipped = [plan["results"][at] for at in (3, 6)]
    assert [each.status for each in skipped] == ["FAILED"] * 2
    assert [each.notes["error"]["reason"] for each in skipped] == ["skipped"] * 2
    assert [each.notes["error"]["message"] for each in skipped] == [
        "`chief/sub-3` was not begun: it waits for `chief/sub-1`, which failed",
        "`chief/sub-6` was not begun: it waits for `chief/sub-3`, which failed",
    ]
    assert "chief/sub-3 Dispatched" not in played.states


def test_a_plan_ends_at_twice_its_parents_budget_and_keeps_what_is_done(tmp_path):
    """The parent has 300 seconds where nobody says otherwise. A node has its cap, or its share."""
    proposal = proposing(clerk("quick"), clerk("slow", 0), clerk("later", 1))
    played = play(
        tmp_path,
        '(str (chief "g"))',
        chief(proposal, "in time"),
        hangs=["slow"],
        pick=lambda ready: min(ready, key=lambda each: str(each.id).count(".")),
    )

    (told,) = played.told
    assert ("timer", 600) in played.asked and ("timer", 100) in played.asked
    assert told["reason"] == (
        "the subtasks were not done within 600 seconds, twice the 300 of their parent"
    ) or told["reason"].startswith("subtask `chief/sub-1` failed: the time is up: 100")
    assert told["results"][0]["content"] == "found: Find quick"


@pytest.mark.parametrize(
    ("limits", "within"),
    [
        (Limits(), "600 seconds, twice the 300"),
        (Limits(subplan_seconds=40), "80 seconds, twice the 40"),
        (Limits(subplan_factor=3), "900 seconds, 3 times the 300"),
    ],
)
def test_a_late_plan_says_so(tmp_path, limits, within):
    """The deadline of the plan, not that of a node, passes; the run says how long it is."""

    def outermost(ready):
        timers = [each for each in ready if each.operation == "timer"]
        return max(timers, key=lambda each: each.arguments[0]) if timers else ready[0]

    played = play(
        tmp_path,
        '(str (chief "g"))',
        chief(proposing(clerk("quick"), clerk("slow", 0), clerk("later", 1)), "late"),
        hangs=["slow"],
        latest=outermost,
        limits=limits,
    )

    (told,) = played.told
    assert told["reason"] == f"the subtasks were not done within {within} of their parent"
    assert states_of(told) == ["Completed", "Cancelled", "Cancelled"]
    assert played.value == "late"


def test_budgets_are_inherited_and_only_tighten(tmp_path):
    """A cap is a deadline; twice it for somebody who may take work apart; no more than what is
    around; a template's timeout is the parent's budget."""
    proposal = proposing(clerk("a", budget_cap=7), lead("b", budget_cap={"seconds": 8, "calls": 2}))
    program = '(str (chief "g"))'
    timed = TEMPLATES.replace(
        "Goal: {{goal}}</instructions>",
        'Goal: {{goal}}</instructions><limits timeout="40"/>',
    )

    def says(task, prompt, turn, told):
        if task == "chief":
            return proposal if turn == 0 else "done"
        if task == "lead":
            return proposing(clerk("c", budget_cap=9)) if turn == 0 else "done"
        return "found"

    played = play(tmp_path, program, says, templates=timed)

    timers = {request[1] for request in played.asked if request[0] == "timer"}
    assert timers == {40, 80, 7, 16}
    (refused,) = [told["reason"] for told in played.told if not told["accepted"]]
    assert refused.startswith("too large budgets: the caps of seconds add up to 9, and 8 are left")
    assert states_of(played.told[-1]) == ["Completed", "Completed"]


def test_a_person_decides(tmp_path):
    """All is done first; the person sees the results and says what is used."""
    stop = {"kind": "UserDecision", "description": "Which name is better?"}

    def decided(answer):
        played = play(
            tmp_path,
            '(str (chief "g"))',
            chief(proposing("one name", "other name", stop_when=stop), "done"),
            answers=lambda operation, *arguments: answer if operation == "ask-user" else None,
        )
        (asked,) = [each for each in played.asked if each[0] == "ask-user"]
        assert asked[1].splitlines() == [
            "Which name is better?",
            "chief/sub-0: found: Find one name",
            "chief/sub-1: found: Find other name",
        ]
        assert asked[2] == ["all", "chief/sub-0: one name", "chief/sub-1: other name", "none"]
        return played.told[0]

    assert decided("chief/sub-1: other name")["decision"] == "chief/sub-1: other name"
    assert decided("none")["reason"] == "a person decided to use none of the results"


def test_an_output_that_is_not_as_expected_is_fixed_twice_at_most(tmp_path):
    """Somebody is asked to put right what is missing, and no more than that."""
    good = {"content": "ready", "artifacts": [{"name": "a.py", "type": "code", "text": "1"}]}
    task = clerk("write it", expected_output_types=["code"], expected_files=["a.py"])

    def says(answers):
        left = iter(answers)

        def said(task_, prompt, turn, told):
            if task_ == "chief":
                return proposing(task) if turn == 0 else "done"
            return next(left)

        return said

    fixed = play(tmp_path, '(call-task chief "g")', says(["no idea", json.dumps(good)]))
    (told,) = fixed.told
    assert told["results"][0]["content"] == "ready"
    assert told["results"][0]["artifacts"] == good["artifacts"]
    (plan,) = fixed.value.notes["subplans"]
    assert plan["results"][0].notes["artifacts"] == good["artifacts"]
    assert [state.split()[1] for state in fixed.states if "sub-0" in state] == [
        "Pending",
        "Ready",
        "Dispatched",
        "Validating",
        "Completed",
    ]
    assert fixed.prompts[2] == (
        "Find Fix the result of this, and nothing else: write it. What is wrong: there is no "
        "artifact of type `code`, and no file `a.py`"
    )

    failed = play(tmp_path, '(str (chief "g"))', says(["no", "no", "never"]))
    (told,) = failed.told
    assert told["results"][0]["state"] == "Failed"
    assert told["results"][0]["content"] == "never"
    assert "the output of `chief/sub-0` is not as expected" in told["reason"]


def test_a_program_may_validate_itself(tmp_path):
    """`validate:` says what is wrong, or nil."""
    program = """
    (handle (str (chief "g"))
      ((subplan plan) resume
        (resume (run-subplan plan fixes: 1
                  validate: (lambda (node result)
                              (if (string-contains? result.content "!") nil "no emphasis"))))))
    """
    answers = iter(["quiet", "loud!"])

    def says(task, prompt, turn, told):
        if task == "chief":
            return proposing("it") if turn == 0 else "done"
        return next(answers)

    played = play(tmp_path, program, says)

    assert played.told[0]["results"][0]["content"] == "loud!"


def test_nested_plans_make_one_tree(tmp_path):
    """Text and Mermaid come from what the outermost task gave."""

    def says(task, prompt, turn, told):
        if task == "chief":
            return proposing(lead("the 1st half"), clerk("the rest", 0)) if turn == 0 else "done"
        if task == "lead":
            return proposing('a "quoted" thing') if turn == 0 else "half"
        return "found"

    played = play(
        tmp_path, '(bind r (call-task chief "g")) [(subplan-tree r) (subplan-mermaid r)]', says
    )

    tree, mermaid = played.value
    assert tree.splitlines() == [
        "chief/sub-0 Completed: the 1st half",
        '  chief/sub-0/sub-0 Completed: a "quoted" thing',
        "chief/sub-1 Completed: the rest",
    ]
    assert mermaid.splitlines() == [
        "graph TD",
        '  chief["chief"]',
        '  chief_sub_0["the 1st half: Completed"]:::Completed',
        "  chief --> chief_sub_0",
        '  chief_sub_0_sub_0["a #quot;quoted#quot; thing: Completed"]:::Completed',
        "  chief_sub_0 --> chief_sub_0_sub_0",
        '  chief_sub_1["the rest: Completed"]:::Completed',
        "  chief_sub_0 --> chief_sub_1",
    ]
