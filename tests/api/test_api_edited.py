"""Runs whose program was edited: what is served, what is performed, and what is told before."""

from random import Random

import pytest

import sexplang
from sexplang.runs.forked_run import find_difference, find_outcome, fork_run
from sexplang.runtime.journal import stored_journal
from sexplang.runtime.journal.run_store import open_store
from sexplang.runtime.journal.stored_journal import read_rows

STEPS = """
(defatom say (params n) (instructions "Say {{n}}"))
(define said (map (lambda (n) (say n)) (range 0 60)))
(length said)
"""


class Model:
    """A model whose reply follows from the prompt; it keeps what it was asked."""

    def __init__(self):
        self.asked = []

    def __call__(self, payload):
        text = payload["messages"][-1]["content"][0]["text"]
        self.asked.append(text)
        return f"re {sum(map(ord, text)) % 7}"


def edited(store, program, **more):
    """Run a changed program with the replies of the run; return its value, the calls that were
    announced, and those that were made."""
    model, announced = Model(), []

    def agree(announcement):
        announced.extend(each.id for each in (*announcement.calls, *announcement.acts))
        return True

    given = {"store": store, "model": model, "changes": agree, **more}
    value = sexplang.resume(program, "r", **given)
    return value, announced, model.asked


@pytest.fixture
def store(tmp_path):
    path = tmp_path / "runs.db"
    assert 60 == sexplang.run(STEPS, model=Model(), store=path, run_id="r")
    return path


@pytest.mark.parametrize(
    ("old", "new", "calls"),
    [
        ("(say n)", '(say (if (= n 30) "other" n))', ["Say other"]),
        (
            "(define said",
            '(define first (par (say "a") (say "b"))) (define said',
            ["Say a", "Say b"],
        ),
        ("say", "tell", []),
        ("(length said)", "; a comment\n(length said)", []),
        ("Say {{n}}", "Say now {{n}}", [f"Say now {n}" for n in range(60)]),
        ("(range 0 60)", "(range 5 60)", []),
        ("(range 0 60)", "(reverse (range 0 60))", []),
        ("(map (lambda (n) (say n))", "(par-map (lambda (n) (say n))", []),
    ],
)
def test_an_edit_costs_what_it_changed(store, old, new, calls):
    value, announced, asked = edited(store, STEPS.replace(old, new))
    assert value == (55 if "5 60" in new else 60)
    assert sorted(calls) == sorted(asked)
    assert len(announced) == len(asked)


def test_a_served_reply_is_not_paid_again(tmp_path):
    """It counts for the budget as it did, and not in what the run has cost."""
    store = tmp_path / "runs.db"

    def reply(payload):
        usage = {"input_tokens": 100, "output_tokens": 10}
        content = [{"type": "text", "text": "a"}]
        return {"content": content, "stop_reason": "end_turn", "usage": usage, "model": "m"}

    program = '(defatom say (params n) (instructions "Say {{n}}")) [(say 1) (say 2)]'
    sexplang.run(program, model=reply, store=store, run_id="r", budget={"tokens": 10_000})
    told = []
    other = program.replace("(say 2)", "(say 2) (say 3)")
    agree = lambda announced: told.append(announced) or True  # noqa: E731
    sexplang.resume(other, "r", store=store, model=reply, changes=agree)
    assert (110, 2) == (told[0].tokens, told[0].served)
    kept = open_store(str(store))
    assert [110, 220] == sorted(run.tokens for run in kept.runs())
    kept.close()


def test_a_moved_file_costs_nothing(store, tmp_path):
    moved = tmp_path / "elsewhere" / "p.sexp"
    moved.parent.mkdir()
    moved.write_text(STEPS)
    assert (60, [], []) == edited(store, moved)


def test_what_acts_is_served_by_identity_and_question_alone(tmp_path):
    """Another one is asked about; the file is written once."""
    store, done = tmp_path / "runs.db", []
    program = "(define-effect (act n)) [(act 1) (act 2) (act 3)]"
    given = {"effects": {"act": lambda n: done.append(n) or n}}
    sexplang.run(program, store=store, run_id="r", **given)
    other = program.replace("(act 2)", "(act 9)")
    with pytest.raises(sexplang.Failed) as failed:
        edited(store, other, **given)
    assert "in-doubt" == failed.value.reason
    assert "(act 9) as 1" in str(failed.value)
    assert [1, 2, 3] == done
    value, announced, _ = edited(store, other, replay={"1": "safe"}, **given)
    assert ([1, 9, 3], ["1"]) == (value, announced)
    assert [1, 2, 3, 9] == done
    never = program.replace("(act 2)", "(attempt (act 9) 0)")
    assert [1, 0, 3] == edited(store, never, replay={"*": "never"}, **given)[0]
    assert [1, 2, 3, 9] == done


