"""The law of the bound: no run asks a model more often than `check` said."""

from math import ceil
from random import Random
from types import SimpleNamespace

import pytest
from support.calling import BOSS, STATE, TASKS, asked, inputs, program
from support.running import built

from sexplang.pipeline.pipeline import inspect

SEEDS, ALL = 100, 7_000
PARTS = 2


SIGNS = {"·": "*", "²": "**2", "³": "**3", "⁴": "**4", "⁵": "**5"}


def read(bound, given):
    """What a bound comes to as it is written, for somebody who knows no more than arithmetic."""
    text = str(bound)
    for sign, written in SIGNS.items():
        text = text.replace(sign, written)
    return eval(text, {"max": max, "ceil": ceil, "len": len}, given)


def held(seeds):
    """Programs whose bound was tried, and those where a run reached it."""
    bounded = reached = 0
    for seed in seeds:
        random = Random(seed)
        text = program(random)
        made = built(text)
        report = inspect(made)
        if not report.calls.is_bounded:
            continue
        bounded += 1
        most = 0
        for _ in range(3):
            given = inputs(random)
            count = asked(made, given, random)
            promised = report.most(given)

            assert read(report.calls, given) == promised, f"seed {seed}: {report.says()}"
            assert count <= promised, f"seed {seed}: {count} > {promised}, {report.says()}\n{text}"
            most = max(most, count == promised)
        reached += most
    return bounded, reached


