"""What the host refuses the program ends it; what a model may not have is told to the model."""

import json
from functools import cache

import pytest
from support.command import sexplang as command

import sexplang

CODES = ("path-denied", "run-denied", "net-denied", "no-model", "unhandled-effect")

BUSY = sexplang.error("busy", "come back later")

TASKS = """
(import std/steps)
(import std/state)
(import std/memory)
(import std/subplans)
(define-effect (ask))
(defatom say (params (words any)) (instructions "Say {{words}}"))
(defatom dig (subtype "subtask") (description "dig") (params (words any))
  (instructions "Dig {{words}}"))
(defatom pick (params (input any) (candidates any)) (instructions "Pick {{input}} {{candidates}}"))
"""


def refusals():
    """Each refusal, and that of a model which is told by its code."""
    plain = [pytest.param(sexplang.error(code, "not here"), code, id=code) for code in CODES]
    unmet = sexplang.error("configuration_error", "there is no model to ask", code="no-model")
    return [*plain, pytest.param(unmet, "configuration_error", id="code")]


LOOP = """
(director-evaluator-loop max_iterations: 4 initial: 1
  director: (lambda (input i) {director})
  executor: (lambda (plan i) {executor})
  evaluator: (lambda (execution plan i) {evaluator})
  controller: (lambda (evaluation plan execution i) {controller}))
"""
PHASES = {"director": "1", "executor": "1", "evaluator": "1", "controller": "['continue 1]"}

TEST_LOOP = """
(iterative-loop max_iterations: 4 initial: 1 test_command: "x"
  executor: (lambda (input i) {executor})
  validator: (lambda (command i) {validator})
  controller: (lambda (execution validation input i) {controller}))
"""
TEST_PHASES = {"executor": "1", "validator": "1", "controller": "['continue 1]"}

LIBRARY = {
    **{
        f"director-evaluator-loop, {each}": LOOP.format(**{**PHASES, each: "(ask)"})
        for each in PHASES
    },
    **{
        f"iterative-loop, {each}": TEST_LOOP.format(**{**TEST_PHASES, each: "(ask)"})
        for each in TEST_PHASES
    },
    "retry": "(retry (lambda () (ask)))",
    "retry, on": "(retry (lambda () (ask)) on: (lambda (err) true) backoff: 1)",
    "hedge": "(hedge (lambda () (ask)) n: 1)",
    "vote": "(vote (lambda () (ask)) n: 3 limit: 1)",
    "race": "(race (ask) (sleep 5))",
    "par-map": "(par-map (lambda (n) (ask)) [1 2] 1)",
    "sequence": "(sequence [identity (lambda (x) (ask)) identity] 1)",
    "map-tasks": "(map-tasks (lambda (x) (ask)) [1 2])",
    "reduce-tasks": "(reduce-tasks (lambda (x) (ask)) + 0 [1 2])",
    "with-state": "(with-state 0 (lambda () (put-state 1) (ask)))",
    "with-matcher": """
      (with-matcher (lambda (input candidates) (ask)) (lambda () (get-context "tea")))""",
    "match-memory": '(match-memory (lambda (input candidates) (ask)) "tea")',
    "match-memory, task": '(match-memory pick "tea")',
    "a task": '(say "tea")',
    "call-atomic-task": "(call-atomic-task say inputs: {words: 1})",
    "subtask": '(subtask {name: "say" description: "tea" inputs: {words: 1}})',
    "sequence of tasks": '(sequence [say say] "tea")',
    "retry of a task": "(retry (lambda () (say 1)))",
    "spawn-subagent": '(spawn-subagent task: "tea")',
    "run-parallel-subagents": '(run-parallel-subagents [{id: "a" task: "tea"}])',
    "run-subplan": """
      (run-subplan {reason: "MissingInfo" subtasks: [{description: "tea" name: "dig"}]})""",
    "run-subplan, validate": """
      (run-subplan {reason: "MissingInfo" subtasks: [{description: "tea" name: "ok"}]}
        validate: (lambda (subtask result) (ask)))""",
    "subplan, a person": """
      (run-subplan {reason: "MissingInfo" subtasks: [{description: "tea" name: "ok"}]
                    stop_when: "UserDecision"})""",
}

