"""Each guard of a plan, tripped by a scripted model: the message that the model got."""

from itertools import count

import pytest
from plans_support import TEMPLATES, clerk, lead, play, proposing

from sexplang.machine import Limits


def chief_says(first, then="done"):
    """A chief who proposes once and ends, and clerks who answer."""

    def says(task, prompt, turn, told):
        if task != "chief":
            return f"found {prompt}"
        return first if turn == 0 else then

    return says


def refused(tmp_path, proposal, program='(str (chief "g"))', **more):
    """The reason that the chief was told, and that nothing was begun."""
    played = play(tmp_path, program, chief_says(proposal), **more)
    assert played.value == "done"
    (told,) = played.told
    assert told["accepted"] is False
    assert played.states == []
    return told["reason"]


NUMBERED = [f"item {n} of the list" for n in range(11)]

ADVICE = "; propose something simpler, or do the task yourself"


@pytest.mark.parametrize(
    ("proposal", "message"),
    [
        (proposing(), "the plan has no subtasks, and needs at least 1"),
        (proposing(*NUMBERED), "too many subtasks: 11 are proposed, and the limit is 10"),
        (
            proposing("a one", clerk("b two", 7)),
            "subtask 1 depends on `7`, which is no index from 0 to 1",
        ),
        (
            proposing("a one", clerk("b two", True)),
            "subtask 1 depends on `true`, which is no index from 0 to 1",
        ),
        (
            proposing(clerk("a one", 1), clerk("b two", 2), clerk("c three", 0)),
            "the subtasks depend on each other in a circle: 0 -> 1 -> 2 -> 0",
        ),
        (
            proposing(clerk("a one", 0)),
            "the subtasks depend on each other in a circle: 0 -> 0",
        ),
        (
            proposing("find the price of tea", clerk("find the price of green tea", 0)),
            "subtask 1 repeats subtask 0, and one comes after the other",
        ),
        (
            proposing(clerk("a", budget_cap=200), clerk("b", budget_cap={"seconds": 150.5})),
            "too large budgets: the caps of seconds add up to 350.5, and 300 are left",
        ),
        (
            proposing(clerk("a", budget_cap=300), clerk("b", budget_cap=1e-7)),
            "too large budgets: the caps of seconds add up to 300.0000001, and 300 are left",
        ),
        (
            proposing(clerk("a", budget_cap=1e300), clerk("b", budget_cap=10**300)),
            "too large budgets: the caps of seconds add up to more than can be counted, and 300 "
            "are left",
        ),
    ],
)
def test_a_proposal_is_refused_whole(tmp_path, proposal, message):
    """The text has the numbers, nothing is begun, and the model goes on."""
    assert refused(tmp_path, proposal) == message + ADVICE


@pytest.mark.parametrize(
    ("budget", "cap", "message"),
    [
        ("{calls: 5}", {"calls": 3}, "the caps of calls add up to 6, and 4 are left"),
        ("{usd: 9}", {"usd": 5.5}, "the caps of usd add up to 11, and"),
        ("{tokens: 9000}", {"tokens": 5000}, "the caps of tokens add up to 10000, and"),
        ("{seconds: 40}", {"seconds": 21}, "the caps of seconds add up to 42, and 40 are left"),
    ],
)
def test_what_budgets_around_leave_bounds_the_caps(tmp_path, budget, cap, message):
    """What is spent already is not left; the shortest deadline is the parent's budget."""
    proposal = proposing(clerk("a", budget_cap=cap), clerk("b", budget_cap=cap))
    program = f'(with-budget {budget} (str (chief "g")))'
    assert message in refused(tmp_path, proposal, program)


def test_a_proposal_that_is_malformed_is_told_field_by_field(tmp_path):
    """Before any handler sees it; the model may write it better."""
    bad = proposing({"inputs": {}}, {"description": "x", "budgetCap": -1}, reason="Boredom")
    played = play(tmp_path, '(str (chief "g"))', chief_says(bad))

    (told,) = played.told
    assert told["reason"] == "input_validation_failure"
    assert told["message"] == (
        "a malformed subplan: reason: write one of TooLarge, MissingInfo, DependencyDiscovered, "
        "Ambiguity, ExternalToolRequired; subtasks[0].description: say what the subtask is to do; "
        "subtasks[1].budget_cap: write a number of seconds, or an object such as "
        '{"seconds": 60, "calls": 5, "tokens": 9000, "usd": 0.5} with numbers above 0, '
        "calls and tokens whole"
    )


