"""Handlers of models, and the values that branches share."""

import json

import pytest
from hypothesis import strategies as st
from support.command import sexplang as command
from support.examples import examples
from support.interrupted_runs import interrupted, resumed
from support.recorded import rows_of
from support.running import begun, built, error_of, limits, seen

import sexplang
from sexplang.machine import Suspended
from sexplang.machine.frozen_runs import freeze, thaw
from sexplang.pipeline.pipeline import tasks
from sexplang.terms.task import error_record

QUESTIONS = """
(import std/models)
(defatom ask (params (n integer)) (instructions "Question {{n}}."))
(with-cache (lambda () (par-map (lambda (n) (ask (remainder n 20))) (range 200))))
"""


def test_two_hundred_calls_over_twenty_questions_are_twenty_calls_of_the_model(tmp_path):
    program, replies = tmp_path / "ask.sexp", tmp_path / "replies.json"
    program.write_text(QUESTIONS)
    rules = [{"contains": f"Question {n}.", "reply": f"answer {n}"} for n in range(20)]
    replies.write_text(json.dumps(rules))
    record = tmp_path / "run.jsonl"

    words = ("run", program, "--json", "--model")
    done = command(*words, f"scripted:{replies}", "--record", record)
    again = command(*words, f"replay:{record}")

    assert json.loads(done.stdout) == [f"answer {n % 20}" for n in range(200)]
    assert again.stdout == done.stdout
    assert [row["operation"] for row in rows_of(record)].count("model") == 20


def reply_to(text):
    return {"content": [{"type": "text", "text": text}], "stop_reason": "end_turn"}


@examples(10, 100, st.data())
def test_the_questions_are_asked_once_under_every_schedule(data):
    program = sexplang.build(QUESTIONS.replace("200", "40"))
    outcome, asked = sexplang.start(program), []
    while isinstance(outcome, Suspended):
        at = data.draw(st.integers(0, len(outcome.requests) - 1))
        request = outcome.requests[at]
        asked.append(request.arguments[0]["messages"][0]["content"][0]["text"])
        outcome = outcome.resume(request.id, reply_to(f"answer to {asked[-1]}"))
        if data.draw(st.booleans()) and isinstance(outcome, Suspended):
            outcome = sexplang.thaw(program, json.loads(json.dumps(sexplang.freeze(outcome))))

    assert len(asked) == len({*asked}) == 20
    assert list(outcome.value) == [f"answer to Question {n % 20}." for n in range(40)]


KEYS = st.sampled_from("ab")
FORMS = st.recursive(
    st.one_of(
        KEYS.map(lambda key: f'(look "{key}")'),
        KEYS.map(lambda key: f'(late 3 (look "{key}"))'),
        KEYS.map(lambda key: f'(race (look "{key}") (ask "other"))'),
        KEYS.map(lambda key: f'(with-permit (lambda () (look "{key}")))'),
        KEYS.map(
            lambda key: (
                "(with-permit (lambda () "
                f'(list (ask "other") (late 1 (ask "other")) (look "{key}"))))'
            )
        ),
        st.just('(ask "other")'),
    ),
    lambda inner: st.one_of(
        st.lists(inner, min_size=1, max_size=3).map(lambda forms: f"(par {' '.join(forms)})"),
        st.lists(inner, min_size=2, max_size=2).map(lambda forms: f"(list {' '.join(forms)})"),
        st.tuples(st.integers(1, 4), inner).map(lambda parts: f"(late {parts[0]} {parts[1]})"),
    ),
    max_leaves=8,
)

LOOK = """
(import std/models)
(define-effect (ask key))
(define (look key)
  (try {looked: key found: (once key (lambda () (ask key)))} (catch (err busy) "busy")))
(define-syntax late
  (syntax-rules () ((_ n e) (try (with-timeout n e) (catch (err seconds) "late")))))
"""

BUSY = error_record("TASK_FAILURE", "busy", "busy")


def played(data, text, places):
    """Plays a program under a schedule that is drawn; the requests that were open, each time."""
    program, answered = built(text), []

    def reply(operation, arguments):
        failed = arguments[0] in ("a", "b") and data.draw(st.integers(0, 3)) == 0
        answered.append((arguments[0], failed))
        return BUSY if failed else f"{arguments[0]} {len(answered)}"

    def choose(waits, requests):
        return data.draw(st.integers(0, len(waits) - 1))

    def pause(outcome):
        return thaw(program, json.loads(json.dumps(freeze(outcome))))

    keep = data.draw(st.booleans())
    steps = {"pause": pause} if keep else {}
    return seen(begun(text, limits(places)), reply, choose, **steps), answered


QUOTE = "'"