def test_nothing_is_performed_without_leave(store):
    model = Model()
    other = STEPS.replace("(range 0 60)", "(range 0 61)")
    with pytest.raises(sexplang.Failed) as failed:
        sexplang.resume(other, "r", store=store, model=model, changes=lambda told: False)
    assert ("not-agreed", []) == (failed.value.reason, model.asked)


def test_a_request_that_was_not_announced_is_asked_about(store):
    """It follows from a reply that nobody could foresee."""
    told = []

    def agree(announcement):
        told.append(announcement)
        return len(told) == 1

    other = STEPS.replace("(length said)", '(say (say "new"))')
    model = Model()
    with pytest.raises(sexplang.Failed) as failed:
        sexplang.resume(other, "r", store=store, model=model, changes=agree)
    assert ("not-agreed", ["Say new"]) == (failed.value.reason, model.asked)
    assert [1, 1] == [len(each.calls) for each in told]
    assert not told[0].is_whole


def make_steps(random):
    """Return the lines of a program: calls that stand alone, or follow from one before."""
    lines = []
    for n in range(random.randrange(3, 9)):
        before = f"s{random.randrange(n)}" if n and random.random() < 0.5 else f'"{n}"'
        lines.append((n, f"(say {before})" if random.random() < 0.8 else f"(par (say {before}) 1)"))
    return lines


def write_program(lines, task="say"):
    text = "".join(f"(define s{n} {form})\n" for n, form in lines).replace("(say", f"({task}")
    names = " ".join(f"s{n}" for n, _ in lines)
    return f'(defatom {task} (params n) (instructions "Say {{{{n}}}}"))\n{text}[{names}]'


def edit(random, lines):
    """Change a program: another text, a line more, another order of what does not depend on one
    another, a call in a branch."""
    lines, kind = [*lines], random.randrange(5)
    at = random.randrange(len(lines))
    n, form = lines[at]
    if kind == 0:
        lines[at] = n, f'(say "edited {random.random()}")'
    elif kind == 1:
        lines.insert(at, (random.randrange(100, 10**9), f'(say "more {at}")'))
    elif kind == 2:
        lines[at] = n, f"(par {form} (say 'beside))"
    elif kind == 3:
        lines.append(
            (
                random.randrange(100, 10**9),
                "(say (str " + " ".join(f"s{n}" for n, _ in lines) + "))",
            )
        )
    else:
        lines[at] = n, f'(let ((x {form})) (say "behind") x)'.replace('(say "behind") x', "x")
    return lines


@pytest.mark.parametrize(
    "seeds", [range(12), pytest.param(range(12, 212), marks=pytest.mark.long)], ids=["some", "all"]
)
def test_what_is_announced_is_performed(tmp_path, seeds):
    """Each call was announced before it was made, and the value is that of a run by itself."""
    for seed in seeds:
        random = Random(seed)
        lines, store = make_steps(random), tmp_path / f"{seed}.db"
        sexplang.run(write_program(lines), model=Model(), store=store, run_id="r")
        for _ in range(random.randrange(1, 4)):
            lines = edit(random, lines)
        program = write_program(lines, random.choice(["say", "tell"]))
        value, announced, asked = edited(store, program)
        alone = Model()
        assert value == sexplang.run(program, model=alone), seed
        assert len(asked) <= len(alone.asked), seed
        assert len(announced) == len(set(announced)) == len(asked), seed


FORKED = {
    "straight": "[(act 1) (act 2) (act 3) (act 4)]",
    "branches": "(par-map (lambda (n) (+ (act n) (act (+ 10 n)))) [1 2 3 4])",
    "nested": "(par (par (act 1) (begin (act 2) (act 3))) (list (act 4) (attempt (act -5) 0)))",
    "race": "[(race (begin (act 1) (act 2)) (begin (sleep 30) (act 9))) (act 3)]",
    "twice": """(define-effect (flip))
        (handle (let ((a (flip))) [(act (+ 10 a)) (act (+ 20 a))])
          ((flip) k (append (k 1) (k 2))))""",
}