@pytest.mark.parametrize("path", ["../tea", "src/../../tea", "/etc", "..\\\\tea", "src/.//../.."])
def test_a_path_that_leaves_the_folder_is_nobodys(tmp_path, path):
    """What lies elsewhere cannot be given away, however it is spelled."""
    played = play(
        tmp_path, '(str (chief "g"))', chief_says(proposing(clerk("a", owned_paths=[path])))
    )

    (told,) = played.told
    assert told["message"] == (
        "a malformed subplan: subtasks[0].owned_paths: write paths below the program's folder, "
        "such as src/parser"
    )


def test_nested_plans_go_three_levels_deep_and_no_deeper(tmp_path):
    """The fourth level is told the limit, and ends by itself."""

    def says(task, prompt, turn, told):
        level = int(prompt[-1])
        return proposing(lead(f"level {level + 1}")) if turn == 0 else f"level {level}"

    played = play(tmp_path, '(str (chief "level 0"))', says)

    assert played.value == "level 0"
    reasons = [told["reason"] for told in played.told if not told["accepted"]]
    assert reasons == ["too deep: the subtasks would be at depth 4, and the limit is 3" + ADVICE]
    assert "chief/sub-0/sub-0/sub-0 Completed" in played.states


def test_a_spawn_storm_stops_at_width_depth_and_nodes(tmp_path):
    """Everybody always proposes ten leads: a run has 100 nodes, no plan is wider than ten, no node
    deeper than three, and three work at a time. There are seconds enough for all of them."""
    part = count()

    def says(task, prompt, turn, told):
        return proposing(*[lead(f"part {next(part)}") for _ in range(10)]) if not turn else "done"

    played = play(tmp_path, '(str (chief "all"))', says, limits=Limits(subplan_seconds=3000))

    begun = [state for state in played.states if state.endswith("Dispatched")]
    depths = {state.count("/") for state in begun}
    assert played.value == "done"
    assert len(begun) == 100
    assert max(depths) <= 3
    assert played.widest == 3
    reasons = {told["reason"].split(":")[0] for told in played.told if not told["accepted"]}
    assert reasons <= {"too many nodes", "too deep"}
    assert any(
        "this run has planned 100, 10 more are proposed, and the limit is 100" in told["reason"]
        for told in played.told
        if not told["accepted"]
    )


def test_a_spawn_storm_stops_at_the_budget(tmp_path):
    """A budget of calls around the whole is exact."""
    part = count()

    def says(task, prompt, turn, told):
        return proposing(*[lead(f"part {next(part)}") for _ in range(3)]) if not turn else "done"

    played = play(tmp_path, '(attempt (with-budget {calls: 12} (call-task chief "all")))', says)

    assert len(played.prompts) == 12
    assert played.value.notes["error"]["reason"] == "calls"


def test_decompositions_are_few_and_need_progress(tmp_path):
    """The second needs something new that is done; the fourth comes too late; the third refusal
    ends the task."""
    done = [{"name": "a.md", "type": "text", "text": "A"}]
    more = [{"name": "b.md", "type": "text", "text": "B"}]
    script = [
        proposing(clerk("one", budget_cap=100)),
        proposing(clerk("two", budget_cap=100)),
        proposing(clerk("two", budget_cap=100), artifacts=done),
        proposing("three", artifacts=more),
        proposing("four", artifacts=[{"name": "c", "text": "C"}]),
        "all done",
    ]

    def says(task, prompt, turn, told):
        return script[turn] if task == "chief" else "found"

    played = play(tmp_path, '(call-task chief "g")', says)

    assert [told["accepted"] for told in played.told] == [True, False, True, True, False]
    assert played.told[1]["reason"] == (
        "decomposition 2 of this conversation needs partial progress: deliver at least 1 new "
        "artifact with it" + ADVICE
    )
    assert played.told[4]["reason"] == (
        "too many decompositions: 3 were accepted in this conversation, and the limit is 3" + ADVICE
    )
    assert [each["name"] for each in played.value.notes["artifacts"]] == ["a.md", "b.md", "c"]
    assert [state for state in played.states if "Dispatched" in state] == [
        "chief/sub-0 Dispatched",
        "chief/sub-1 Dispatched",
        "chief/sub-2 Dispatched",
    ]