def looked(value):
    """The keys that branches looked for in a value, and what they found."""
    if isinstance(value, dict) and "looked" in value:
        yield value["looked"], value["found"]
    elif isinstance(value, dict | list | tuple):
        for each in value.values() if isinstance(value, dict) else value:
            yield from looked(each)


@examples(60, 1_000, st.data(), st.lists(FORMS, min_size=2, max_size=5), st.integers(1, 3))
def test_branches_share_one_value_under_every_schedule(data, forms, places):
    """Whatever is cancelled, fails or is late: one branch at a time asks for a key, nobody asks
    for one that is known, an error is nobody else's, and every run comes to its end."""
    text = f"{LOOK} (par {' '.join(forms)})"
    run, answered = played(data, text, places)

    assert run.error is None
    for key, value in looked(run.value):
        assert value.startswith(f"'{key.strip(QUOTE)} "), text
    for waits in run.waits:
        open_keys = [arguments[0] for operation, arguments in waits if operation == "ask"]
        assert max(map(open_keys.count, "ab")) <= 1, text
    for key in "ab":
        failures = [failed for asked, failed in answered if asked == key]
        assert False not in failures[:-1], text


@examples(60, 1_000, st.data(), st.lists(KEYS, min_size=2, max_size=4), st.integers(1, 3))
def test_a_wait_in_a_circle_comes_to_its_end(data, keys, places):
    other = {"a": "b", "b": "a"}
    forms = [f'(once "{key}" (lambda () (list (ask "x") (look "{other[key]}"))))' for key in keys]
    run, _ = played(data, f"{LOOK} (par {' '.join(forms)})", places)

    assert run.error is None
    assert len(run.value) == len(keys)


def named(outcome, key):
    """The open request for a key."""
    (found,) = [each for each in outcome.requests if each.arguments == (key,)]
    return found


def test_an_error_of_the_first_is_its_own_and_the_next_asks_at_once():
    text = f'{LOOK} (par (look "a") (look "a") (look "a") (ask "other"))'
    outcome = begun(text)
    first = named(outcome, "a")
    outcome = outcome.fail(first.id, BUSY)
    second = named(outcome, "a")
    outcome = outcome.resume(second.id, "known").resume(named(outcome, "other").id, 1)

    found = {"looked": "a", "found": "known"}
    assert outcome.value == ("busy", found, found, 1)
    assert (first.id, second.id) == ("0.0.0", "0.1.0")


def test_the_next_asks_at_once_where_the_first_is_cancelled():
    text = f'{LOOK} (par (race (look "a") (ask "other")) (look "a") (ask "third"))'
    outcome = begun(text)
    outcome = outcome.resume(named(outcome, "other").id, "quicker")

    assert named(outcome, "a").id == "0.1.0"


def test_a_branch_of_the_one_that_computes_goes_on_at_once():
    text = f'{LOOK} (par (once "a" (lambda () (par (look "a") (ask "b")))) (ask "other"))'

    assert named(begun(text), "a").id == "0.0.0.0.0"


def test_a_deadline_ends_the_wait_for_another_branch():
    outcome = begun(f'{LOOK} (par (look "a") (late 3 (look "a")))')
    (timer,) = [each for each in outcome.requests if each.operation == "timer"]
    outcome = outcome.resume(timer.id, None)
    outcome = outcome.resume(named(outcome, "a").id, 1)

    assert outcome.value == ({"looked": "a", "found": 1}, "late")


def test_a_branch_that_waits_for_another_key_is_not_woken():
    text = f"""{LOOK}
    (par (look "a") (look "b") (list (late 3 (look "a")) (look "b")))"""
    outcome = begun(text)
    (timer,) = [each for each in outcome.requests if each.operation == "timer"]
    outcome = outcome.resume(timer.id, None)
    outcome = outcome.resume(named(outcome, "a").id, "of a")
    outcome = outcome.resume(named(outcome, "b").id, "of b")

    assert outcome.value[2] == ("late", {"looked": "b", "found": "of b"})


def test_a_permit_is_for_no_branch_that_waits_for_a_key():
    """The first job gave its permit back, was in line for it again, and left the line."""
    text = f"""{LOOK}
    (par (with-permit (lambda () (list (ask "x") (look "a") (late 1 (ask "z")) (look "b"))))
         (with-permit (lambda () (ask "y")))
         (look "a")
         (look "b"))"""
    outcome = begun(text, limits(1))
    outcome = outcome.resume(named(outcome, "x").id, 1)
    outcome = outcome.resume(named(outcome, "a").id, 1)
    (timer,) = [each for each in outcome.requests if each.operation == "timer"]
    outcome = outcome.resume(timer.id, None)
    outcome = outcome.resume(named(outcome, "y").id, 1)

    assert [each.arguments for each in outcome.requests] == [("b",)]


