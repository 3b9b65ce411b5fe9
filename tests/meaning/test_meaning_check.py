"""What the old meaning of a task's call wrote, `check` refuses; what is right, it lets be."""

import pytest
from support.running import built

from sexplang.pipeline.pipeline import inspect

TASK = """(defatom f (params (x string)) (instructions "S {{x}}"))
(defatom j (params (x string)) (instructions "J {{x}}") (output_format type: json))
(defatom b (params (x string)) (instructions "B {{x}}") (returns boolean))
(defatom kind (params (x string)) (instructions "K {{x}}") (returns (one-of "bug" "wish")))
(defatom rate (params (x string)) (instructions "R {{x}}") (returns {stars: integer}))
(defatom note (params (x string)) (instructions "N {{x}}") (returns {content: string}))
(defatom maybe (params (x string)) (instructions "M {{x}}") (returns (or string nil)))
"""


def refused(text):
    """The code of each error, and what it points to."""
    found = inspect(built(TASK + text)).findings
    return [(each.code, each.labels[0].span.text) for each in found if each.severity == "error"]


@pytest.mark.parametrize(
    ("text", "code", "part"),
    [
        ('(if (f "a") "published" "held")', "answer-as-test", '(f "a")'),
        ('(when (f "a") 1)', "answer-as-test", '(f "a")'),
        ('(unless (f "a") 1)', "answer-as-test", '(f "a")'),
        ('(cond ((f "a") 1) (else 2))', "answer-as-test", '(f "a")'),
        ('(cond ((f "a")) (else 2))', "answer-as-test", '(f "a")'),
        ('(if (and true (f "a")) 1 2)', "answer-as-test", '(f "a")'),
        ('(or (f "a") 1)', "answer-as-test", '(f "a")'),
        ('(not (f "a"))', "answer-as-test", '(f "a")'),
        ('(any? f ["a"])', "answer-as-test", '(any? f ["a"])'),
        ('(all? (lambda (x) (f x)) ["a"])', "answer-as-test", '(all? (lambda (x) (f x)) ["a"])'),
        ('(bind v (f "a")) (if v 1 2)', "answer-as-test", "v"),
        ('(define (ok? x) (f x)) (if (ok? "a") 1 2)', "answer-as-test", '(ok? "a")'),
        ('(let ((said (f "a"))) (if said 1 2))', "answer-as-test", "said"),
        ('(let ((v (f "a"))) (match v ("yes" 1) (false 2)))', "never-equal", "false"),
        ('(if (call-task f "a") 1 2)', "answer-as-test", '(call-task f "a")'),
        ('(if (attempt (f "a")) 1 2)', "answer-as-test", '(attempt (f "a"))'),
        ('(if (attempt (j "a")) 1 2)', "answer-as-test", '(attempt (j "a"))'),
        ("(if (attempt (first [])) 1 2)", "answer-as-test", "(attempt (first []))"),
        ('(equal? (call-task f "a") "r1")', "never-equal", '"r1"'),
        ('(equal? "r1" (call-task j "a"))', "never-equal", '"r1"'),
        ('(match (call-task f "a") ("r1" 1) (_ 2))', "never-equal", '"r1"'),
        ('(if (kind "a") 1 2)', "answer-as-test", '(kind "a")'),
        ('(if (rate "a") 1 2)', "answer-as-test", '(rate "a")'),
        ('(case (kind "a") (("bug") 1) (("whish") 2) (else 3))', "never-equal", '"whish"'),
        ('(match (kind "a") ("bog" 1) (_ 3))', "never-equal", '"bog"'),
        ('(equal? (kind "a") \'bug)', "never-equal", "'bug"),
        ('(member? (kind "a") ["bug" "task"])', "never-equal", '["bug" "task"]'),
        ('(equal? (b "a") "true")', "never-equal", '"true"'),
        ('(bind v (rate "a")) v.content', "answer-as-result", "v.content"),
        ('(bind v (f "a")) v.parsed_content', "answer-as-result", "v.parsed_content"),
        ('(bind v (f "a")) v.notes.warnings', "answer-as-result", "v.notes.warnings"),
    ],
)
def test_the_old_meaning_is_refused(text, code, part):
    """Followed through names, parameters and functions."""
    assert [(code, part)] == refused(text)