def test_a_model_that_keeps_proposing_is_stopped(tmp_path):
    """Two refusals are told; the third ends the task."""
    played = play(
        tmp_path, '(attempt (call-task chief "g"))', lambda task, prompt, turn, told: proposing()
    )

    error = played.value.notes["error"]
    assert [told["accepted"] for told in played.told] == [False, False]
    assert (error["reason"], error["details"]["limit_kind"]) == ("execution_halted", "subplan")
    assert "the plan has no subtasks, and needs at least 1" in error["message"]


def test_what_is_granted_to_earlier_plans_is_not_left(tmp_path):
    """Budgets are inherited exactly: 300 less 250 are 50. What is done once is granted once."""
    done = [{"name": "a", "text": "A"}]
    script = [
        proposing(clerk("one", budget_cap=250), clerk("one", budget_cap=250)),
        proposing(clerk("two", budget_cap=51), artifacts=done),
        proposing(clerk("two", budget_cap=50), artifacts=done),
        "done",
    ]

    def says(task, prompt, turn, told):
        return script[turn] if task == "chief" else "found"

    played = play(tmp_path, '(str (chief "g"))', says)

    assert [told["accepted"] for told in played.told] == [True, False, True]
    assert "add up to 51, and 50 are left" in played.told[1]["reason"]


@pytest.mark.parametrize(
    ("around", "subtasks", "seconds", "granted"),
    [
        ("", [clerk(f"a {n}") for n in range(10)], [30] * 10, 300),
        ("", [clerk("a")], [300], 300),
        ("", [clerk("a", budget_cap=200), clerk("b"), clerk("c")], [200, 50, 50], 300),
        ("", [clerk("a"), clerk("b"), clerk("c", budget_cap={"calls": 2})], [100] * 3, 300),
        ("", [clerk("a", budget_cap=100), *map(clerk, "bcd")], [100, 66.666, 66.666, 66.666], None),
        ("{seconds: 1000}", [clerk("a", budget_cap=50), clerk("b")], [50, 250], 300),
        ("{seconds: 3}", [*map(clerk, "abc")], [1] * 3, 3),
    ],
)
def test_subtasks_without_a_cap_share_what_is_left(tmp_path, around, subtasks, seconds, granted):
    """Caps come first; the others get equal parts, and no more than the 300 seconds of a subtask
    of which nobody says anything."""
    program = f'(with-budget {around or "{calls: 99}"} (call-task chief "g"))'
    played = play(tmp_path, program, chief_says(proposing(*subtasks)))

    (plan,) = played.value.notes["subplans"]
    timers = [request[1] for request in played.asked if request[0] == "timer"]
    own = timers[timers.index(max(timers)) + 1 :] if not around else timers[2:]
    assert sorted(own) == sorted(seconds)
    assert plan["granted"] == (granted if granted is not None else pytest.approx(299.998))


def test_a_share_is_no_more_than_a_subtask_has_of_itself(tmp_path):
    """A parent with more time leaves some of it to its next plan."""
    timed = TEMPLATES.replace(
        "Goal: {{goal}}<", 'Goal: {{goal}}</instructions><limits timeout="800"/><', 1
    )
    timed = timed.replace("/></instructions>", "/>", 1)
    script = [
        proposing("one", "two"),
        proposing("three", artifacts=[{"name": "a", "text": "A"}]),
        "done",
    ]

    def says(task, prompt, turn, told):
        return script[turn] if task == "chief" else "found"

    played = play(tmp_path, '(call-task chief "g")', says, templates=timed)

    assert [plan["granted"] for plan in played.value.notes["subplans"]] == [600, 200]