def test_a_run_that_is_kept_goes_on_without_a_second_call(tmp_path):
    """The run ends in the midst of the second call: the first has its claim, the others wait."""
    text = """(import std/models)
    (define-effect (act n))
    (define (look n) (once (str n) (lambda () (act n))))
    (par (look 1) (look 1) (look 2) (look 1) (look 2) (begin (act 3) (look 2)))"""
    store = tmp_path / "runs.db"

    assert interrupted(store, text) == [1, 2]
    value, done = resumed(store, text, replay={"act": "safe"})
    assert (value, done) == ([10, 10, 20, 10, 20, 20], [2, 3])


def test_a_continuation_that_is_resumed_again_changes_no_value():
    text = f"""{LOOK}
    (handle (list (once "a" (lambda () (ask "a"))) (once "a" (lambda () 0)))
      ((ask key) k (append (k 1) (k 2))))"""

    assert begun(text).value == (1, 1, 1, 1)


def test_a_shared_value_is_plain_data():
    outcome = begun('(import std/models) (once "f" (lambda () (lambda (x) x)))')

    assert error_of(outcome)["reason"] == "not-data"


def test_a_program_of_a_model_shares_nothing_with_its_caller():
    program = """
    (import std/models)
    (once "k" (lambda () 1))
    (eval-plan "(put-shared \\"k\\" 2) (claim-shared \\"k\\")")"""
    outcome = begun(f"{program}")

    assert outcome.value == {"status": "done", "value": {"value": 2}}
    outcome = begun(program + '(once "k" (lambda () 3))')
    assert outcome.value == 1


def test_nested_handlers_see_what_passes_inside():
    """The log outside of the cache sees the calls that are made, inside of it all."""
    text = """
    (import std/models)
    (define (twice) (model {task: "t"}) (model {task: "t"}))
    (LOG (lambda () (CACHE twice)))
    """
    for log, cache, lines in [("with-log", "with-cache", 1), ("with-cache", "with-log", 2)]:
        run = seen(
            begun(text.replace("LOG", log).replace("CACHE", cache)),
            lambda operation, arguments: {"usage": {"input_tokens": 3, "output_tokens": 1}},
        )
        logged = [arguments[1] for operation, arguments in run.trace if operation == "log"]
        assert len(logged) == lines
        assert logged[0] == "t: 3 tokens in, 1 out"


def test_the_last_error_of_a_fallback_is_raised_where_the_call_was_made():
    text = """
    (import std/models)
    (defatom f (instructions "Go."))
    (with-fallback ["b" "c"] (lambda () (par (attempt (f) "none") 2)))
    """
    failure = error_record("TASK_FAILURE", "llm_error", "busy")
    run = seen(begun(text, limits(), tasks()), lambda operation, arguments: failure)

    assert run.value == ["'none'", 2]
    assert [arguments[0].get("model") for _, arguments in run.trace] == [None, "b", "c"]


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("(with-state 0 (lambda () (par-map (lambda (x) (f x) (put-state x)) [1 2])))", 1),
        ("(with-cells {n: 0} (lambda () (par (update-cell 'n even?) 1)))", 1),
        ("(with-state 0 (lambda () (race (begin (f 1) (put-state 1)) 2)))", 1),
        ("(handle (par-map note [1 2]) ((note x) k (+ 1 (k x))))", 1),
        ("(handle (hedge (lambda () (note 1)) n: 2) ((note x) k (list (k x))))", 1),
        ("(handle (par (note 1) 2) ((note x) k {later: k}))", 1),
        ("(with-state 0 (lambda () (handle (par (note 1)) ((note x) k (put-state x) (k x)))))", 1),
        ("(par-map (lambda (x) (with-state 0 (lambda () (f x) (put-state x)))) [1 2])", 0),
        ("(with-state 0 (lambda () (put-state 1) (par (get-state) 1)))", 0),
        ("(handle (par-map note [1 2]) ((note x) k (k (+ 1 x))))", 0),
        ("(handle (par (note 1) 2) ((note x) k (forward k note x)))", 0),
        ("(handle (par (note 1) 2) ((note x) k \"ended\"))", 0),
        ("(handle (note 1) ((note x) k (par (k 1) (k 2))))", 0),
        ("(with-cache (lambda () (par-map f [1 2])))", 0),
        ("(with-log (lambda () (with-fallback [\"b\"] (lambda () (par-map f [1 2])))))", 0),
    ],
)  # fmt: skip
def test_check_finds_what_branches_cannot_share(text, count):
    program = f"""
    (import std/state) (import std/models)
    (defatom f (params n) (instructions "{{{{n}}}}"))
    (define-effect (note x))
    {text}"""
    found = [each for each in sexplang.check(program) if each.code == "resume-across-par"]

    assert [each.severity for each in found] == ["warning"] * count
