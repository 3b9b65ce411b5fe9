"""A clause that gives the body up works for those around its handle; a task that fails is over."""

import pytest
from attrs import define, field
from support.running import built

import sexplang
from sexplang.machine import Done, Failed, Limits, start
from sexplang.pipeline.pipeline import tasks
from sexplang.terms.task import error_record

TASK = '(defatom s (params (x string)) (instructions "S {{x}}"))\n'
OVERLOADED = error_record("TASK_FAILURE", "model-overloaded", "too much to do")
FAILS = object()


LOOKS = {
    "content": [{"type": "tool_use", "id": "1", "name": "look", "input": {}}],
    "stop_reason": "tool_use",
    "usage": {"input_tokens": 5},
}
"""A model that calls a tool."""


def reply(text):
    return {"content": [{"type": "text", "text": text}], "stop_reason": "end_turn", "usage": {}}


@define
class Ran:
    """A run that is over, and what it asked of the host, each with the tasks that it was for."""

    outcome: object = None
    asked: list = field(factory=list)

    @property
    def value(self):
        assert isinstance(self.outcome, Done), self.outcome
        return self.outcome.value

    @property
    def reason(self):
        assert isinstance(self.outcome, Failed), self.outcome
        return self.outcome.error.fields["reason"]


def ran(text, *replies, limits=None, budget=None):
    """The program, with these replies to its requests; FAILS is a model that is overloaded."""
    run = Ran(start(built(text), {}, tasks(), limits, budget))
    replies = iter(replies)
    while run.outcome.__class__.__name__ == "Suspended":
        timers = [each for each in run.outcome.requests if each.operation == "timer"]
        others = [each for each in run.outcome.requests if each.operation != "timer"]
        request = (others or timers)[0]
        names = [each.name for each in request.context.conversations]
        said = next(replies)
        if said == "late":
            run.outcome = run.outcome.resume(timers[0].id, None)
            continue
        run.asked.append((request.operation, names))
        if said is FAILS:
            run.outcome = run.outcome.fail(request.id, OVERLOADED)
        else:
            said = reply(said) if isinstance(said, str) else said
            run.outcome = run.outcome.resume(request.id, said)
    return run


SAME = '(try (str (s "a")) (catch (e) (str (s "a"))))'
"""Writer 1, a.sexp: the task again, with the same inputs."""

ANSWERED = {
    "a catch": SAME,
    "a catch by reason": '(try (str (s "a")) (catch (e model-overloaded) (str (s "a"))))',
    "another model": '(try (str (s "a")) '
    '(catch (e) (str (call-atomic-task \'s inputs: {x: "a"} model: "other"))))',
    "a handler that gives up": '(handle (str (s "a")) ((error e) _ (str (s "a"))))',
    "a handler that answers": '(handle (str (s "a")) ((error e) k (k (s "a"))))',
    "a handler that tests and forwards": """
        (handle (str (s "a"))
          ((error e) k (if (equal? e.type "USER_ERROR") (forward k error e) (str (s "a")))))""",
    "an attempt": '(or (attempt (s "a") nil) (str (s "a")))',
    "a retry": '(str (retry (lambda () (s "a")) times: 2))',
    "a retry by hand": """
        (define (again n)
          (if (= n 0) "end" (try (str (s "a")) (catch (e) (again (- n 1))))))
        (again 2)""",
    "after a finally": '(try (try (str (s "a")) (finally 1)) (catch (e) (str (s "a"))))',
    "a branch": '(first (par (try (str (s "a")) (catch (e) (str (s "a"))))))',
    "around a par": '(try (first (par (str (s "a")))) (catch (e) (str (s "a"))))',
    "a race": '(try (str (race (s "a"))) (catch (e) (str (s "a"))))',
}


@pytest.mark.parametrize("text", ANSWERED.values(), ids=ANSWERED)
def test_a_task_that_failed_is_called_again(text):
    """It is a sibling of what failed: no cycle, no deeper."""
    run = ran(TASK + text, FAILS, "ok")

    assert "ok" == run.value
    assert run.asked == [("model", ["s"]), ("model", ["s"])]


