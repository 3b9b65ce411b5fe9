"""What can be known of a subtask before it begins is known before a plan is accepted."""

import pytest
from plans_support import TEMPLATES, clerk, play, proposing

MORE = TEMPLATES.replace(
    "</templates>",
    """<task name="count" type="atomic"><description>Count things</description>
  <params><param name="of" type="object"/><param name="most" type="integer"/>
    <param name="style" type="string" required="false"/></params>
  <instructions>Count {{of.name}} to {{most}}</instructions></task></templates>""",
)
TAKES = "the task takes `of` (object), `most` (integer), `style` (string, optional)"


def counting(**inputs):
    return {"name": "count", "description": "count it", "inputs": inputs}


def refusal(tmp_path, *subtasks, program='(str (chief "g"))'):
    """What the chief was told, where nothing was begun."""

    def says(task, prompt, turn, told):
        return proposing(*subtasks) if turn == 0 else "alone"

    played = play(tmp_path, program, says, templates=MORE)
    assert played.value == "alone"
    assert played.states == [] and len(played.prompts) == 2
    (told,) = played.told
    assert told["accepted"] is False
    return told["reason"]


@pytest.mark.parametrize(
    ("subtask", "why"),
    [
        (
            {"name": "clerk", "description": "x", "inputs": {"question": "x"}},
            "its inputs do not fit task `clerk`: `what` is missing, `question` is unknown; the "
            "task takes `what` (string)",
        ),
        (
            counting(of={"name": "cups"}, most="3"),
            f"its inputs do not fit task `count`: `most` is string, not integer; {TAKES}",
        ),
        (
            counting(of={"name": "cups"}, most=True, style=7),
            "its inputs do not fit task `count`: `most` is boolean, not integer, `style` is "
            f"integer, not string; {TAKES}",
        ),
        (
            counting(of=None, most=3),
            f"its inputs do not fit task `count`: `of` is null, not object; {TAKES}",
        ),
        (
            {"name": "count", "description": "cups"},
            f"its inputs do not fit task `count`: `of` is missing, `most` is missing; {TAKES}",
        ),
        (
            counting(of={"title": "cups"}, most=3),
            "task `count` has placeholders that lead nowhere: `{{of.name}}`",
        ),
        ({"name": "zzz", "description": "qqq"}, "no task takes the request `zzz`"),
        (
            {"name": "chief", "description": "g"},
            "task `chief` was started with these inputs by itself: chief -> chief",
        ),
    ],
)
def test_a_subtask_that_would_fail_is_no_plan(tmp_path, subtask, why):
    """The model is told which and why, before anything begins."""
    reason = refusal(tmp_path, clerk("tea"), subtask)
    assert reason.startswith(f"subtask 1: {why}"), reason


def test_a_request_for_less_depth_is_known_too(tmp_path):
    """The chain may be as deep as whoever asked for it allows."""
    program = '(str (call-atomic-task \'chief inputs: {goal: "g"} max_depth: 1))'
    reason = refusal(tmp_path, clerk("tea"), program=program)
    assert reason.startswith("subtask 0: task `clerk` would be 1 deep, and the limit is 1")


def test_all_reasons_are_told_at_once(tmp_path):
    """So that one better proposal is enough."""
    reason = refusal(
        tmp_path,
        clerk("tea", 4, budget_cap=200),
        counting(most=3),
        {"name": "zzz", "description": "qqq", "depends_on_subtasks": [9]},
    )
    parts = reason.split("; ")
    assert parts[0] == "subtask 0 depends on `4`, which is no index from 0 to 2"
    assert parts[1] == "subtask 2 depends on `9`, which is no index from 0 to 2"
    assert "subtask 1: its inputs do not fit task `count`: `of` is missing" in reason
    assert "subtask 2: no task takes the request `zzz`" in reason

    reason = refusal(
        tmp_path, clerk("tea", budget_cap=200), clerk("milk", budget_cap=200), counting(most=3)
    )
    assert "the caps of seconds add up to 400, and 300 are left" in reason
    assert "subtask 2: its inputs do not fit" in reason


def test_a_corrected_plan_has_lost_nothing(tmp_path):
    """The decomposition that needs no progress is still there, with all its seconds and numbers;
    so are the two that need some."""
    done = [{"name": "a", "text": "A"}]
    fitting = counting(of={"name": "cups"}, most=3)
    script = [
        proposing(clerk("one", budget_cap=300), counting(most=3)),
        proposing(clerk("one", budget_cap=200), {**fitting, "budget_cap": 50}),
        proposing(clerk("two", budget_cap=50), artifacts=done),
        "done",
    ]

    def says(task, prompt, turn, told):
        return script[turn] if task == "chief" else "found"

    played = play(tmp_path, '(call-task chief "g")', says, templates=MORE)

    assert [told["accepted"] for told in played.told] == [False, True, True]
    begun = [state.split()[0] for state in played.states if "Dispatched" in state]
    assert begun == ["chief/sub-0", "chief/sub-1", "chief/sub-2"]
    assert len(played.value.notes["subplans"]) == 2


def test_a_model_that_keeps_proposing_what_does_not_fit_is_stopped(tmp_path):
    """Two refusals are told; the third ends the task, and the error says why."""
    played = play(
        tmp_path,
        '(attempt (call-task chief "g"))',
        lambda task, prompt, turn, told: proposing(counting(most=3)),
        templates=MORE,
    )

    error = played.value.notes["error"]
    assert [told["accepted"] for told in played.told] == [False, False]
    assert (error["reason"], error["details"]["limit_kind"]) == ("execution_halted", "subplan")
    assert "`of` is missing" in error["message"]


def test_what_answers_subtasks_itself_takes_any(tmp_path):
    """A handler of `subtask` knows what it takes, whether it stands around the task or in the
    handler of the plan."""

    def says(task, prompt, turn, told):
        return proposing(counting(odd=3)) if turn == 0 else "done"

    around = '(handle (str (chief "g")) ((subtask request) resume (resume "mine")))'
    inside = """
    (handle (str (chief "g"))
      ((subplan plan) resume
        (resume (handle (run-subplan plan) ((subtask request) again (again "mine"))))))
    """
    for program in (around, inside):
        played = play(tmp_path, program, says, templates=MORE)
        assert played.told[0]["results"][0]["content"] == "mine"
