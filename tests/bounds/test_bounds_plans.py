"""What a program from a model sees: the prelude, its inputs, its own, and what `allow:` names."""

import json

import pytest
from support.running import built

from sexplang.machine import Done, Suspended, start
from sexplang.machine.frozen_runs import freeze, thaw
from sexplang.pipeline.pipeline import tasks

OUTER = '(defatom outer (description "digs") (instructions "dig"))'
HINT = 'allow it: (eval-plan text allow: [\'(task "outer")])'
WAYS = {
    "by name": "(call-atomic-task 'outer inputs: {})",
    "as a subtask": '(perform subtask {name: "outer" description: "x"})',
    "from a tool": '(map (lambda (n) (call-atomic-task n)) ["outer"])',
    "in a branch": "(first (par (call-atomic-task 'outer) 1))",
    "in a plan": "(answered (eval-plan \"(call-atomic-task 'outer)\" allow: ['model 'subtask]))",
    "in a cleanup": "(try 1 (finally (call-atomic-task 'outer)))",
    "in its own handler": "(handle (perform x) ((x) k (k (call-atomic-task 'outer))))",
    "a function it is given": "(given)",
}
ANSWERED = "(define (answered r) (if (failed? r) (raise r) (if r.error (raise r.error) r.value)))"


def run(text, pause=lambda outcome: outcome):
    """The end of a program whose models all say the same, and what they were asked."""
    system, asked = tasks(), []
    outcome = start(built(text), {}, system)
    while isinstance(outcome, Suspended):
        outcome = pause(outcome)
        request = outcome.requests[0]
        asked.append(request.arguments[0])
        outcome = outcome.resume(
            request.id,
            {
                "role": "assistant",
                "content": [{"type": "text", "text": "said"}],
                "stop_reason": "end_turn",
            },
        )
    assert isinstance(outcome, Done), outcome
    return outcome.value, asked


def plan(text, allow="'model 'subtask"):
    text = json.dumps(f"{ANSWERED} {text}")
    given = "{given: (lambda () (call-atomic-task 'outer))}"
    return f"{OUTER} (eval-plan {text} inputs: {given} allow: [{allow}])"


@pytest.mark.parametrize(("allow", "calls"), [("'model", 1), ("'model '(task \"outer\")", 2)])
def test_a_plan_goes_on_with_no_task_that_is_not_allowed(allow, calls):
    text = json.dumps('(define-input r type: json) (get (continue r "again") "content")')
    program = f"(define r (call-task outer)) (eval-plan {text} inputs: {{r: r}} allow: [{allow}])"

    value, asked = run(f"{OUTER} {program}")

    assert len(asked) == calls
    assert value["value"] == "said" if calls == 2 else value["error"].fields["hint"] == HINT


@pytest.mark.parametrize("way", WAYS)
def test_a_plan_reaches_no_task_that_is_not_allowed(way):
    value, asked = run(plan(WAYS[way]))

    assert (value["status"], asked) == ("failed", [])
    assert value["error"].fields["reason"] == "plan-denied"
    assert value["error"].fields["hint"] == HINT


@pytest.mark.parametrize("way", WAYS)
def test_a_task_that_is_allowed_is_there(way):
    text = WAYS[way].replace("'subtask]", "'subtask '(task \"outer\")]")
    value, asked = run(plan(text, "'model 'subtask '(task \"outer\")"))

    assert (value["status"], len(asked)) == ("done", 1), value


def test_an_operation_of_the_same_name_is_not_the_task():
    text = "(define-effect (task x))" + plan(WAYS["by name"], "'task 'model")

    assert run(text)[0]["error"].fields["reason"] == "plan-denied"


def test_a_model_of_a_plan_is_told_of_its_tasks_alone():
    """Its own, and those that it is allowed."""
    own = (
        '(defatom own (description "mine") (instructions "x") (allowed_tools spawn_subtask))'
        '(defatom other (description "its own") (instructions "x")) (handle (own) ((model p) k p))'
    )
    denied, _ = run(plan(own))
    allowed, _ = run(plan(own, "'model '(task \"outer\")"))

    assert "other(): its own" in str(denied) and "digs" not in str(denied)
    assert "other(): its own" in str(allowed) and "outer(): digs" in str(allowed)


def test_a_plan_calls_its_own_task_by_name():
    text = '(defatom own (instructions "mine")) (answer (call-atomic-task \'own))'
    value, asked = run(plan(text))

    assert value == {"status": "done", "value": "said"}
    assert len(asked) == 1


@pytest.mark.parametrize(
    ("text", "work"),
    [
        ("(perform ask)", "(k {})"),
        ("(perform ask)", "(list (k {}))"),
        ("(try (perform ask) (finally 1))", "(list (k {}))"),
        ("(first (par (perform ask) 1))", "(k {})"),
    ],
)
def test_a_handler_of_the_caller_keeps_its_tasks(text, work):
    """What it does for a plan is the caller's code, with the caller's rights."""
    work = work.replace("{}", "(answer (call-atomic-task 'outer))")
    plan = f"(eval-plan {json.dumps(text)} allow: ['ask])"
    value, asked = run(f"{OUTER} (define-effect (ask)) (handle {plan} ((ask) k {work}))")

    assert "said" in str(value) and len(asked) == 1


def test_a_frozen_plan_keeps_what_it_sees():
    """Also a plan in a plan; it sees no more and no less after."""
    seen = "(attempt (call-atomic-task 'outer) 0)"
    inner = f'(defatom mine (instructions "y")) [(mine) (answer (call-atomic-task \'mine)) {seen}]'
    text = plan(f"(answered (eval-plan {json.dumps(inner)} allow: ['model]))")

    def again(outcome):
        return thaw(built(text), json.loads(json.dumps(freeze(outcome))), tasks())

    value, asked = run(text, pause=again)

    assert (value, len(asked)) == ({"status": "done", "value": ("said", "said", 0)}, 2)
