"""What `check` finds beyond errors, and what it does not take for a finding."""

import pytest
from support.running import built

from sexplang.analysis.interpreter.interpreter import STEPS, AbstractInterpreter
from sexplang.pipeline.pipeline import inspect


def findings(text):
    """Codes, with the part of the text that each points to; line 1 is always the wrong place."""
    report = inspect(built("\n" + text))
    return [(found.code, found.labels[0].span.text) for found in report.findings]


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("(let ((a 1) (b 2)) b)", "a"),
        ("(let* ((a 1) (b a) (c 3)) b)", "c"),
        ("(let ((x 1)) (let ((x 2)) x))", "x"),
        ("(define (f x) (bind y x) x) (f 1)", "y"),
        ("(define (f x) (define (g) x) x) (f 1)", "g"),
        ("(define (f x) (define (g) (g)) x) (f 1)", "g"),
        ("(define x 1) 2", "x"),
        ("(define (f) 1) 2", "f"),
        ("(bind x 1) (bind x 2) x", "x"),
        ("(letrec ((a 1) (f (lambda () (f)))) a)", "f"),
        ("(loop 2 (let ((unread 1)) 2))", "unread"),
        ("(define-effect (op)) (handle (op) ((op) k (let ((a 1)) (k 2))))", "a"),
    ],
)
def test_a_name_that_nobody_reads_is_found(text, name):
    """Where it is bound, whatever binds it."""
    assert [("unused-binding", name)] == findings(text)


@pytest.mark.parametrize(
    "text",
    [
        "(let ((_a 1)) 2)",
        "(define (f a b) a) (f 1 2)",
        "(define-input a type: json) 1",
        "(define x 1)",
        "(define (f) 1)\n(define (g) 2)",
        "(define-effect (op a)) (handle (op 1) ((op a) k (k 1)))",
        "(match [1 2] ([a b] a))",
        "(define x 1) (define (f) x) (f)",
        "(define x 1) (define (f (y x)) y) (f)",
        "(let ((x 1)) (lambda () x))",
        "(let ((x 1)) (loop ((i 0)) (if (< i x) (recur (+ i 1)) i)))",
        "(let go ((i 0)) (if (< i 3) (go (+ i 1)) i))",
        "(define (even n) (if (= n 0) true (odd (- n 1)))) (define (odd n) (even n)) (even 4)",
        "(let ((t {a: 1})) t.a)",
        "(bind x 1)",
        "(let ((x 1)) (handle 1 (return r (+ r x))))",
        "(define (f) (define x 1) (define (g) (+ x 1)) (map g [])) (f)",
        "(cond ((get {a: 1} 'a) => (lambda (v) v)) (else 1))",
        "(define-syntax my-let (syntax-rules () ((_ e) (let ((hidden 1)) e)))) (my-let 2)",
        "(define (id x) x) (define-syntax call (syntax-rules () ((_ e) (id e)))) (call 2)",
    ],
)
def test_a_name_that_is_read_or_is_for_others_is_no_finding(text):
    """Parameters, inputs, patterns, files that only define, and names with `_`."""
    assert [] == findings(text)


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("(if true 1 2)", "2"),
        ("(if false 1 2)", "1"),
        ("(if 0 1 2)", "2"),
        ("(when nil 1 2)", "(when nil 1 2)"),
        ("(cond (false 1) (else 2))", "1"),
        ("(and 1 false (print 1))", "(print 1)"),
        ("(or 1 2)", "2"),
        ("(loop 0 7)", "7"),
        ('(define (f) (error "x") 8) (f)', "8"),
        ("(raise 1) 9", "9"),
        ("(try 1 (catch (e) 2) (catch (e turns) 3))", "(catch (e turns) 3)"),
    ],
)
def test_what_no_run_comes_to_is_found(text, part):
    """After a literal test, behind what always fails, behind a catch that takes all."""
    found = findings(text)

    assert [("unreachable", part)] == found or (part.startswith("(when") and len(found) <= 1)


@pytest.mark.parametrize(
    "text",
    [
        "(define-input a) (if a 1 2)",
        "(define-input xs) (when (get xs 0) 1)",
        "(cond (else 1))",
        "(handle (begin (raise 1) 2) ((error e) k (k 1)))",
        "(try 1 (catch (e turns) 2) (catch (e) 3))",
        "(define debug false) (if debug 1 2)",
        "(match 1 (1 2) (_ 3))",
        "(case 1 ((1) 2) (else 3))",
        "(loop 1 2)",
    ],
)
def test_what_some_run_may_come_to_is_no_finding(text):
    """What is decided by names or by a handler that goes on."""
    assert [] == findings(text)


