"""`--limit` and `[limits]`: who may raise a limit, who may lower it, and what is said."""

import pytest
from support.command import sexplang

LOOP = "(define (f) (f)) (f)"


def test_the_command_line_lowers_a_limit(tmp_path):
    """The error shows the place, and what to type to have more."""
    done = sexplang("run", "-e", LOOP, "--limit", "steps=5000,frames=100", cwd=tmp_path)

    assert done.returncode == 1
    assert "more than 5,000 steps" in done.stderr
    assert "--limit steps=10000" in done.stderr
    assert "(define (f) (f)) (f)\n  │             ^^^" in done.stderr


def test_the_command_line_raises_what_the_configuration_lowers(tmp_path):
    """A program's folder may hold it down, and the person who runs it decides."""
    (tmp_path / "sexplang.toml").write_text("[limits]\nsteps = 1000\nplan_steps = 1000\n")
    text = "(loop ((i 0)) (if (< i 5000) (recur (+ i 1)) i))"

    held = sexplang("run", "-e", text, cwd=tmp_path)
    raised = sexplang("run", "-e", text, "--limit", "steps=1000000", cwd=tmp_path)
    plan = sexplang(
        *("run", "-e", f'(get (eval-plan "{text}") "status")', "--limit", "steps=1000000"),
        cwd=tmp_path,
    )

    assert (held.returncode, raised.stdout, plan.stdout) == (1, "5000\n", "failed\n")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("step=5", "there is no limit `step`"),
        ("held=5", "there is no limit `held`"),
        ("", "there is no limit ``"),
        ("steps", "not ``"),
        ("steps=0", "the limit `steps` is a whole number from 1 on, not `0`"),
        ("steps=-1", "not `-1`"),
        ("steps=1e9", "not `1e9`"),
        ("steps=٣", "not `٣`"),
        ("steps=5,steps=6", "the limit `steps` is given twice"),
    ],
)
def test_what_is_no_limit_is_refused(text, said, tmp_path):
    """By every command that takes limits; a name that there is not, with those that there are."""
    for words in (("run", "-e", "1"), ("repl",), ("task", "(+ 1 1)")):
        done = sexplang(*words, "--limit", text, cwd=tmp_path)

        assert done.returncode == 2, words
        assert said in done.stderr
        assert ("plan_frames" in done.stderr) == ("there is no limit" in said)


def test_a_test_may_be_given_more_or_less(tmp_path):
    """As its hint says; what is no limit is refused before anything runs."""
    text = '(test "counts" (loop ((n 0)) (if (= n 20000) n (recur (+ n 1)))))'
    (tmp_path / "a.test.sexp").write_text(text)
    held = sexplang("test", "a.test.sexp", "--limit", "steps=5000", cwd=tmp_path)
    raised = sexplang("test", "a.test.sexp", "--limit", "steps=10000000", cwd=tmp_path)
    wrong = sexplang("test", "a.test.sexp", "--limit", "step=5", cwd=tmp_path)

    assert (held.returncode, raised.returncode, wrong.returncode) == (1, 0, 2)
    assert "raise the limit: --limit steps=10000" in held.stdout
    assert "there is no limit `step`" in wrong.stderr


@pytest.mark.parametrize("option", ["--budget", "--limit", "--model", "--record", "--parallel"])
def test_an_option_of_one_value_is_given_once(option, tmp_path):
    """None of them is dropped in silence."""
    for words in (("run", "-e", "1"), ("task", "(+ 1 1)")):
        done = sexplang(*words, option, "1", option, "2", cwd=tmp_path)

        assert (done.returncode, done.stdout) == (2, "")
        assert f"'{option}': it is given twice; give it once" in done.stderr


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ("steps = 200000000", "may only be lower than 100,000,000"),
        ("stepps = 5", "`limits` holds numbers from 1 on"),
        ("steps = true", "`limits` holds numbers from 1 on"),
        ("steps = 0.5", "`limits` holds numbers from 1 on"),
    ],
)
def test_a_configuration_raises_no_limit(said, words, tmp_path):
    """It may come with the program."""
    (tmp_path / "sexplang.toml").write_text(f"[limits]\n{said}\n")

    done = sexplang("run", "-e", "1", cwd=tmp_path)

    assert done.returncode == 2
    assert words in done.stderr


@pytest.mark.parametrize(
    ("encoding", "status", "words"),
    [("utf-8-sig", 1, "limit-steps"), ("utf-16", 2, "not UTF-8 text (byte 0)")],
)
def test_a_byte_order_mark_is_skipped_or_said(encoding, status, words, tmp_path):
    """Only UTF-8 is read."""
    (tmp_path / "sexplang.toml").write_text("[limits]\nsteps = 5\n", encoding=encoding)

    done = sexplang("run", "-e", "(range 100)", cwd=tmp_path)

    assert done.returncode == status
    assert words in done.stderr


PLAN = """
(define (go n) (subplan {subtasks: (map (lambda (at) {description: (str "part " at)}) (range n))}))
(handle (or (get (go 2) "reason") "done") ((subtask request) resume (resume "mine")))
"""


@pytest.mark.parametrize(
    ("limits", "words"),
    [
        ("subplan_subtasks = 1", "2 are proposed, and the limit is 1"),
        ("subplan_nodes = 1", "2 more are proposed, and the limit is 1"),
        ("subplan_depth = 1", "done"),
        ("subplan_seconds = 5", "done"),
    ],
)
def test_plans_have_limits_too(limits, words, tmp_path):
    """In the configuration and on the command line, which raises what that lowers."""
    name = limits.split()[0]
    (tmp_path / "sexplang.toml").write_text(f"[limits]\n{limits}\n")

    held = sexplang("run", "-e", PLAN, "--quiet", cwd=tmp_path)
    raised = sexplang("run", "-e", PLAN, "--quiet", "--limit", f"{name}=9", cwd=tmp_path)

    assert words in held.stdout, held.stderr
    assert raised.stdout == "done\n", raised.stderr


def test_no_plan_has_more_subtasks_than_bounds_are_counted_with(tmp_path):
    """Whatever the command line says."""
    many = PLAN.replace("(go 2)", "(go 11)")
    done = sexplang("run", "-e", many, "--quiet", "--limit", "subplan_subtasks=50", cwd=tmp_path)

    assert "11 are proposed, and the limit is 10" in done.stdout, done.stderr


def test_a_plan_defines_tasks_in_a_program_without(tmp_path):
    """Whoever runs the program gives it what tasks need."""
    (tmp_path / "replies.json").write_text('["fine"]')
    text = r'(eval-plan "(defatom a (instructions \"x\")) (str (a))" allow: [(quote model)])'

    done = sexplang("run", "-e", text, "--model", "scripted:replies.json", "--quiet", cwd=tmp_path)

    assert done.stdout == '{status: "done" value: "fine"}\n', done.stderr
