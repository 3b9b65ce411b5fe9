"""Proposals as models spell them: what can mean one thing is understood, and it is said as what."""

import json

import pytest
from plans_support import clerk, play, proposing

from sexplang.tasks.plans.proposal import proposal


def read(*subtasks, **more):
    """A proposal of these subtasks, `{description …}` each, that has no problem."""
    listed = tuple({"description": f"step {at}", **each} for at, each in enumerate(subtasks))
    found = proposal({"subtasks": listed, **more})
    assert found.problems == {}
    return found


@pytest.mark.parametrize(
    ("written", "cap", "said"),
    [
        ("60", {"seconds": 60}, "`60` was understood as 60 seconds"),
        ("60s", {"seconds": 60}, "`60s` was understood as 60 seconds"),
        (" 1.5 Seconds ", {"seconds": 1.5}, "` 1.5 Seconds ` was understood as 1.5 seconds"),
        ("2 min", {"seconds": 120}, "`2 min` was understood as 120 seconds"),
        ("00:01:00", {"seconds": 60}, "`00:01:00` was understood as 60 seconds"),
        (
            "1.06:00:00.5",
            {"seconds": 108000.5},
            "`1.06:00:00.5` was understood as 108000.5 seconds",
        ),
        ({"seconds": "0:00:05"}, {"seconds": 5}, "`0:00:05` was understood as 5 seconds"),
        ({"calls": "3"}, {"calls": 3}, "`3` was understood as 3 calls"),
        ({"Calls": 3.0}, {"calls": 3}, None),
        ('{"seconds": 5}', {"seconds": 5}, "a text in JSON was read as an object"),
        (7, {"seconds": 7}, None),
        (0.5, {"seconds": 0.5}, None),
    ],
)
def test_a_cap_may_be_a_text(written, cap, said):
    """With its unit, or without."""
    found = read({"budget_cap": written})
    assert found.fields["subtasks"][0]["budget_cap"] == cap
    assert found.warnings == (() if said is None else (f"subtasks[0].budget_cap: {said}",))


@pytest.mark.parametrize(
    "written",
    [
        10**400,
        {"tokens": 10**400},
        *(True, False, 0, -1, "0", "-1", "", "much", "5 m", "60 calls", "1e3", "1,5", [60]),
        *({"calls": 1.5}, {"calls": "1.5"}, {"calls": True}, {"calls": "3s"}, {"hours": 1}),
        *("01:30", "00:00:00", "24:00:00", "00:60:00", "-00:01:00", "1:1", "00:01:00 s"),
        *({"calls": "00:00:03"}, {"seconds": "1.:00:00:01"}, "٠٠:٠١:٠٠"),
        *({"seconds": 1, "Seconds": 2}, float("inf"), float("nan"), "9" * 400),
    ],
    ids=repr,
)
def test_a_cap_that_could_be_anything_is_refused(written):
    """With a number in JSON to copy. Booleans are not numbers."""
    found = proposal({"subtasks": ({"description": "x", "budget_cap": written},)})
    assert list(found.problems) == ["subtasks[0].budget_cap"]
    assert '{"seconds": 60, "calls": 5' in found.complaint()


@pytest.mark.parametrize(
    ("written", "indexes", "said"),
    [
        ((0, 1), ("0", "1"), None),
        (("0", 1.0, "sub-1"), ("0", "1"), None),
        ((), (), None),
        (0, ("0",), "`0` was read as a list"),
        ("1", ("1",), "`1` was read as a list"),
        ("[0, 1]", ("0", "1"), "a text in JSON was read as a list"),
        ("0, sub-1", ("0", "1"), "`0, sub-1` was read as a list"),
        (("subtask 1", "subtasks[0]"), ("1", "0"), None),
        (("Step 1",), ("1",), "`Step 1` was understood as 1, the index of that subtask"),
        (("look_up",), ("0",), "`look_up` was understood as 0, the index of that subtask"),
    ],
)
@pytest.mark.parametrize("field", ["depends_on_subtasks", "dependsOnSubtasks", "depends_on"])
def test_dependencies_may_be_one_index_a_text_or_names(written, indexes, said, field):
    """A name that only one other subtask has is its index."""
    found = read({"name": "Look-Up"}, {}, {field: written})
    assert found.fields["subtasks"][2]["depends_on_subtasks"] == indexes
    warnings = [each.partition(": ")[2] for each in found.warnings if "depends_on_s" in each]
    renamed = ["it was understood as `depends_on_subtasks`"] if field == "depends_on" else []
    assert warnings == renamed + ([] if said is None else [said])


@pytest.mark.parametrize("written", [True, -1, 1.5, {"index": 0}])
def test_dependencies_that_are_none_are_refused(written):
    """Booleans are not numbers."""
    found = proposal({"subtasks": ({"description": "x", "depends_on": written},)})
    assert found.complaint() == (
        "subtasks[0].depends_on_subtasks: write a list of indexes from 0 on, for example [0, 2]"
    )


def test_a_name_of_several_is_refused(tmp_path):
    """The judge says so, before anything begins."""

    def says(task, prompt, turn, told):
        last = {"name": "clerk", "description": "c", "depends_on": ["clerk"]}
        return proposing(clerk("a"), clerk("b"), last) if turn == 0 else "alone"

    played = play(tmp_path, '(str (chief "g"))', says)
    assert played.told[0]["reason"].startswith(
        "subtask 2 depends on `clerk`, which is no index from 0 to 2, but a name of several; "
    )