EFFECTS = "(define-effect (ask a)) (define-effect (tell a))\n"


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("(handle 1 ((ask a) k (k 1)))", 1),
        ("(handle (ask 1) ((ask a) k (k 1)))", 0),
        ("(handle (handle (ask 1) ((ask a) k (k 1))) ((ask a) k (k 2)))", 1),
        ("(handle (handle (ask 1) ((ask a) k (ask 2))) ((ask a) k (k 2)))", 0),
        ("(handle (handle (ask 1) ((ask a) k (forward k ask 2))) ((ask a) k (k 2)))", 0),
        ("(define (f g) (handle (g) ((ask a) k (k 1)))) (f (lambda () 1))", 0),
        ("(define (f g) (handle (g) ((ask a) k (k 1))))", 0),
        ("(define (f) (ask 1)) (handle (f) ((ask a) k (k 1)) ((tell a) k (k 1)))", 1),
        ("(handle (map ask [1]) ((ask a) k (k 1)))", 0),
        ("(handle ((get {f: ask} 'f) 1) ((ask a) k (k 1)))", 0),
        ("(handle (par (ask 1) 2) ((ask a) k (k 1)))", 0),
        ("(handle (perform ask 1) ((ask a) k (k 1)))", 0),
        ("(handle 1 ((error e) k 2))", 0),
        ('(handle (eval-plan "1" allow: [\'ask]) ((ask a) k (k 1)))', 0),
    ],
)
def test_a_clause_for_what_is_never_performed_is_found(text, count):
    """Calls are followed; a function from outside may perform anything."""
    assert ["handler-unused"] * count == [code for code, _ in findings(EFFECTS + text)]


def test_a_conversation_performs_for_its_tools():
    """A clause for what the template allows is used; one for another tool is not."""
    text = """(defatom t (params a) (instructions "{{a}}") (allowed_tools read_file spawn_subtask))
        (handle (t 1) ((read-file p) k (k 1)) ((subtask r) k (k 1)) ((model p) k (k "x")))
        (handle (t 1) ((ask-user p c) k (k 1)))"""

    assert ["handler-unused"] == [code for code, _ in findings(text)]


def test_a_program_too_involved_to_be_followed_has_no_bound_and_no_false_alarm():
    """Twenty functions that each call the next twice with another function."""
    calls = "\n".join(
        f"(define (f{at} g) (f{at - 1} (lambda (x) (g x))) (f{at - 1} (lambda (x) (g (g x)))))"
        for at in range(1, 20)
    )
    text = f'(defatom t (instructions "a"))\n(define (f0 g) (g 1))\n{calls}\n(f19 t)'
    report = inspect(built(text))

    assert not report.calls.is_bounded and "involved" in report.calls.why
    assert () == report.findings


def test_following_needs_no_stack():
    """Thousands of levels of calls, lists and conditions."""
    deep = "(if (empty? []) " * 5_000 + "1" + " 2)" * 5_000
    nested = "[" * 5_000 + "]" * 5_000
    chain = "\n".join(f"(define (f{at}) (f{at - 1}))" for at in range(1, 3_000))

    for text in (deep, nested, f"(define (f0) 1)\n{chain}\n(f2999)"):
        assert inspect(built(text)).calls.is_zero


NESTED = {
    "a continuation leaves its clause": "(handle (begin (op 1) {0}) ((op x) k (lambda () (k x))))",
    "it is called twice": "(handle (begin (op 1) {0}) ((op x) k [(k x) (k {{v: x}})]))",
    "the value is made anew": "(handle (list (op 1) {0}) ((op x) k [x (k [x])]) (return v [v]))",
    "an error is gone on from": "(handle (list (error 1) {0}) ((error e) k (lambda () (k e))))",
}


@pytest.mark.parametrize("level", NESTED.values(), ids=NESTED)
def test_handlers_inside_each_other_are_followed_in_proportion(monkeypatch, level):
    """Each is looked at a few times until what it gives is known, and not as often again for each
    look at those around it."""
    looked = []
    look = AbstractInterpreter.evaluate
    monkeypatch.setattr(
        AbstractInterpreter, "evaluate", lambda *given: looked.append(1) or look(*given)
    )

    def work(depth):
        text = "1"
        for _ in range(depth):
            text = level.format(text)
        program = built("(define-effect (op x))\n" + text)
        looked.clear()
        inspect(program)
        return len(looked)

    assert work(16) < 6 * work(8) < 40 * work(4)
    assert work(16) < STEPS
