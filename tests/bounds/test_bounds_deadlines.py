"""A deadline ends computing as it ends waiting; a run that is repeated meets it at that step."""

import json

import pytest
from support.command import sexplang
from support.running import built

import sexplang as embedding
from sexplang.machine import Done, Limits, Slice, Suspended, advance, start, state_of
from sexplang.pipeline.pipeline import tasks
from sexplang.runtime import Journal, Settings, drive, performers
from sexplang.runtime.journal.checksum_chain import add_checksum
from sexplang.runtime.journal.fold import fold
from sexplang.runtime.journal.rows import PASSED
from sexplang.terms.quota import STEPS

F = "(define (f n) (if (= n 0) 0 (f (- n 1))))\n(define (g) (g))\n(define (twice x) (* 2 x))\n"
DIGITS = "(loop 1000000 (* (expt 3 4000) (expt 7 2200)))"


def midway(text):
    """A program that has come to the end of its first slice."""
    return start(built(F + text), slice=Slice())


def driven(text):
    """The end of a run, and its rows."""
    journal = Journal()
    ended = drive(midway(text), performers(Settings(run_id="r")), journal=journal)
    return ended, journal.rows


def end_of(ended):
    return repr(ended.value if isinstance(ended, Done) else ended.error)


@pytest.mark.parametrize(
    "body",
    [
        "(f 12000000)",
        '(begin (f 12000000) (sleep 0.001) "after")',
        "(g)",
        DIGITS,
        "(map (lambda (x) (* x x)) (range 900000))",
        "(map (lambda (x) (twice (+ x 1))) (range 900000))",
        "(fold (lambda (a x) (f 9)) 0 (range 900000))",
        "(sort (range 900000) (lambda (a b) (> a b)))",
        "(par (sleep 60) (g) (sleep 60))",
        "(par (begin (sleep 0.001) (g)) (g))",
        "(with-timeout 60 (g))",
        "(try (g) (finally (sleep 0.001)))",
        '(begin (try (with-timeout 0.02 (g)) (catch (err seconds) "inner")) (g))',
        '(par (try (with-timeout 0.01 (g)) (catch (err seconds) "inner")) (g))',
    ],
)
def test_what_computes_is_ended(body):
    """And again at the same step, whatever the slices and the clock of the other run."""
    text = f"(try (with-timeout 0.05 {body}) (catch (err seconds) err))"
    ended, rows = driven(text)

    assert "seconds" == ended.value.fields["reason"]
    assert ended.value.fields["details"]["steps"] > 0
    assert end_of(ended) == end_of(fold(midway(text), rows))


def test_a_recording_ends_it_at_its_step(tmp_path):
    """The row says which, and how steps are counted; it is another run's clock that repeats it."""
    (tmp_path / "p.sexp").write_text(
        F + "(try (with-timeout 0.05 (par (sleep 60) (g))) (catch (err seconds) err.details))"
    )
    first = sexplang("run", "p.sexp", "--record", "r.jsonl", cwd=tmp_path)
    again = sexplang("run", "p.sexp", "--model", "replay:r.jsonl", cwd=tmp_path)

    assert "steps: " in first.stdout and "waiting: 2" in first.stdout
    assert first.stdout == again.stdout
    rows = [json.loads(line) for line in (tmp_path / "r.jsonl").read_text().splitlines()]
    (row,) = [each for each in rows if each.get("operation") == PASSED]
    assert row["arguments"][2] == STEPS and row["clock"] >= 0.05


def test_steps_that_were_counted_otherwise_are_refused(tmp_path):
    """Where they are no such steps, the deadline would pass elsewhere."""
    (tmp_path / "p.sexp").write_text(F + "(with-timeout 0.02 (g))")
    sexplang("run", "p.sexp", "--record", "r.jsonl", cwd=tmp_path)
    path = tmp_path / "r.jsonl"
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    for line in lines:
        line.pop("checksum", None)
        if line.get("operation") == PASSED:
            line["arguments"][2] = STEPS + 1
    put(path, lines)
    again = sexplang("run", "p.sexp", "--model", "replay:r.jsonl", cwd=tmp_path)

    assert "bad-recording" in again.stderr and f"version {STEPS + 1} of steps" in again.stderr


