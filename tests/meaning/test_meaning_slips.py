"""Slips that ran to a wrong value without a word: `check` tells each, with what to write."""

import pytest
from support.running import built

from sexplang.pipeline.pipeline import inspect

TASK = '(defatom f (params (x string)) (instructions "S {{x}}"))\n'


def told(text):
    """The code of each finding, what it points to and its hint."""
    program = built(text)
    found = [*program.warnings, *inspect(program).findings]
    return [(each.code, each.labels[0].span.text, each.hint) for each in found]


@pytest.mark.parametrize(
    ("text", "code", "part", "hint"),
    [
        (
            '(try (first []) (catch (empty-list e) "none"))',
            "never-raised",
            '(catch (empty-list e) "none")',
            "the name comes first: `(catch (e empty-list) …)`",
        ),
        (
            '(try (raise {reason: "late"}) (catch (e latte) 1))',
            "never-raised",
            "(catch (e latte) 1)",
            "did you mean `late`?",
        ),
        (
            TASK + '(try (f "x") (catch (e TASK_FAILUR) 1))',
            "never-raised",
            "(catch (e TASK_FAILUR) 1)",
            "did you mean `TASK_FAILURE`?",
        ),
        (
            TASK + '(try (f "x") (catch (e modl-timeout) 1))',
            "never-raised",
            "(catch (e modl-timeout) 1)",
            "did you mean `model-timeout`?",
        ),
        (
            "(define (safely thunk) (try (thunk) (catch (TASK_FAILURE e) 1))) (safely list)",
            "never-raised",
            "(catch (TASK_FAILURE e) 1)",
            "the name comes first: `(catch (e TASK_FAILURE) …)`",
        ),
        (
            "(try (first []) (catch (e nowhere-at-all) 1))",
            "never-raised",
            "(catch (e nowhere-at-all) 1)",
            "a word here is the type or the reason of an error: `sexplang explain` lists them",
        ),
        (
            '(defatom f (params (x string)) (instructions "S {x}")) (f "a")',
            "unused-param",
            '(defatom f (params (x string)) (instructions "S {x}"))',
            "write `{{x}}`: in single braces it is a text like any other",
        ),
        (
            '(defatom f (params (x string) y) (instructions "S {{x}}")) (f "a" 1)',
            "unused-param",
            '(defatom f (params (x string) y) (instructions "S {{x}}"))',
            "write `{{y}}` in the instructions, or leave the parameter out",
        ),
        (
            TASK + '(f "x") 3',
            "unused-value",
            '(f "x")',
            "give it a name: `(bind answer (f …))`, or leave the call out",
        ),
        (
            TASK + '(define (g x) (f x) x) (g "x")',
            "unused-value",
            "(f x)",
            "give it a name: `(bind answer (f …))`, or leave the call out",
        ),
        (
            '(bind t {a: 1}) (list t["a"])',
            "no-indexing",
            '["a"]',
            'write `t.a` or `(get t "a")`',
        ),
        ("(bind i 0) (bind t [1]) (list t[i])", "no-indexing", "[i]", "write `(get t i)`"),
        ("(+ 1 2) 3", "unused-value", "(+ 1 2)", "leave it out, or give it a name to use"),
        (
            "(define (g t) (put t 'a 1) t) (g {})",
            "unused-value",
            "(put t 'a 1)",
            "leave it out, or give it a name to use",
        ),
        ("(try 1 2 (catch (e) 3))", "unused-value", "1", "leave it out, or give it a name to use"),
        ('(define (g t) (str t "!") t) (g "a")', "unused-value", '(str t "!")', None),
        ('(string-split "," "a,b")', "swapped-arguments", '(string-split "," "a,b")', None),
        (
            '(string-replace "a" "b" "banana")',
            "swapped-arguments",
            '(string-replace "a" "b" "banana")',
            'the text comes first: write `(string-replace "banana" "a" "b")`',
        ),
        ('(string-contains? "," "a,b")', "swapped-arguments", None, None),
        ('(get "k" (json-parse "{}"))', "wrong-type", '"k"', 'write `(get (json-parse "{}") "k")`'),
        ("(nth 0 [1 2])", "wrong-type", "0", "write `(nth [1 2] 0)`"),
        ('(bind xs (json-parse "[]")) (take 2 xs)', "wrong-type", "2", "write `(take xs 2)`"),
        ('(bind x "a") (index-of x (json-parse "[]"))', "wrong-type", "x", None),
        ("(has-key? 'a {a: 1})", "wrong-type", "'a", "write `(has-key? {a: 1} 'a)`"),
        ('(put "a" {} 1)', "wrong-type", '"a"', 'write `(put {} "a" 1)`'),
        ("(map [1] str)", "wrong-type", "[1]", "write `(map str [1])`"),
        ("(fold 0 + [1])", "wrong-type", "0", "write `(fold + 0 [1])`"),
        (TASK + '(retry (f "a") times: 2)', "wrong-type", '(f "a")', 'write `(lambda () (f "a"))`'),
        (
            TASK + '(define a (f "x")) (retry a times: 2)',
            "wrong-type",
            "a",
            "write `(lambda () (f …))`: this name has what one call gave",
        ),
        ('(retry "x")', "wrong-type", '"x"', "give a function, such as `(lambda () …)`"),
        ('(substring 0 2 "abc")', "wrong-type", "0", 'write `(substring "abc" 0 2)`'),
        ('(put "a" 1 {})', "wrong-type", '"a"', 'write `(put {} "a" 1)`'),
        (TASK + '(vote (f "a") n: 3)', "wrong-type", '(f "a")', 'write `(lambda () (f "a"))`'),
        (TASK + '(bind said (f "a")) (map said [1])', "wrong-type", "said", None),
        (TASK + '(define (ask) (f "a")) (par-map (ask) [1])', "wrong-type", "(ask)", None),
        ('(spawn-subagent {task: "x"})', "wrong-type", '{task: "x"}', None),
        ('(run-parallel-subagents "x")', "wrong-type", '"x"', None),
    ],
)
def test_a_slip_is_told(text, code, part, hint):
    """Where it is, and what to write instead."""
    ((found, place, words),) = told(text)

    assert (code, part or place, hint or words) == (found, place, words)