@pytest.mark.parametrize(
    ("around", "first", "second", "numbers"),
    [
        (
            "{seconds: 2}",
            [],
            [clerk("a"), clerk("b"), clerk("c")],
            "2 seconds are left, the caps take 0 of them, and 3 without a cap would have 0.666 "
            "each",
        ),
        (
            "{calls: 99}",
            [],
            [clerk("a", budget_cap=299.5), clerk("b")],
            "300 seconds are left, the caps take 299.5 of them, and 1 without a cap would have 0.5 "
            "each",
        ),
        (
            "{calls: 99}",
            [clerk("one"), clerk("two")],
            [clerk("three")],
            "0 seconds are left, the caps take 0 of them, and 1 without a cap would have 0 each",
        ),
    ],
)
def test_a_plan_with_too_little_time_is_refused(tmp_path, around, first, second, numbers):
    """What uncapped subtasks of earlier plans were granted is not left either."""
    script = [proposing(*first)] if first else []
    script += [proposing(*second, artifacts=[{"name": "a", "text": "A"}]), "done"]

    def says(task, prompt, turn, told):
        return script[turn] if task == "chief" else "found"

    played = play(tmp_path, f'(with-budget {around} (str (chief "g")))', says)

    assert played.value == "done"
    assert played.told[-1]["reason"] == f"too little time: {numbers}, less than 1{ADVICE}"


def test_rejected_then_simpler_then_accepted(tmp_path):
    """The model answers a rejection with a smaller plan."""
    script = [proposing(*NUMBERED), proposing(*NUMBERED[:2]), "done"]

    def says(task, prompt, turn, told):
        return script[turn] if task == "chief" else f"found {prompt}"

    played = play(tmp_path, '(str (chief "g"))', says)

    assert played.value == "done"
    assert [told["accepted"] for told in played.told] == [False, True]
    assert [each["state"] for each in played.told[1]["results"]] == ["Completed", "Completed"]


def test_what_is_being_done_elsewhere_is_not_begun_again(tmp_path):
    """The frontier is that of the whole run: nodes that are not done, in any plan; paths that
    somebody else owns, too. What an ancestor owns is one's own."""

    def says(task, prompt, turn, told):
        if task == "chief" and turn == 0:
            return proposing(
                lead("first half", owned_paths=["src/a"]),
                clerk("find the price of tea", owned_paths=["docs"]),
            )
        if task == "lead" and turn == 0:
            return proposing(clerk("find the price of tea"))
        if task == "lead" and turn == 1:
            return proposing(clerk("write it down", owned_paths=["src/../DOCS\\prices.md"]))
        if task == "lead" and turn == 2:
            return proposing(clerk("code it", owned_paths=["src/a/b.py"]))
        return "done"

    def slow(ready):
        # The chief's clerk takes his time.
        quick = [each for each in ready if "price" not in str(each.arguments)]
        return (quick or ready)[0]

    played = play(tmp_path, '(str (chief "g"))', says, pick=lambda ready: slow(ready))

    lines = [told.get("reason") for told in played.told if told.get("reason")]
    assert lines == [
        "subtask 0 overlaps with `chief/sub-1`, which is not done and is to do the same: find the "
        "price of tea" + ADVICE,
        "subtask 0 overlaps with `chief/sub-1`, which is not done and owns the same paths" + ADVICE,
    ]
    assert "chief/sub-0/sub-0 Completed" in played.states


def test_limits_of_a_program_can_only_be_lower(tmp_path):
    """A handler that runs plans itself says how; more than the run's limits it cannot allow."""
    program = """
    (handle (str (chief "g"))
      ((subplan plan) resume (resume (run-subplan plan limits: {subtasks: %s}))))
    """
    few = proposing(*NUMBERED[:3])

    assert "3 are proposed, and the limit is 2" in refused(tmp_path, few, program % 2)
    assert "11 are proposed, and the limit is 10" in refused(
        tmp_path, proposing(*NUMBERED), program % 50
    )