def put(path, lines):
    """The lines as a recording of their own."""
    checksum = b""
    with path.open("wb") as file:
        for line in lines:
            text, checksum = add_checksum(json.dumps(line).encode(), checksum)
            file.write(text + b"\n")


def test_the_time_of_a_budget_ends_computing():
    """Of the whole run, of a form."""
    done = sexplang("run", "--budget", "seconds=0.1", "-e", "(define (f) (f)) (f)")
    inner = sexplang("run", "-e", "(define (f) (f)) (with-budget {seconds: 0.05} (f))")

    assert (1, 1) == (done.returncode, inner.returncode)
    assert "--budget seconds=0.2" in done.stderr and "seconds were allowed, and" in inner.stderr


def test_a_late_value_is_no_value():
    """Though nothing looked while it was made."""
    text = "(with-timeout 0.02 (length (range 900000)))"
    outcome = midway(text)
    pause = state_of(outcome).pause
    assert isinstance(outcome, Suspended) and pause is not None and pause.rest is None
    outcome = advance(outcome, Slice(1_000_000))  # computes, and is about to leave the form
    (scope,) = state_of(outcome).pause.scopes
    ended = advance(outcome, Slice(), scope.id)

    assert "seconds" == ended.error.fields["reason"]


def test_slices_are_no_steps():
    """A program takes as many however far it computes at a time."""
    calls = "(f 3000) (map (lambda (x) (f 2)) (range 500)) (sort (range 9000) >)"
    text = f"(with-timeout 60 (begin {calls}))"

    def steps(slice):
        outcome, count = start(built(F + text), slice=slice), []
        while isinstance(outcome, Suspended):
            count.append(state_of(outcome).pause.steps)
            outcome = advance(outcome, slice)
        return count[-1], end_of(outcome)

    assert 1 == len({repr(steps(Slice(size))) for size in (100, 1_000, 30_000, 10_000_000)})


def test_who_answers_the_timers_alone_has_no_clock_for_computing():
    """`start` without a driver computes until all wait."""
    outcome = start(built(F + "(with-timeout 0.001 (begin (f 300000) (sleep 1)))"))

    assert ["sleep", "timer"] == sorted(each.operation for each in outcome.requests)


def test_elements_made_between_two_waits_are_counted_over_slices():
    """A deadline is no way round the limit."""
    text = "(with-timeout 60 (loop 100 (length (map (lambda (x) x) (range 5000)))))"
    outcome = start(built(text), limits=Limits(allocation=100_000), slice=Slice(2_000))
    while isinstance(outcome, Suspended):
        outcome = advance(outcome, Slice(2_000))

    assert "limit-allocation" == outcome.error.fields["reason"]


def test_a_place_is_given_on_over_a_slice():
    """A job ends, and the branch computes past the end of a slice before it waits: who waits for
    the place has it then."""
    text = """(define-effect (ask n)) (define (work n) (with-permit (lambda () (ask n))))
        (with-timeout 9 (par (begin (work 1) (f 3000) (ask 2)) (work 3)))"""
    outcome = start(built(F + text), limits=Limits(places=1), slice=Slice())
    while state_of(outcome).pause is not None:
        outcome = advance(outcome, Slice())
    (first,) = [each for each in outcome.requests if each.operation == "ask"]
    outcome = outcome.resume(first.id, "one", slice=Slice())
    while state_of(outcome).pause is not None:
        outcome = advance(outcome, Slice())
    asked = [each.arguments for each in outcome.requests if each.operation == "ask"]

    assert [(2,), (3,)] == sorted(asked)


def slices(work, size=1_000_000):
    """Where the slices of a program end that is timed."""
    outcome, ends = start(built(F + f"(with-timeout 60 (begin {work} 1))"), slice=Slice(size)), []
    while isinstance(outcome, Suspended):
        ends.append(state_of(outcome).pause.steps)
        outcome = advance(outcome, Slice(size))
    return ends