LATE = {
    "a timeout": '(try (with-timeout 5 (str (s "a"))) (catch (e seconds) (str (s "a"))))',
    "a timeout, then a handler": """
        (handle (with-timeout 5 (str (s "a"))) ((error e) _ (str (s "a"))))""",
    "a template's own": '(try (str (slow "a")) (catch (e) (str (slow "a"))))',
    "a template's own, then a handler": """
        (handle (str (slow "a")) ((error e) k (str (slow "a"))))""",
}
SLOW = '(defatom slow (params (x string)) (instructions "S {{x}}") (limits timeout: 9))\n'


@pytest.mark.parametrize("text", LATE.values(), ids=LATE)
def test_a_task_that_was_late_is_called_again(text):
    assert "ok" == ran(TASK + SLOW + text, "late", "ok").value


@pytest.mark.parametrize("last", [7, 50])
@pytest.mark.parametrize("fails", ["(catch (e) (first-of (rest xs)))", None])
def test_one_input_after_another_is_tried(last, fails):
    """Writer 1, n.sexp: each with a `catch` of its own, or by a handler."""
    one = "(str (s (str (first xs))))"
    tried = (
        f"(try {one} {fails})" if fails else f"(handle {one} ((error e) _ (first-of (rest xs))))"
    )
    text = f'(define (first-of xs) (if (empty? xs) "none" {tried})) (first-of (range {last}))'

    assert "good" == ran(TASK + text, *[FAILS] * (last - 1), "good").value


def test_a_template_with_a_timeout_has_left_it_when_it_fails():
    """A clause that goes on for whoever called the task is under no deadline of the task."""
    text = '(handle (str (slow "a")) ((error e) k (begin (sleep 1) (k "x"))))'
    outcome = start(built(SLOW + text), {}, tasks())
    (asked,) = [each for each in outcome.requests if each.operation == "model"]

    outcome = outcome.fail(asked.id, OVERLOADED)

    assert ["sleep"] == [each.operation for each in outcome.requests]


def test_what_a_resumed_failure_gives_is_the_value_of_the_call():
    """Not a reply of the model: the conversation is over."""
    text = '(handle (list (s "a") 2) ((error e) k (k {not: "a reply"})))'

    assert ({"not": "a reply"}, 2) == ran(TASK + text, FAILS).value


def test_what_was_said_and_taken_is_told_once():
    """By the error that the call raises, as by that of a conversation that ends of itself."""
    text = """
    (defatom p (instructions "P") (allowed_tools look))
    (try (str (p)) (catch (e) [e.details.usage e.details.turns.used]))"""

    run = ran(text, LOOKS, "seen", FAILS)

    assert ({"input_tokens": 5, "output_tokens": 0}, 1) == run.value


INSIDE = """
(defatom p (instructions "P") (allowed_tools look))
(handle (str (p))
  ((tool name inputs) k (k {})))
"""


@pytest.mark.parametrize("fails", [False, True])
@pytest.mark.parametrize(
    "answer",
    [
        '(try (str (s "a")) (catch (e) (str (s "b"))))',
        '(handle (str (s "a")) ((error e) _ (str (s "b"))))',
    ],
)
def test_a_handle_in_a_conversation_stays_in_it(answer, fails):
    """What answers a tool works for the conversation, and so does its fallback."""
    tools = [FAILS, "ok"] if fails else ["ok"]

    run = ran(TASK + INSIDE.format(answer), LOOKS, *tools, "done")

    assert "done" == run.value
    inner = [("model", ["p", "s"])] * len(tools)
    assert run.asked == [("model", ["p"]), *inner, ("model", ["p"])]


def test_a_clause_around_a_conversation_leaves_it():
    """A clause that gives up what a tool asked for is outside of the conversation."""
    text = INSIDE.replace("((tool name inputs) k (k {}))", '((tool name inputs) _ (str (s "b")))')

    run = ran(TASK + text, LOOKS, "ok")

    assert [("model", ["p"]), ("model", ["s"])] == run.asked


