"""Laws of plans: what is accepted, and in which order it is done, whoever answers first."""

import json
from random import Random

from hypothesis import given
from hypothesis import strategies as st
from support.examples import examples

import sexplang
from sexplang.machine import Done, Suspended, state_of
from sexplang.machine.frozen_runs import freeze, thaw
from sexplang.tasks.plans.judgement import judge
from sexplang.terms.plan import PlanNode, Standing
from sexplang.terms.task import Conversation, error_record


def judged_alone(plan, around):
    """What is said about a plan of which nobody knows who will do its subtasks."""
    return judge(lambda node, max_depth, around: ("", ""), plan, None, around)


@st.composite
def graphs(draw, most=13):
    """A plan's dependencies: any indexes, so that circles and strangers come up."""
    count = draw(st.integers(0, most))
    edges = st.lists(st.integers(0, max(0, count)), max_size=3)
    return [draw(edges) for _ in range(count)]


@st.composite
def acyclic(draw):
    """A plan's dependencies that lead to earlier subtasks, in a shuffled order."""
    count = draw(st.integers(1, 8))
    order = draw(st.permutations(range(count)))
    after = [[] for _ in range(count)]
    for place in range(1, count):
        before = st.lists(st.sampled_from(order[:place]), max_size=3, unique=True)
        after[order[place]] = draw(before)
    return after


def plan_of(after, caps=(), name=None):
    """A plan whose subtasks have nothing to do with each other."""
    subtasks = []
    for at, before in enumerate(after):
        subtask = {"description": f"step {at}", "depends_on_subtasks": tuple(before)}
        if name:
            subtask["name"] = name
        if at < len(caps):
            subtask["budget_cap"] = caps[at]
        subtasks.append(subtask)
    return {"subtasks": tuple(subtasks)}


def is_sound(after):
    """Whether all indexes are there and can be put in order: by taking away what is free."""
    left = dict(enumerate(after))
    if any(each >= len(after) for before in after for each in before):
        return False
    while left:
        free = [at for at, before in left.items() if not set(before) & set(left)]
        if not free:
            return False
        for at in free:
            del left[at]
    return True


@given(
    graphs(),
    st.integers(0, 4),
    st.integers(85, 101),
    st.lists(st.integers(1, 120), max_size=13),
    st.integers(0, 4),
    st.booleans(),
)
def test_a_plan_is_accepted_if_it_is_sound_and_within_all_limits(
    after, depth, planned, caps, before, has_progress
):
    """And only then: count, depth, nodes, decompositions, progress, dependencies, budgets. Nothing
    that was given is changed, and the judgement of the same is the same."""
    plan = {
        **plan_of(after, caps),
        "decomposition": before + 1,
        "progress": int(has_progress),
        "granted": 10 * before,
    }
    nodes = tuple([PlanNode(f"p{n}", 300, n + 1) for n in range(depth)])
    inside = tuple([Conversation(f"t{n}", "", n) for n in range(depth + 1)])
    around = Standing(nodes=nodes, planned=planned, conversations=inside)
    written = json.dumps(plan)

    judged = judged_alone(plan, around)

    wanted = (
        1 <= len(after) <= 10
        and depth + 1 <= 3
        and planned + len(after) <= 100
        and before < 3
        and (before == 0 or has_progress)
        and is_sound(after)
        and sum(caps[: len(after)]) + max(0, len(after) - len(caps)) <= 300 - 10 * before
    )
    assert (judged.plan is not None) == wanted, judged.reason
    assert json.dumps(plan) == written
    assert judged_alone(plan, around) == judged
    assert judged.count == (len(after) if wanted else 0)
    if wanted:
        seconds = [node["seconds"] for node in judged.plan["subtasks"]]
        assert seconds[: len(caps)] == caps[: len(after)]
        assert all(each >= 1 for each in seconds)
        assert sum(seconds) == judged.plan["granted"] <= 300 - 10 * before + 1e-9
    if not wanted:
        assert any(sign.isdigit() for sign in judged.reason)


@examples(40, 200, acyclic())
def test_an_accepted_plan_keeps_every_dependency(after):
    """Ids say the same as indexes, and nothing is dropped or added."""
    judged = judged_alone(plan_of(after), Standing())

    ids = [node["id"] for node in judged.plan["subtasks"]]
    assert ids == [f"plan/sub-{at}" for at in range(len(after))]
    assert [set(before) for before in judged.plan["after"]] == [set(each) for each in after]
    assert [set(node["after"]) for node in judged.plan["subtasks"]] == [
        {ids[each] for each in before} for before in after
    ]


def begun(after):
    """The program that proposes such a plan, at its first wait."""
    program = sexplang.build(f"(define-effect (work id))\n{PROGRAM % json.dumps(plan_of(after))}")
    return program, sexplang.start(program)