OK = """
(handle
    {body}
  ((subtask request) resume
    (if (equal? request.name "ok") (resume "fine") (forward resume subtask request)))
  ((search-memory query) resume
    (resume {{summary: "" error: nil matches: [{{id: "a" source_path: "a" content: "tea"}}]}})))
"""


@cache
def built(body):
    """A program is a value: the same one meets every refusal."""
    return sexplang.build(TASKS + OK.format(body=body), effects={"ask": lambda: None})


def runs(body, refusal):
    """A program whose `ask`, model and person refuse: how it ends, and how often it was refused."""
    asked = []

    def refuse(*arguments):
        asked.append(arguments)
        raise refusal

    operations = {"ask": refuse, "model": refuse, "ask-user": refuse}
    try:
        value = sexplang.run(built(body), effects=operations)
    except sexplang.Failed as failed:
        return failed, len(asked)
    return value, len(asked)


@pytest.mark.parametrize(("refusal", "reason"), refusals())
@pytest.mark.parametrize("name", LIBRARY)
def test_what_the_host_refuses_passes_the_library(name, refusal, reason):
    """It ends the run at its first time, whatever the library does with other errors."""
    end, times = runs(LIBRARY[name], refusal)

    assert isinstance(end, sexplang.Failed), end
    assert (end.reason, times) == (reason, 1)


@pytest.mark.parametrize("name", ["director-evaluator-loop, executor", "retry", "vote", "hedge"])
@pytest.mark.parametrize("taken", ["(attempt (ask))", "(try (ask) (catch (err) 7))"])
def test_a_program_itself_may_take_a_refusal(name, taken):
    """Within what the library calls, and around it."""
    body = LIBRARY[name]

    within, _ = runs(body.replace("(ask)", taken), sexplang.error("path-denied", "not here"))
    assert not isinstance(within, sexplang.Failed)
    around, times = runs(
        f"(try {body} (catch (err) err.reason))", sexplang.error("net-denied", "not here")
    )
    assert (around, times) == ("net-denied", 1)


@pytest.mark.parametrize(
    ("name", "times"),
    [("director-evaluator-loop, executor", 4), ("retry", 3), ("vote", 3), ("spawn-subagent", 1)],
)
def test_other_errors_are_the_librarys_as_before(name, times):
    """A busy server is asked again, votes less, is data."""
    assert runs(LIBRARY[name], BUSY)[1] == times


def test_a_handler_may_answer_a_refusal_where_it_was_raised():
    """A loop goes on with what it resumes with."""
    body = LIBRARY["director-evaluator-loop, director"].replace(
        "max_iterations: 4", "max_iterations: 1"
    )

    assert runs(f"(handle {body} ((error err) k (k 5)))", BUSY) == (1, 1)


NO_WRITE = """
(defatom write-code (params (feedback string)) (instructions "Write it. {{feedback}}"))
(iterative-loop max_iterations: 4 initial: "" test_command: ["true"]
  executor: (lambda (input i) (write-file "a.py" (str (write-code input))))
  controller: (lambda (execution validation input i)
                (if (equal? validation.exit_code 0) ['stop "ok"] ['continue "again"])))
"""


@pytest.mark.parametrize("allowed", [["true"], []])
def test_a_loop_without_a_permission_asks_its_model_once(tmp_path, allowed):
    """One error is shown, that of the permission which is missing first; the status is 1."""
    (tmp_path / "p3.sexp").write_text(NO_WRITE)
    (tmp_path / "r.json").write_text('["a", "b", "c", "d"]')
    options = [word for name in allowed for word in ("--allow-run", name)]
    done = command("run", "p3.sexp", "--model", "scripted:r.json", *options, cwd=tmp_path)

    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.count("error[") == 1
    assert "error[path-denied]" in done.stderr
    assert "FAILED" not in done.stderr
    assert "--allow-write" in done.stderr
    assert "1 call," in done.stderr