def test_what_makes_much_ends_its_slice():
    """Else as many of them would be done as of the smallest steps until somebody looks."""
    assert len(slices("(loop 20 (length (range 5)))")) == 2
    assert len(slices("(loop 20 (length (range 600000)))")) >= 20
    assert len(slices("(map (lambda (i) (length (range 600000))) (range 20))")) >= 20


ASK = """(defatom ask (params (q string)) (instructions "{{q}}"))
(defatom timed (params (q string)) (instructions "{{q}}") (limits timeout: 9))
"""
TRACED = [
    '(ask "a")',
    '(par (ask "a") (race (ask "b") (f 9)))',
    '(let ((r (call-task (ask "a")))) (begin (continue r "more") 1))',
    '(attempt (ask 5) "no")',
    '(retry (lambda () (begin (ask "a") (error "no"))) times: 3)',
    '(vote (lambda () (ask "a")) n: 3)',
    '(eval-plan "(+ 1 2)")',
    '(sequence [ask ask] "a")',
    '(timed "a")',
    '(spawn-subagent task: "a")',
    '(run-parallel-subagents [{task: "a"} {task: "b"}])',
    '(handle (+ (ask "a") (+ 1 (attempt (+ 1 (attempt (go))))) 1) ((go) k (+ (k 1) (k 2))))',
]


@pytest.mark.parametrize("work", TRACED)
def test_a_traced_run_takes_the_same_steps(work):
    """A recorded run is traced. The run that repeats it may not be, and met its deadlines
    elsewhere, or nowhere."""
    text = f"{F}{ASK}(define-effect (go)) (define-effect (end)) (attempt {work} 0) (f 7) (end)"

    def steps(traced):
        outcome = start(built(text), {}, tasks(), traced=traced)
        while outcome.requests[0].operation != "end":
            request = outcome.requests[0]
            usage = {"input_tokens": 1, "output_tokens": 1}
            reply = {"content": [{"type": "text", "text": "yes"}], "usage": usage}
            is_asked = request.operation == "model"
            outcome = outcome.resume(request.id, reply if is_asked else 1)
        return state_of(outcome).scheduler.steps

    assert steps(False) == steps(True)


def test_a_recorded_task_before_computing_moves_no_deadline(tmp_path):
    """The recorded run told of its task; the other one does not."""
    timed = '(with-timeout 0.05 (begin (ask "a") (g)))'
    text = f"{F}{ASK}(try {timed} (catch (err seconds) err.details))"
    path = tmp_path / "run.jsonl"
    first = embedding.run(text, model=["yes"], record=path)

    assert first["steps"] > 0 and first == embedding.run(text, model=f"replay:{path}")


@pytest.mark.parametrize(
    "work",
    [
        "(* n m)",
        "(modulo n m)",
        "(quotient n m)",
        "(/ m m)",
        "(expt m 3)",
        "(sqrt (* m m))",
        "(str n)",
        "(number->string m 7)",
        "(string->number digits)",
        "(apply * [m m])",
    ],
)
def test_large_integers_count_as_steps(work):
    """Arithmetic with thousands of digits takes much longer than with a few."""
    large = "(define n (- (expt 2 6990) 1)) (define m (- (expt 3 2000) 1)) (define digits (str n))"
    small = "(define n 8) (define m 3) (define digits (str n))"
    of_large, of_small = (
        start(built(f"{F}(define-effect (ask)) {defined} (loop 1000 {work}) (ask)"))
        for defined in (large, small)
    )
    more = state_of(of_large).scheduler.steps - state_of(of_small).scheduler.steps

    assert 2_000 < more < 1_000_000


AGAIN = """
(define-effect (go))
(define k (handle (with-timeout 0.02 (begin (go) (g))) ((go) k k)))
(define (late) (sleep 0.001) (try (k 1) (catch (err seconds) err.reason)))
[(late) (late)]
"""


def test_a_continuation_brings_its_deadline_along():
    """Called where no deadline stands, and again when its own has passed: either call took all the
    steps that the run may take."""
    ended, rows = driven(AGAIN)

    assert ("seconds", "seconds") == tuple(ended.value)
    assert end_of(ended) == end_of(fold(midway(AGAIN), rows))