PROGRAM = """
(handle (map (lambda (each) each.notes.node.state) (get (subplan %s) "results"))
  ((subtask request) resume (begin (work request.description) (resume request.description))))
"""


def through(outcome, choose, pause=None):
    """Plays it to its end in an order; the names of the steps as they began and ended, and how
    many were at work at a time."""
    log, widest, opened = [], 0, outcome.requests
    while isinstance(outcome, Suspended):
        works = [each for each in outcome.requests if each.operation == "work"]
        widest = max(widest, len(works))
        log += [("begins", each.arguments[0]) for each in opened if each.operation == "work"]
        ready = [each for each in outcome.requests if each.operation != "timer"]
        request = choose(ready)
        if request.operation == "work":
            log.append(("ends", request.arguments[0]))
        outcome = outcome.resume(request.id, None)
        opened = state_of(outcome).opened if isinstance(outcome, Suspended) else ()
        if pause is not None and isinstance(outcome, Suspended):
            outcome = pause(outcome)
    assert isinstance(outcome, Done), outcome
    return log, widest, outcome.value


@examples(20, 200, acyclic(), st.integers(0, 2**32))
def test_the_order_respects_the_dependencies_under_every_schedule(after, seed):
    """Each step begins once, after all that it depends on have ended; three work at a time; all is
    done in the end."""
    _, outcome = begun(after)
    log, widest, value = through(outcome, Random(seed).choice)

    assert value == ("Completed",) * len(after)
    assert widest <= 3
    assert sorted(name for what, name in log if what == "begins") == sorted(
        f"step {at}" for at in range(len(after))
    )
    for at, before in enumerate(after):
        start = log.index(("begins", f"step {at}"))
        for each in before:
            assert log.index(("ends", f"step {each}")) < start


@examples(8, 80, acyclic(), st.integers(0, 2**32))
def test_a_plan_that_is_frozen_at_every_wait_is_the_same_plan(after, seed):
    """Nothing of a plan is outside of what is frozen."""
    program, outcome = begun(after)

    def thawed(outcome):
        return thaw(
            program, json.loads(json.dumps(freeze(outcome))), state_of(outcome).setting.tasks
        )

    whole = through(outcome, Random(seed).choice)
    parts = through(begun(after)[1], Random(seed).choice, thawed)

    assert whole == parts


FAILING = """
(handle (map (lambda (each) [each.notes.node.state each.notes.error.reason])
             (get (subplan (put %s "stop_when" "%s")) "results"))
  ((subtask request) resume (resume (attempt (work request.description)))))
"""


@examples(
    20,
    200,
    acyclic(),
    st.sets(st.integers(0, 7), max_size=3),
    st.sampled_from(["AllSubtasksComplete", "FirstSuccess"]),
    st.integers(0, 2**32),
)
def test_whatever_fails_and_whenever_the_states_agree(after, failing, kind, seed):
    """Who is Completed stands on nobody who is not. What waits for a failed one is not begun, and
    Failed too; nobody else is ended by a failure. A success where one is enough leaves nobody at
    work."""
    text = FAILING % (json.dumps(plan_of(after)), kind)
    outcome = sexplang.start(sexplang.build(f"(define-effect (work id))\n{text}"))
    choose = Random(seed).choice
    broken = error_record("TASK_FAILURE", "busy", "no")
    ended = set()
    while isinstance(outcome, Suspended):
        request = choose([each for each in outcome.requests if each.operation != "timer"])
        step = request.arguments[0] if request.operation == "work" else ""
        ended.add(step)
        is_bad = step != "" and int(step.removeprefix("step ")) in failing
        outcome = outcome.fail(request.id, broken) if is_bad else outcome.resume(request.id, None)
    assert isinstance(outcome, Done), outcome

    states = [state for state, _ in outcome.value]
    skipped = {at for at, (_, reason) in enumerate(outcome.value) if reason == "skipped"}
    assert len(states) == len(after)
    for at, state in enumerate(states):
        assert state in ("Completed", "Failed", "Cancelled")
        assert (state == "Failed") <= (at in failing or at in skipped)
        if at in skipped:
            assert f"step {at}" not in ended
            assert any(states[each] == "Failed" for each in after[at])
        elif state != "Cancelled":
            assert f"step {at}" in ended
            assert all(states[each] == "Completed" for each in after[at])
    if kind == "AllSubtasksComplete":
        doomed = doomed_by(failing, after)
        assert states == ["Failed" if at in doomed else "Completed" for at in range(len(after))]
        assert skipped == {at for at in doomed if set(after[at]) & doomed}
    elif "Cancelled" in states and "Completed" not in states:
        assert "Failed" in states


def doomed_by(failing, after):
    """The nodes that fail, and all that come after them."""
    doomed = failing & set(range(len(after)))
    for _ in after:
        doomed |= {at for at, before in enumerate(after) if set(before) & doomed}
    return doomed
