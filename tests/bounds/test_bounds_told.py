"""Who is stopped by a bound sees which one, how far it had come, what to raise, what is kept."""

import json

import pytest
from support.command import sexplang as command

import sexplang
from sexplang import Limits

TASK = '(defatom say (instructions "say")) '
SUBTASKS = '(map (lambda (x) (subtask {name: "say"})) (range 9))'
ENDLESS = "(define (f) (f)) (f)"
DEEP = "(define (f n) (+ 1 (f n))) (f 1)"
REPLY = {"text": "a", "usage": {"input_tokens": 9, "output_tokens": 20}}


def plan(text, budget="{}"):
    return f'(raise (get (eval-plan {json.dumps(text)} budget: {budget}) "error"))'


@pytest.mark.parametrize(
    ("program", "limits", "message", "hint"),
    [
        (ENDLESS, {"steps": 1_000}, "1,000 steps", "--limit steps=2000"),
        (DEEP, {"frames": 1_000}, "1,000 deep", "--limit frames=2000"),
        ("(loop ((x [1])) (recur (append x x)))", {"allocation": 99}, "99 parts", "allocation=198"),
        ("(par-map say (range 9))", {"branches": 5}, "5 branches", "--limit branches=10"),
        ("(map (lambda (x) (say)) (range 9))", {"model_calls": 2}, "2 model", "model_calls=4"),
        (SUBTASKS, {"subtasks": 2}, "2 subtasks", "--limit subtasks=4"),
        (plan(ENDLESS), {"plan_steps": 500}, "500 steps", "--limit plan_steps=1000"),
        (plan(ENDLESS, "{steps: 400}"), {}, "400 steps", "raise `steps:` of its `budget:` to 800"),
        (plan(DEEP), {"plan_frames": 500}, "500 deep", "--limit plan_frames=1000"),
        ("(range 20000000)", {}, "the limit is 10000000", "work on a part at a time"),
        (
            '(loop ((s "ab")) (recur (str s s)))',
            {},
            "the limit is 10000000",
            "write each to a file",
        ),
    ],
)
def test_the_error_of_a_limit_says_what_to_raise(program, limits, message, hint):
    """By the name that `--limit` has for it, with a number that is larger; or that nothing does."""
    with pytest.raises(sexplang.Failed) as caught:
        sexplang.run(TASK + program, limits=Limits(**limits), model=lambda payload: "a")
    fields = caught.value.error.fields

    assert message in fields["message"]
    assert hint in fields["hint"]


def test_the_depth_of_tasks_says_what_to_raise():
    """The model is told, and so is whoever reads what was said."""
    program = """(defatom inner (instructions "inner"))
    (defatom outer (instructions "outer") (allowed_tools spawn_subtask) (subtasks inner))
    (outer)"""
    replies = [{"tool_use": {"name": "spawn_subtask", "input": {"name": "inner"}}}, "done"]
    seen = []

    def model(payload):
        seen.append(payload)
        return replies[len(seen) - 1]

    sexplang.run(program, model=model, limits=Limits(max_task_depth=1))

    assert "--limit max_task_depth=2" in json.dumps(seen[1])


@pytest.mark.parametrize("budget", ["calls=2", "tokens=60", "seconds=1"])
def test_the_last_line_says_what_is_kept(budget, tmp_path):
    """The calls that were answered, and where they are recorded."""
    name = budget.partition("=")[0]
    (tmp_path / "r.json").write_text(json.dumps([{"contains": "", "reply": REPLY}]))
    program = f"{TASK} (say) (say) {'(sleep 3)' if name == 'seconds' else '(say)'}"
    words = ["run", "-e", program, "--model", "scripted:r.json", "--budget", budget]
    done = command(*words, "--record", "r.jsonl", cwd=tmp_path)
    kept = "sexplang: kept in r.jsonl: 2 model calls, 18 tokens in, 40 out; look at it:"

    assert 1 == done.returncode
    assert f"error[RESOURCE_EXHAUSTION {name}]" in done.stderr
    assert f"give the run more: --budget {name}=" in done.stderr
    assert done.stderr.splitlines()[-1].startswith(kept)


def test_what_is_not_kept_is_said(tmp_path):
    """So that the next run keeps it. A mistake of the program is no bound, and says nothing so."""
    (tmp_path / "r.json").write_text('[{"contains": "", "reply": "a"}]')
    words = ["--model", "scripted:r.json", "--limit", "steps=5000"]
    stopped = command("run", "-e", f"{TASK} (say) {ENDLESS}", *words, cwd=tmp_path)
    wrong = command("run", "-e", f"{TASK} (say) (/ 1 0)", *words, cwd=tmp_path)

    assert "not kept: 1 model call, 0 tokens in, 0 out; --record FILE keeps it" in stopped.stderr
    assert "not kept" not in wrong.stderr