def test_what_a_catch_asks_for_has_the_budget_around_it():
    text = """
    (with-budget {calls: 1}
      (try (with-budget {calls: 0} (str (s "a"))) (catch (e) (str (s "a")))))"""

    assert "ok" == ran(TASK + text, "ok").value


def test_a_finally_works_for_those_around_its_try():
    """Also where the clause that gives it up is elsewhere."""
    text = """
    (define-effect (stop))
    (defatom p (instructions "P") (allowed_tools look))
    (handle
        (handle (try (str (p)) (finally (now)))
          ((tool name inputs) k (begin (try (stop) (finally (random))) (k 1))))
      ((stop) _ "end"))"""

    run = ran(text, LOOKS, 0.5, 1)

    assert "end" == run.value
    assert [("model", ["p"]), ("random", ["p"]), ("now", [])] == run.asked


# -- The brake ----------------------------------------------------------------------------------


FOREVER = TASK + '(define (go) (try (str (s "a")) (catch (e) (go)))) (go)'


def test_a_run_has_ten_thousand_model_calls():
    """Failed ones are counted; nothing catches the limit."""
    assert 10_000 == Limits().model_calls
    run = ran(FOREVER, *[FAILS] * 20, limits=Limits(model_calls=20))

    assert "limit-model-calls" == run.reason
    assert 20 == len(run.asked)
    assert "--limit model_calls=40" in run.outcome.error.fields["hint"]


def test_calls_that_reach_no_host_are_not_counted():
    """A handler's own answers, and what a budget refuses."""
    text = """
    (handle (map (lambda (n) (str (s "a"))) (range 9)) ((model p) k (k "x")))
    (map (lambda (n) (attempt (with-budget {calls: 0} (s "a")) 1)) (range 9))
    (str (s "a"))"""

    assert "ok" == ran(TASK + text, "ok", limits=Limits(model_calls=1)).value


def test_the_limit_ends_a_plan_alone():
    text = """
    (define two "(map (lambda (n) (model {messages: []})) [1 2])")
    (define told (eval-plan two allow: ['model]))
    told.error.reason"""

    assert "limit-model-calls" == ran(text, "x", limits=Limits(model_calls=1)).value


def test_a_count_is_frozen_with_its_run():
    from sexplang.machine.frozen_runs import freeze, thaw

    program = built(FOREVER)
    outcome = start(program, {}, tasks(), Limits(model_calls=2))
    outcome = thaw(program, freeze(outcome.fail(outcome.requests[0].id, OVERLOADED)), tasks())

    outcome = outcome.fail(outcome.requests[0].id, OVERLOADED)

    assert "limit-model-calls" == outcome.error.fields["reason"]


def test_python_and_the_command_set_it():
    def model(payload):
        raise sexplang.error("model-overloaded", "too much to do")

    with pytest.raises(sexplang.Failed) as failed:
        sexplang.run(FOREVER, model=model, limits=sexplang.Limits(model_calls=3))

    assert "limit-model-calls" == failed.value.error.fields["reason"]


@pytest.mark.parametrize(
    "handled",
    [
        "((subtask r) k (k 1))",
        "((subtask r) k (forward k subtask r))",
        '((subtask r) k (k (s "a")))',
    ],
)
def test_each_request_for_a_subtask_counts_once(handled):
    """Whoever answers it: a handler with a value, the default that it is forwarded to, a handler
    that calls a task."""
    text = f"""
    {TASK}
    (define (asked n) (subtask {{name: "s" inputs: {{x: (str n)}}}}))
    (handle (map asked (range 3)) {handled})"""

    refused = ran(text, *["ok"] * 9, limits=Limits(subtasks=2))
    done = ran(text, *["ok"] * 9, limits=Limits(subtasks=3))

    assert "execution_halted" == refused.reason
    assert 3 == len(done.value)
