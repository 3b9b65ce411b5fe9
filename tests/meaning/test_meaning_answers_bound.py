"""A function that is given the answer of a task, bound to a variable, says so where it fails."""

import pytest

import sexplang

F = """
(defatom f (params (x string)) (instructions "S {{x}}"))
(defatom g (params (x string)) (instructions "S {{x}}"))
"""

TOLD = {
    "direct": "(+ 1 (f 'a))",
    "define": "(define r (f 'a)) (* 2 r)",
    "let": "(let ((r (f 'a))) (+ 1 r))",
    "let*": "(let* ((n 1) (r (f 'a))) (+ n r))",
    "bind": "(bind r (f 'a)) (+ 1 r)",
    "bound again": "(bind r 1) (bind r (f 'a)) (+ 1 r)",
    "in a function": "(define (h n) (let ((r (f 'a))) (+ n r))) (h 1)",
    "from a function": "(define r (f 'a)) (define (h n) (+ n r)) (h 1)",
    "in a loop": "(define r (f 'a)) (loop ((i 0)) (if (< i 3) (recur (+ i r)) i))",
    "in a map": "(define r (f 'a)) (map (lambda (x) (- r x)) [1 2])",
    "beside a call": "(define r (f 'a)) (define (h n) (* n (h r))) (+ (nth [1] 0) r)",
    "by another function": "(define r (f 'a)) (keys r)",
}

SILENT = {
    "another value": '(define r (f \'a)) (define s "other") (str r (+ 1 s))',
    "the name is another": '(define r (f \'a)) (let ((r "3")) (+ 1 r))',
    "a parameter": "(define (h r) (+ 1 r)) (h (f 'a))",
    "the other argument": "(define r (f 'a)) (string-append r [1])",
    "no answer": '(define r "3") (+ 1 r)',
}


def error_of(program):
    with pytest.raises(sexplang.Failed) as failed:
        sexplang.run(F + program.replace("'a", '"a"'), model=["three"])
    assert "wrong-type" == failed.value.error.fields["reason"]
    return failed.value.error.fields


@pytest.mark.parametrize("program", TOLD.values(), ids=TOLD)
def test_the_task_is_named(program):
    error = error_of(program)

    assert error["message"].endswith("which is the answer of `f`")
    if "keys" not in program:
        assert (
            "`f` answers with a text; (returns integer) in it says what it gives" == (error["hint"])
        )


@pytest.mark.parametrize("program", SILENT.values(), ids=SILENT)
def test_nothing_else_is_blamed(program):
    assert "answer of" not in error_of(program)["message"]


def test_the_task_that_is_meant_is_named():
    error = error_of("(define r (f 'a)) (define s (g 'a)) (- s 1)")

    assert error["message"].endswith("which is the answer of `g`")