@pytest.mark.parametrize(
    ("subtasks", "said"),
    [
        ({"description": "x"}, "subtasks: a single object was read as a list of one"),
        ('[{"description": "x"}]', "subtasks: a text in JSON was read as a list"),
        (("x",), "subtasks[0]: a text was read as the description of a subtask"),
        (('{"description": "x"}',), "subtasks[0]: a text in JSON was read as an object"),
    ],
)
def test_subtasks_may_be_written_loosely(subtasks, said):
    """One object, or a text that holds JSON."""
    found = proposal({"reason": "TooLarge", "subtasks": subtasks})
    assert (found.problems, found.warnings) == ({}, (said,))
    assert found.fields["subtasks"] == ({"description": "x"},)


@pytest.mark.parametrize(
    "written", ["first_success", "FIRST_SUCCESS", "firstSuccess", "First success"]
)
def test_words_may_have_any_case(written):
    """The documents' words are told apart by their letters."""
    found = read({}, stopWhen=written, reason="missing_info")
    assert found.fields["stop_when"] == {"kind": "FirstSuccess", "description": ""}
    assert found.warnings == (
        f"stop_when: `{written}` was understood as `FirstSuccess`",
        "reason: `missing_info` was understood as `MissingInfo`",
    )
    assert read({}, stop_when='{"kind": "UserDecision"}').fields["stop_when"]["kind"] == (
        "UserDecision"
    )


def test_fields_may_have_any_case():
    """They are told apart by their letters, too; what there is not is named as it was written."""
    found = proposal(
        {"Reason": "Ambiguity", "SUBTASKS": ({"Description": "x", "BUDGET-CAP": {"CALLS": 2}},)}
    )
    assert (found.problems, found.warnings) == ({}, ())
    assert found.fields["reason"] == "Ambiguity"
    assert found.fields["subtasks"] == ({"description": "x", "budget_cap": {"calls": 2}},)
    assert read({"maxTime": 3}).warnings == (
        "a subplan has no field `subtasks[0].maxTime`; it was left out",
    )


def test_other_fields_may_be_texts():
    """Inputs in JSON, a flag as a word. A text that is meant as one stays what it is."""
    found = read({"inputs": '{"a": [1]}', "allow_no_op_completion": "True"}, {"name": "[x]"})
    assert found.fields["subtasks"][0]["inputs"] == {"a": (1,)}
    assert found.fields["subtasks"][0]["allow_no_op_completion"] is True
    assert found.fields["subtasks"][1]["name"] == "[x]"
    assert len(found.warnings) == 2


@pytest.mark.parametrize(
    ("plan", "field"),
    [
        ({"stop_when": "FirstSuccess", "stopWhen": "UserDecision"}, "stop_when"),
        ({"subtasks": ({"description": "x", "depends_on": 0, "dependencies": 0},)}, "depends_on"),
        ({"subtasks": "tea and milk"}, "subtasks"),
        ({"subtasks": {"first": {"description": "x"}}}, "subtasks: write a list of subtasks"),
        ({"subtasks": (7,)}, "subtasks[0]"),
        ({"subtasks": ({"description": "x", "inputs": "tea"},)}, "inputs"),
        ({"subtasks": ({"description": "x", "allow_no_op_completion": 1},)}, "allow_no_op"),
        ({"stop_when": "Success"}, "stop_when"),
    ],
)
def test_what_could_mean_two_things_is_refused(plan, field):
    """Or nothing at all; the message names the field."""
    found = proposal({"subtasks": ({"description": "x"},), **plan})
    assert field in found.complaint()


def test_what_was_understood_is_noted(tmp_path):
    """The plan is done, in the order that was meant, and the result says as what it was read."""
    subtasks = [clerk("a"), {"name": "clerk", "description": "b", "dependsOn": "0"}]

    def says(task, prompt, turn, told):
        if task == "chief" and turn == 0:
            return {
                "tool_use": {"name": "propose_subplan", "input": {"subtasks": json.dumps(subtasks)}}
            }
        return "done"

    played = play(tmp_path, '(call-task chief "g")', says)

    assert [each["state"] for each in played.told[0]["results"]] == ["Completed"] * 2
    assert played.prompts.index("Find a") < played.prompts.index("Find b")
    assert played.value.notes["warnings"] == [
        "subtasks: a text in JSON was read as a list",
        "subtasks[1].dependsOn: it was understood as `depends_on_subtasks`",
        "subtasks[1].depends_on_subtasks: `0` was read as a list",
    ]


@pytest.mark.parametrize(
    ("given", "place", "name"),
    [
        (
            {"subtasks": '[{"name": "a", "description": "b", "description": "c"}]'},
            "subtasks",
            "description",
        ),
        ({"subtasks": '[{"description": "b", "description": "b"}]'}, "subtasks", "description"),
        (
            {"subtasks": ({"description": "b", "budget_cap": '{"calls": 1, "calls": 99}'},)},
            "subtasks[0].budget_cap",
            "calls",
        ),
        ('{"subtasks": ["b"], "reason": "x", "reason": "y"}', "subplan", "reason"),
    ],
    ids=repr,
)
def test_a_field_that_stands_twice_in_a_text_is_refused(given, place, name):
    """Whatever its values are: neither wins in silence."""
    assert f"`{name}` occurs twice" in proposal(given).problems[place]


def test_half_of_a_surrogate_pair_in_a_text_is_a_question_mark():
    """As in all that a model says; a whole pair is its character."""
    text = '[{"description": "a\\ud800", "name": "\\ud83d\\ude00"}]'
    (subtask,) = proposal({"subtasks": text}).fields["subtasks"]
    assert ("a?", "😀") == (subtask["description"], subtask["name"])