@pytest.mark.parametrize("name", FORKED)
def test_a_fork_at_each_reply_is_the_run_that_took_that_turn(tmp_path, name):
    """It has the replies before, and goes on alone; a difference is the first request that was told
    otherwise."""
    store, program = tmp_path / "runs.db", FORKED[name]

    def effects(turn, done):
        def act(n):
            done.append(n)
            if n < 0:
                raise sexplang.error("negative", "it is negative")
            return n * turn

        return {"act": act}

    first, again = [], []
    value = sexplang.run(program, effects=effects(10, first), store=store, run_id="r")
    sexplang.run(program, effects=effects(7, again), store=store, run_id="other")
    kept = open_store(str(store))
    run = kept.find("r")
    rows = read_rows(kept, run, whole=True).rows
    count = run.replies
    kept.close()
    for at in range(count + 1):
        kept = open_store(str(store))
        fork = fork_run(kept, kept.find("r"), at, f"fork-{at}")
        kept.close()
        assert at == fork.replies
        done = []
        same = sexplang.resume(program, fork.id, store=store, effects=effects(10, done))
        assert value == same
        kept = open_store(str(store))
        forked = read_rows(kept, kept.find(fork.id), whole=True).rows
        assert find_difference(rows, forked) is None
        turned = read_rows(kept, kept.find("other"), whole=True).rows
        kept.close()
        found = find_difference(rows, turned)
        assert found is not None
        assert found.one.arguments == found.other.arguments
        assert found.one.reply != found.other.reply


def test_a_snapshot_gives_the_same_outcome_as_the_whole_journal(tmp_path, monkeypatch):
    """What a waiting run asks after each number of replies, before and behind its snapshot."""
    for name in ("LEAST_SECONDS", "SNAPSHOT_SHARE"):
        monkeypatch.setattr(stored_journal, name, 0.0)
    text = "(define-effect (act n)) (define-effect (ask)) [(map act (range 0 8)) (ask) (act 9)]"
    program, store = sexplang.build(text), tmp_path / "runs.db"
    given = {"store": store, "run_id": "r", "pause": ["ask"]}
    sexplang.run(program, effects={"act": lambda n: n}, **given)
    kept = open_store(str(store))
    run = kept.find("r")
    thawed = read_rows(kept, run)
    before = thawed.replies - len(thawed.rows)
    assert thawed.snapshot is not None
    assert before > 0
    asked = [
        find_outcome(kept, run, program, at, has_tasks=False).requests[0].arguments
        for at in range(9)
    ]
    kept.db.execute("delete from snapshots")
    assert asked == [
        find_outcome(kept, run, program, at, has_tasks=False).requests[0].arguments
        for at in range(9)
    ]
    assert [*((n,) for n in range(8)), ()] == asked
    kept.close()


def test_a_run_that_another_one_replaces_goes_on_nowhere_else(tmp_path):
    """While a person is asked for leave, too; its answer is used once."""
    paid = []
    text = "(define-effect (approve n)) (define-effect (pay n)) (pay (approve 1))"
    given = {"store": tmp_path / "runs.db", "pause": ["approve"]}
    given |= {"effects": {"pay": lambda said: paid.append(said) or said}}
    sexplang.run(text, run_id="r", **given)
    sexplang.answer("r", "yes", store=given["store"])

    def agree(announcement):
        with pytest.raises(sexplang.Failed) as busy:
            sexplang.resume(text, "r", **given)
        assert "run-busy" == busy.value.reason
        return True

    more = {"changes": agree, "replay": {"pay": "safe"}}
    assert "yes" == sexplang.resume(f'(print "x") {text}', "r", **more, **given)
    with pytest.raises(sexplang.Failed) as over:
        sexplang.resume(text, "r", **given)
    assert ("run-ended", ["yes"]) == (over.value.reason, paid)


@pytest.mark.parametrize("wrong", [("accept", "r"), (5, "r")])
def test_a_wrong_argument_is_a_type_error(store, wrong):
    changes, id = wrong
    with pytest.raises(TypeError):
        sexplang.resume(STEPS, id, store=store, changes=changes)