@pytest.mark.parametrize(
    "text",
    [
        '(if (equal? (f "a") "yes") 1 2)',
        '(case (f "a") (("yes") 1) (else 2))',
        '(if (j "a") 1 2)',
        '(bind v (j "a")) v.content',
        '(bind v (note "a")) v.content',
        '(if (b "a") 1 2)',
        '(filter b ["a"])',
        '(if (maybe "a") 1 2)',
        '(or (maybe "a") "none")',
        '(case (kind "a") (("bug") 1) (("wish") 2))',
        '(match (rate "a") ({stars: 5} 1) (_ 2))',
        '(case (j "a") ((true) 1) (else 2))',
        '(bind r (call-task f "a")) (if (equal? r.status "COMPLETE") r.content r.notes)',
        '(if (answer (call-task j "a")) 1 2)',
        '(if (attempt (j "a") false) 1 2)',
        '(if (failed? (attempt (f "a"))) 1 2)',
        '(equal? (call-task f "a") (call-task f "b"))',
        '(define (ok? x) (if x 1 2)) (list (ok? (f "a")) (ok? nil))',
        '(define-input deep type: boolean) (if (if deep (f "a") nil) 1 2)',
        '(define (known? x said) (if said 1 2)) (known? 1 (try (f "a") (catch (e) false)))',
        '(handle (if (f "a") 1 2) ((error e) k (k false)))',
        '(and true (f "a"))',
        '(member? (f "a") ["yes" "no"])',
    ],
)
def test_what_is_right_is_let_be(text):
    """Comparisons, typed answers, values that may be something else."""
    assert [] == refused(text)


@pytest.mark.parametrize(
    ("text", "needs"),
    [
        ('(write-file "out.txt" (f "a"))', "--allow-write out.txt"),
        (
            '(define out "out.txt") (define (save t) (write-file out t)) (save 1)',
            "--allow-write out.txt",
        ),
        ('(perform write-file "out.txt" "a")', "--allow-write out.txt"),
        (
            '(iterative-loop 3 "" "python3 -m pytest" (lambda (c i) c) (lambda (e v c i) e))',
            "--allow-run python3",
        ),
        (
            '(iterative-loop 3 "" ["make" "all"] (lambda (c i) c) (lambda (e v c i) e))',
            "--allow-run make",
        ),
        ('(system:run_script "date")', "--allow-run date"),
        ('(read-file "../style.md")', "--allow-read ../style.md"),
        ('(list-files "/srv/docs/*.md")', "--allow-read /srv/docs"),
        ('(read-file ".env")', "--allow-read .env"),
        (
            '(call-atomic-task (quote f) inputs: {x: "a"} model: "http://models.example/v1")',
            "--allow-net models.example",
        ),
    ],
)
def test_what_has_to_be_permitted_is_told(text, needs):
    """By its option, whether the call or a name has it."""
    assert [needs] == [f"{need.option} {need.name}" for need in inspect(built(TASK + text)).needs]


@pytest.mark.parametrize(
    "text",
    [
        '(read-file "notes/a.md")',
        '(read-file "a/../b.md")',
        '(list-files "*.md")',
        '(handle (write-file "a" "b") ((write-file p t) k (k nil)))',
        "(define (save p) (write-file p 1)) (define-input p) (save p)",
        '(define (write-file2 p) p) (write-file2 "x")',
        '(iterative-loop 3 "" "make" (lambda (c i) c) (lambda (e v c i) e) (lambda (t i) true))',
    ],
)
def test_what_needs_no_permission_says_nothing(text):
    """What lies in the program's folder, is handled, or is only known in a run."""
    assert () == inspect(built(text)).needs