@pytest.mark.parametrize(
    "text",
    [
        "(try (first []) (catch (e empty-list USER_ERROR) 1))",
        "(try (raise 'oops) (catch (e oops) 1))",
        '(define (stop why) (raise {reason: why})) (try (stop "x") (catch (e x-y) 1))',
        "(define-effect (ask)) (try (ask) (catch (e host-reason) 1))",
        '(defatom f (params a.b) (instructions "{{ a.b }}")) (f 1)'.replace("a.b", "a"),
        '(defatom f (params a) (instructions "{{a.b[0]}}")) (f 1)',
        '(defatom f (params a) (instructions "Go") (system "{{a}}")) (f 1)',
        '(defatom f (params a) (instructions "{{a}}") (allowed_tools read_file)) (f 1) 2',
        "(print 1) 2",
        "(define-effect (note x)) (handle (begin (note 1) 2) ((note x) k (k nil)))",
        '(define (g x) "says x" x) (g 1)',
        '(string-contains? "tea" "pot")',
        "(bind t 1) (list t [1])",
        "(apply max[1 2])",
        "(match [1]([a] a))",
        '(define (is-digit c) (string-contains? "0123456789" c)) (is-digit "a")',
        '(define (words t) (string-split t " ")) (words "a b")',
        "(define (at t k) (get t k)) (list (at {a: 1} 'a) (at [1] 0) (at nil 'a))",
        '(define (pick x) (get x 0)) (list (try (pick "a") (catch (e) 0)) (pick [1]))',
        TASK + '(retry (lambda () (f "a")))',
        TASK + '(map f ["a"])',
        TASK + '(string-length (f "a"))',
        '(spawn-subagent task: "x" constraints: ["short"])',
        "(define (choose f) (map (if f f str) [1])) (choose nil)",
        '(try (json-parse "x") true (catch (err bad-json) false))',
        "(define (some xs) (car xs) xs) (some [1])",
        "(define (counted n) (+ n 1) n) (counted 1)",
        '(attempt (begin (get {a: 1} "a") (put {} "a" 1) 1) 0)',
        TASK + '(try (f "x") true (catch (err) false))',
        "(define (safely thunk) (try (thunk) (catch (e busy) 1))) (safely (lambda () 1))",
        '(try (read-file "x") (catch (e no-such-thing) 1))',
        TASK + '(try (f "x") (catch (e busy) 1))',
        "(define (each g) (try (map g [1]) (catch (e busy) 1))) (each str)",
        '(try (spawn-subagent "x") (catch (e busy) 1))',
        '(define (both g) (g "k")) (both (lambda (k) (get {k: 1} k)))',
    ],
)
def test_what_is_meant_is_quiet(text):
    """Reasons that may be raised, parameters that the model sees, calls for what they do."""
    assert [] == told(text)