def test_a_continuation_brings_its_plan_along():
    """The steps of the plan count, whoever calls it."""
    plan = "(define (f) (f)) (perform go) (f)"
    text = f'(define-effect (go)) (define k (handle (eval-plan "{plan}" allow: [\'go]) ((go) k k)))'
    text = f"{text} (sleep 0) (k 1)"
    limits = Limits(plan_steps=10_000, steps=1_000_000)
    outcome = start(built(text), limits=limits)
    outcome = outcome.resume(outcome.requests[0].id, None)

    assert "limit-steps" == outcome.value["error"].fields["reason"]


def ends_of_cleaning(text):
    """The errors that end a program, by slices, each given as its details. A deadline passes when
    all waits: that of the form, then that of the grace."""
    ends = []
    for slice in (None, Slice(), Slice(7), Slice(4_999)):
        outcome = start(built(F + text), limits=Limits(steps=1_000_000), slice=slice)
        while isinstance(outcome, Suspended):
            if state_of(outcome).pause is not None:
                outcome = advance(outcome, slice)
                continue
            timers = [each for each in outcome.requests if each.operation == "timer"]
            first = min(timers, key=lambda each: each.arguments)
            outcome = outcome.resume(first.id, None, slice=slice)
        ends.append(outcome.error.fields["details"])
    return ends


GRACE_IS_OVER = {"resource": "seconds", "metrics": {"limit": 5, "used": 5}}


@pytest.mark.parametrize("around", ["", "(with-timeout 60 "])
def test_finally_bodies_compute_no_longer_when_the_grace_is_over(around):
    """The inner one had its five seconds, the outer one as many steps as the run may take."""
    body = "(try (try (sleep 9) (finally (sleep 9))) (finally (f 300) (g)))"
    text = f"{around}(with-timeout 1 (try {body} (finally (f 300)))){')' * bool(around)}"

    assert [GRACE_IS_OVER] * 4 == ends_of_cleaning(text)


@pytest.mark.parametrize(
    "again",
    [
        "(try (g) (finally (h)))",
        "(try (g) (catch (e) (h)))",
        "(begin (try (sleep 9) (catch (e) nil)) (h))",
        "(begin (with-budget {calls: 1} 1) (h))",
        "(begin (with-timeout 1 1) (h))",
        "(begin (par 1 2) (h))",
        "(begin (try (par 1 (g)) (catch (e) nil)) (h))",
        "(par (try (g) (finally (h))) (try (g) (finally (h))))",
        "(race (try (g) (finally (h))) (try (g) (catch (e) (h))))",
        "(begin (attempt (with-timeout 1 (g))) (h))",
    ],
)
@pytest.mark.parametrize("place", ["{}", "(par 1 {})"])
def test_cleaning_up_begins_nothing_new_when_the_grace_is_over(again, place):
    """Each new body had as many steps again: the limit on steps alone ended such a program."""
    body = place.format("(try (sleep 9) (finally (try (sleep 9) (finally (h)))))")
    ends = ends_of_cleaning(f"(define (h) {again}) (with-timeout 1 {body})")
    # What a branch that was cancelled raises is nobody's.
    passed = 5 if place == "{}" else 1

    assert [passed] * 4 == [each["metrics"]["limit"] for each in ends]


def test_a_clause_under_a_deadline_that_has_passed_does_not_go_on_for_ever():
    """It works for who performed; the form stands in its continuation."""
    text = """(define-effect (ask)) (define (h) (try (g) (catch (e) (h))))
        (handle (with-timeout 1 (ask)) ((ask) k (begin (try (sleep 9) (catch (e) (h))) (k 1))))"""

    assert [1] * 4 == [each["metrics"]["limit"] for each in ends_of_cleaning(text)]


def test_a_continuation_enters_a_form_whose_deadline_has_passed_ten_times():
    """Each time leaves the code around it fewer steps; then the deadline ends that, too."""
    text = """(define-effect (ask)) (define (again k) (try (k 1) (catch (e) nil)) (again k))
        (handle (with-timeout 1 (begin (ask) (sleep 9) (g)))
          ((ask) k (begin (try (k 1) (catch (e) nil)) (again k))))"""

    assert [1] * 4 == [each["metrics"]["limit"] for each in ends_of_cleaning(text)]
