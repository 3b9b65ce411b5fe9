"""Slips that ran to a wrong value without a word: `check` tells each, with what to write."""

import pytest
from support.running import built

from sexplang.pipeline import inspect

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
            '(try (first []) (catch (e nowhere-at-all) 1))',
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
        ("(+ 1 2) 3", "unused-value", "(+ 1 2)", "leave it out, or give it a name to use"),
        (
            "(define (g t) (put t 'a 1) t) (g {})",
            "unused-value",
            "(put t 'a 1)",
            "leave it out, or give it a name to use",
        ),
    ],
)
def test_a_slip_is_told(text, code, part, hint):
    """Where it is, and what to write instead."""
    assert [(code, part, hint)] == told(text)


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
    ],
)
def test_what_is_meant_is_quiet(text):
    """Reasons that may be raised, parameters that the model sees, calls for what they do."""
    assert [] == told(text)