@pytest.mark.parametrize("part", range(PARTS))
def test_no_run_passes_its_bound(part):
    """Whatever the model replies: tools to the last turn, bad JSON, pauses, subtasks, failures."""
    assert_held(range(part * SEEDS // PARTS, (part + 1) * SEEDS // PARTS))


@pytest.mark.long
@pytest.mark.timeout(1200)
def test_no_run_of_many_passes_its_bound():
    """The same, with many more programs."""
    assert_held(range(SEEDS, ALL))


def assert_held(seeds):
    bounded, reached = held(seeds)

    assert bounded * 10 > len(seeds) * 4, "most programs should have a bound"
    assert reached * 4 > bounded, "a bound should often be met exactly"


@pytest.mark.parametrize(
    "text",
    [
        "(rate 1)",
        "(look docs)",
        "(map (lambda (d) (say d) (rate d)) docs)",
        "(loop ((i 0)) (say 1) (if (< i 3) (begin (say 2) (recur (+ i 1))) (say 3)))",
        "(loop ((i 5)) (if (<= i 0) 1 (begin (say 1) (recur (- i 2)))))",
        "(loop ((i 1)) (say 1) (if (>= i n) i (recur (+ i 1))))",
        "(handle (begin (ask 1) (say 1)) ((ask p) k (k 1) (k 2)))",
        "(handle (begin (ask 1) (ask 2) (say 1)) ((ask p) k [(k 1) (k 2)]))",
        "(handle (begin (ask 1) (raise 1)) ((ask p) k [(k 1) (k 2)]) ((error e) _ (say 1)))",
        "(handle (begin (ask 1) (ask 2)) ((ask p) k (say 1) (k 1)) (return r (say r)))",
        "(handle (/ 1 0) ((error e) k (say 1) 2))",
        "(try (begin (say 1) (raise 1)) (catch (e) (say 2)) (finally (say 3)))",
        "(with-budget {calls: 2} (try (loop 9 (say 1)) (finally (map say docs))))",
        "(with-budget {calls: 2} (map (lambda (f) (try (f 1) (finally (f 2)))) [say rate]))",
        "(with-state 1 (lambda () (put-state (say 1)) (say (get-state))))",
        "(twice (lambda (x) (twice say x)) 1)",
        "(each (lambda (d) (each say docs)) docs)",
        "(fold (lambda (acc x) (str acc (say x))) 1 docs)",
        "(handle (say 1) ((model p) k (k (str (forward-twice p)))))",
        '(handle (boss 1) ((subtask r) k (k "no")))',
        "(handle (look 1) ((read-file p) k (k 1)) ((tool a b) k (k 2)))",
        "(let ((fs {a: say b: rate})) (fs.b 1))",
        "((compose say rate) 1)",
        "(with-timeout 5 (par (say 1) (race (say 2) (say 3))))",
        "(try (handle (begin (say 1) (raise 1)) ((error e) k (forward k error e)))"
        " (catch (e) (say 2)))",
        "(director-evaluator-loop max_iterations: 3 initial: 1 director: (lambda (x i) (say x))"
        " executor: list evaluator: list controller: (lambda (v p e i) ['continue i]))",
        "(iterative-loop max_iterations: 2 initial: 1 executor: (lambda (x i) (say x))"
        ' test_command: "true" controller: (lambda (e v x i) [\'continue i]))',
        "(sequence [say say] 1)",
        "(retry (lambda () (say 1)) times: 2)",
        "(vote (lambda () (say 1)))",
        '(map say (try (raise "x") (catch (e) [1 2 3])))',
        '(map say (if (empty? docs) (error "no docs") docs))',
        "(map say (loop ((i 0)) (if (< i 3) (recur (+ i 1)) docs)))",
        '(map say (string-split "a,b,c" ","))',
        "(loop ((xs [1 2 3])) (say 1) (if (empty? xs) 1 (recur (rest xs))))",
        "(loop ((xs docs) (sum 0)) (say 1) (if (empty? xs) sum (recur (rest xs) (+ sum 1))))",
        "(loop ((i 0)) (if (< i 3) (begin (say i) (if (= n 3) (recur (+ i 1))"
        " (recur (+ i 2)))) 1))",
        "(loop ((i 0.5)) (say i) (if (< i 3) (recur (+ i 1)) i))",
        "(loop ((i 0)) (if (< i x) (begin (say i) (recur (+ i 1))) i))",
        "(map say (range x))",
        "(loop ((i 0.1)) (if (<= i 0.3) (begin (say i) (recur (+ i 0.1))) i))",
        "(loop ((i 3)) (if (> i 0.5) (begin (say i) (recur (- i 1))) i))",
        "(loop ((i 0.5)) (if (< i n) (begin (say i) (recur (+ i 1))) i))",
        "(loop ((xs docs)) (match xs ([] 1) ([a . r] (say a) (recur r))))",
        "(loop ((xs [1 2 3])) (say 1) (cond ((empty? xs) 1) (else (recur (drop xs 1)))))",
        "(loop ((xs docs)) (if (empty? xs) 1 (let ((r (rest xs))) (say 1) (recur r))))",
        "(handle (try (ask 1) (finally (say 1))) ((ask p) k (abandon k) (abandon k) (k 1)))",
        "(handle (try (ask 1) (finally (say 1))) ((ask p) k (loop 3 (abandon k))))",
        "(handle (begin (ask 1) (say 1)) ((ask p) k (if (= n 9) (abandon k) (k 1))))",
        "(handle (begin (ask 1) (say 1)) ((ask p) k (with-budget {calls: 5} (k 1))))",
        "(with-budget {calls: 2} (handle (begin (ask 1) (say 1)) ((ask p) k (map k [1 2 3]))))",
        "(with-budget {calls: 3} (let ((c (handle (begin (ask 1) (say 1) (say 2))"
        " ((ask p) k k)))) (c 1) (c 2)))",
        "(define (f x) (with-budget {calls: 2} (if (> x 0) (begin (say 1) (f (- x 1))) 1))) (f 3)",
        "(handle (begin (ask 1) (say 1)) ((ask p) k (let ((r k)) (if (= n 9) (r 1) (r 2)))))",
        "(handle (begin (ask 1) (ask 2) (say 1)) ((ask p) k (let ((r k)) [(r 1) (r 2)])))",
        "(define (go f) (str (f 1))) (handle (begin (ask 1) (say 1)) ((ask p) k (go k)))",
        "(handle (begin (ask 1) (say 1)) ((ask p) k (twice k 1)))",
        "(handle (begin (ask 1) (say 1)) ((ask p) k (map (lambda (x) (k x)) [1 2 3])))",
        "(handle (begin (ask 1) (say 1)) ((ask p) k (let ((t {a: k})) (t.a 1))))",
        "(handle (begin (ask 1) (say 1)) ((ask p) k (par (k 1) (k 2))))",
        "(map say (attempt (raise [1 2])))",
        "(map say (attempt (if (= n 9) (raise [1 2]) [1])))",
        "(map say (attempt docs))",
        "(map say (and (ask 1) docs))",
        "(map say (race docs docs))",
        "(map say (get-in {a: {b: docs}} ['a 'b]))",
        "(map say (get (merge {a: docs} {b: 1}) 'a))",
        "(map say {a: 1})",
    ],
)
def test_a_bound_is_no_greater_than_it_has_to_be(text):
    """Some run reaches it."""
    twice = "(define (forward-twice p) (model p) (model p))\n"
    made = built(STATE + TASKS + BOSS + twice + text)
    report = inspect(made)
    given = {"docs": (1, 2), "n": 3, "x": 2.5}
    counts = [asked(made, given, Random(seed)) for seed in range(150)]

    assert report.most(given) == max(counts), report.says()


DEFAULTED = """
(define (f x (y (say 1))) x)
(define (both (a (say 1)) (b (say 2)) . r) 1)
(define (two p q) (say p))
(define (partial f . a) (lambda r (apply f (append a r))))
(define (after f g) (lambda r (f (apply g r))))
"""
"""Functions that ask for what they are not given."""


@pytest.mark.parametrize(
    "text",
    [
        "(apply f docs)",
        '(apply f (json-parse "[1]"))',
        '(apply f (filter string? ["a" 1 2]))',
        "(apply f (if (= n 3) [1] [1 2 3]))",
        '(apply f 1 (take (json-parse "[]") 5))',
        "(for-each (lambda (r) (apply f r)) docs)",
        "(map (lambda (r) (apply f r)) (if (= n 3) [[1] [2]] [[1 2]]))",
        '(handle (apply (lambda (x (y (ask 1))) (say 1)) (json-parse "[1]"))'
        " ((ask p) k (k 1) (k 2)))",
        '(apply both (json-parse "[]"))',
        "(apply both (rest docs))",
        '(apply both 1 2 (json-parse "[1]"))',
        "(apply (if (= n 3) both f) (rest docs))",
        "(apply (lambda r (apply f r)) docs)",
        "((lambda r (apply f r)) 1)",
        "((lambda r (apply f r)) 1 2)",
        "(apply (partial both 1) (rest docs))",
        "((partial both) 1)",
        "((partial f 1) 2)",
        "(apply (after f both) (rest docs))",
        "(map (partial apply f) docs)",
        "(f y: 2 x: (apply f docs))",
        "(apply apply f [docs])",
        "(apply map f [docs])",
        "(apply map f [1 2] (if (= n 3) [] [[1 2]]))",
        "(apply for-each two [[1 2] [3 4]])",
        "(apply f 1 [])",
        "(apply f [1 2])",
        "(apply f 1 (cons 2 []))",
        "(apply f (drop [0 1 2] 1))",
        "(apply f (append [1] [2]))",
        "(try (apply fold docs) (catch (e) (apply f docs)))",
        "(try (apply map docs) (catch (e) (apply f docs)))",
        "(try (apply get docs) (catch (e) (apply f docs)))",
    ],
)
def test_what_may_not_be_given_is_counted(text):
    """Where `apply` gets a list of which nobody knows how long it is, and no more than that."""
    made = built(STATE + TASKS + DEFAULTED + text)
    report = inspect(made)
    given = {"docs": ((1,),), "n": 3, "x": 2.5}
    most = max(asked(made, given, Random(seed)) for seed in range(20))

    assert report.most(given) == most, report.says()
    assert ("model" in report.effects[0].operations) == (most > 0)


def test_rows_of_an_unknown_list_have_no_bound():
    """Each row may have as many items as there are calls."""
    made = built(STATE + TASKS + DEFAULTED + "(apply map two docs)")

    assert not inspect(made).calls.is_bounded


@pytest.mark.parametrize(
    "text",
    [
        "(if (> n 3) (loop n (say 1)) (loop 10 (say 1)))",
        "(loop (max n 2) (say 1))",
        "(loop (* -2 -3) (say 1)) (loop (* -2 3) (say 1)) (loop (quotient 7 2) (say 1))",
        "(loop (quotient -7 -2) (say 1)) (loop (quotient n 2) (say 1))",
        '(loop (string-length "abcd") (say 1))',
        "(map say (range n)) (loop 3 (say 1))",
        "(loop ((i 0)) (say 1) (if (> i n) 0 (recur (+ i 1))))",
        "(loop ((i 0)) (say 1) (if (>= i x) 0 (recur (+ i 1))))",
        "(loop ((i 5)) (if (<= i x) (begin (say 1) (recur (+ i 1))) 0))",
        "(map say (range 0 x)) (map say (range (* 2 x)))",
        "(map say (range 0 docs.count))",
    ],
)
@pytest.mark.parametrize("number", [-30, -10, -1, 0, 1, 4, 7])
def test_a_bound_holds_as_it_is_written(text, number):
    """For inputs below zero, and for those between two whole numbers."""
    made = built(STATE + TASKS + text)
    for x in (number, number + 0.5):
        given = {"docs": {"count": x}, "n": number, "x": x}
        bound = inspect(made).calls

        assert asked(made, given, Random(1)) <= read(
            bound, {**given, "docs": SimpleNamespace(count=x)}
        ), bound


KEPT = "(with-budget {{calls: 1}} (handle (begin (ask 1) (say 1) (say 2)) ((ask p) k {})))"
"""A continuation that a budget is around."""

PERFORMED = "(with-budget {calls: 1} (ask 1))"
HANDLED = "(handle (begin (ponder-on 1) (say 1) (say 2)) ((ponder-on p) j {}))"
"""Last in a clause, so that what is resumed stands where the clause's handle expression does."""


@pytest.mark.parametrize(
    "text",
    [
        "(define (go a b c d e f x) (if (> x 0) (go b c d e f say (- x 1)) (a 1)))"
        "(go str str str str str str 9)",
        "(define (go xs x) (if (> x 0) (go (cons 1 xs) (- x 1)) (map say xs))) (go [] 3)",
        "(define r (handle (begin (ask 1) (say 1)) ((ask p) k {k: k}))) (loop 3 (r.k 1))",
        "(handle (begin (ask 1) (log 1 1)) ((ask p) k (handle (k 1) ((log a b) j (say 1) (j 1)))))",
        "(define go (lambda (self x) (say x) (self self x))) (go go 1)",
        "(try (raise say) (catch (e) (e.details.value 1)))",
        "(define r (attempt (raise say))) (r.notes.error.details.value 1)",
        "(define r (attempt (if (= n 9) [1] (raise [say]))))"
        " (map (lambda (f) (f 1)) r.notes.error.details.value)",
        "(loop ((xs docs)) (if (say 1) (recur (drop xs 1)) 1))",
        "(loop ((xs docs)) (if (>= (length xs) 0) (begin (say 1) (recur (drop xs 1))) 1))",
        "(loop ((xs docs)) (match xs ([] 1) ([a . r] (say a) (recur (if (= n 9) r xs)))))",
        "(loop ((i 1e17)) (if (< i 2e17) (begin (say 1) (recur (+ i 1))) 1))",
        "(loop ((i 0.5)) (if (!= i 3) (begin (say 1) (recur (+ i 1))) 1))",
        "(define (f) (try (g) (catch (e) (e.details.value 1)))) (define (g) (raise say)) (f)",
        "(eval-plan (say 1) allow: ['model])",
        "(loop ((a str) (b str) (c str) (d str) (e str) (f str) (g say) (x 9))"
        " (a 1) (if (> x 0) (recur b c d e f g g (- x 1)) 1))",
        "(loop ((a []) (b []) (c []) (d []) (e []) (f []) (g [1 2]) (x 9))"
        " (map say a) (if (> x 0) (recur b c d e f g g (- x 1)) 1))",
        "(define c (with-budget {calls: 1} (handle (try (ask 1) (finally (say 1) (say 2)))"
        " ((ask p) k k)))) (abandon c)",
        "(define (go a b c d e x (y (say 1))) (if (> x 0) (a b c d e x) 1))"
        " (define (f b c d e x) (go b c d e g (- x 1) 1))"
        " (define (g b c d e x) (go b c d e f (- x 1))) (go f f f f f 9 1)",
        "(handle (begin (ask 1) (say 1)) ((ask p) k (k k)))",
        "(handle (let ((c (ask 1))) (say 1) (c str)) ((ask p) k (k k)))",
        "(define c (handle (begin (ask 1) (say 1)) ((ask p) k (let ((r k)) (r 1) r)))) (c 1)",
        "(handle (begin (ask 1) (say 1)) ((ask p) k (map k docs)))",
        "(handle (begin (ask 1) (say 1)) ((ask p) k (loop ((i 0)) (if (k i) (recur 1) 1))))",
        "(define (go c x) (if (> x 0) (go c (- x 1)) (c 1)))"
        " (handle (begin (ask 1) (say 1)) ((ask p) k (go k 3)))",
        "(with-state 1 (lambda () (handle (begin (ask 1) (say 1))"
        " ((ask p) k (put-state k) ((get-state) 1)))))",
        "(handle (handle (begin (ask 1) (say 1)) ((ask p) k (ponder-on k)))"
        " ((ponder-on c) _ (c 1)))",
        "(handle (boss 1) ((subtask r) k (forward k subtask r)))",
        f"(define c {KEPT.format('k')}) (c 1)",
        f"(define c {KEPT.format('(lambda () (k 1))')}) (c)",
        f"(define c {KEPT.format('[k]')}) (map (lambda (c) (c 1)) c)",
        f"(try {KEPT.format('(raise k)')} (catch (e) (e.details.value 1)))",
        f"(handle {KEPT.format('(ponder-on k)')} ((ponder-on c) j (c 1)))",
        f"(handle {KEPT.format('(ponder-on k)')} ((ponder-on c) j (if (= n 9) (j 1) (c 1))))",
        f"(define (go c) (c 1)) (handle {KEPT.format('(ponder-on k)')} ((ponder-on c) j (go c)))",
        f"(handle {PERFORMED} ((ask p) k (if (= n 9) (k 1) {HANDLED.format('(j 1)')})))",
        f"(handle {PERFORMED} ((ask p) k (if (= n 9) (k 1)"
        f" {HANDLED.format('(forward j ponder-on p)')})))",
        "(handle (try (ask 1) (finally (say 1))) ((ask p) k (handle (begin (ponder-on 1)"
        " (abandon k)) ((ponder-on x) j (j 1) (j 2)))))",
        "(define c (handle (handle (try (ask 1) (finally (ponder-on 1))) ((ask p) k k))"
        " ((ponder-on p) j (j 1)))) (handle (abandon c) ((ponder-on p) j (say 1) (say 2) (j 1)))",
    ],
)
def test_what_is_not_understood_has_no_bound(text):
    """Functions that arrive late, continuations elsewhere, plans: never a number that is wrong."""
    assert not inspect(built(STATE + TASKS + BOSS + text)).calls.is_bounded