@pytest.mark.parametrize(("refusal", "reason"), refusals())
def test_what_a_model_may_not_have_is_told_to_the_model(refusal, reason):
    """A tool, a file, a script or a subtask that is refused is an error result; the run goes on."""
    program = """
    (defatom dig (subtype "subtask") (description "dig") (params (words any)) (model "none")
      (instructions "Dig {{words}}"))
    (defatom f (params) (instructions "Go.") (allowed_tools look read_file spawn_subtask))
    (f)
    """
    calls = [("look", {}), ("read_file", {"path": "a"})]
    calls.append(("spawn_subtask", {"description": "dig", "name": "dig", "inputs": {"words": "a"}}))

    def refuse(*arguments):
        raise refusal

    for name, given in calls:
        told = []

        def model(payload, name=name, given=given, told=told):
            if payload["task"] == "dig":
                raise refusal
            content = payload["messages"][-1]["content"]
            told += [block for block in content if block["type"] == "tool_result"]
            return "done" if told else {"tool_use": {"name": name, "input": given}}

        said = sexplang.run(program, model=model, effects={"tool": refuse, "read-file": refuse})

        assert str(said) == "done"
        assert told[0]["is_error"]
        assert json.loads(told[0]["content"])["reason"] == reason


def test_what_the_host_refuses_a_plan_is_the_error_of_the_plan():
    """Its text is a model's: the program that runs it decides."""
    value = sexplang.run("""(get-in (eval-plan "(read-file \\"a\\")" allow: ["read-file"])
                                    ["error" "reason"])""")

    assert value == "path-denied"


PAYS = """
(define-effect (approve what) "Asks.")
(define-tool (pay (amount integer)) "Pays." (if (approve amount) "paid" "no"))
(defatom cashier (params (bill string)) (instructions "Pay {{bill}}.") (allowed_tools pay))
(defatom shop (params (bill string)) (instructions "Sell {{bill}}.") (allowed_tools cashier))
"""


@pytest.mark.parametrize("body", ['(cashier "900")', '(shop "900")'])
def test_an_operation_that_nothing_answers_ends_the_run_in_a_tool(tmp_path, body):
    """No model can answer it: neither that of the task nor that of its caller is asked again."""
    calls = {"cashier": ("pay", {"amount": 9}), "shop": ("cashier", {"bill": "900"})}
    replies = [
        {"task": task, "reply": {"tool_use": {"name": calls[task][0], "input": calls[task][1]}}}
        for task in (["cashier"] if "cashier" in body else ["shop", "cashier"])
    ]
    (tmp_path / "p.sexp").write_text(PAYS + body)
    (tmp_path / "r.json").write_text(json.dumps(replies))
    done = command("run", "p.sexp", "--model", "scripted:r.json", cwd=tmp_path)

    assert (done.returncode, done.stdout) == (1, "")
    assert "error[unhandled-effect]: nobody answers `approve`" in done.stderr
    assert "--pause approve" in done.stderr
    assert f"{len(replies)} call" in done.stderr


@pytest.mark.parametrize(
    "text", ['(attempt (approve amount) "no")', "(try (approve amount) (catch (e) 'no))"]
)
def test_a_tool_itself_may_take_it(text):
    program = PAYS.replace('(if (approve amount) "paid" "no")', text) + '(cashier "900")'
    replies = [{"tool_use": {"name": "pay", "input": {"amount": 9}}}, "done"]

    assert "done" == str(sexplang.run(program, model=lambda payload: replies.pop(0)))


def test_check_names_the_operations_that_nothing_answers(tmp_path):
    (tmp_path / "p.sexp").write_text(PAYS + '(cashier "900")')
    said = command("check", "p.sexp", cwd=tmp_path)
    assert "p.sexp: needs a handler of `approve`, or --pause approve\n" in said.stdout
    assert 0 == said.returncode

    found = json.loads(command("check", "p.sexp", "--json", cwd=tmp_path).stdout)
    (need,) = found["files"]["p.sexp"]["needs"]
    assert ("--pause", "approve", 3) == (need["option"], need["name"], need["span"]["line"])


@pytest.mark.parametrize(
    "body",
    [
        "1",
        '(handle (cashier "900") ((approve what) resume (resume true)))',
        "(handle (approve 1) ((approve what) resume 1))",
    ],
)
def test_an_answered_operation_needs_nothing(tmp_path, body):
    (tmp_path / "p.sexp").write_text(PAYS + body)
    assert "needs" not in command("check", "p.sexp", cwd=tmp_path).stdout
