"""What the forms of a program become, written as core."""

import pytest
from support.compiling import compiled, core

from sexplang.terms.core import Known
from sexplang.terms.program import Function

CORES = {
    "a literal is a constant": ("1", "1"),
    "an empty list is a value": ("()", "[]"),
    "a quotation is a constant": ("'(a [b] {k: c})", "['a ['b] {k: 'c}]"),
    "a vector of constants is a constant": ("[1 [2] {a: 3}]", "[1 [2] {a: 3}]"),
    "a vector is a call of list": ("[1 (+ 1 2)]", "(list 1 (+ 1 2))"),
    "a table with a computed value": ("{a: (+ 1 2) b: 1}", "{a: (+ 1 2) b: 1}"),
    "a call of a primitive is direct": ("(+ 1 2)", "(+ 1 2)"),
    "a call of what calls back is not": ("(map + [1])", "(call #map #+ [1])"),
    "a local hides a primitive": (
        "(let ((+ 1)) (+ 1 2))",
        "(let (1) (call +.0.1 1 2))",
    ),
    "when": ("(when 1 2 3)", "(if 1 (seq 2 3) nil)"),
    "unless": ("(unless 1 2)", "(if 1 nil 2)"),
    "cond": ("(cond (1 2) (3) (else 4))", "(if 1 2 (or 3 4))"),
    "an arrow keeps its slot for the clauses after it": (
        "(cond (1 => list) (else (let ((a 2)) a)))",
        "(let (1) (if _.0.1 (call #list _.0.1) (let (2) a.0.2)))",
    ),
    "case": (
        "(case (+ 1 2) ((1 a) 3) (else 4))",
        "(let ((+ 1 2)) (if (or (equal? _.0.1 1) (equal? _.0.1 'a)) 3 4))",
    ),
    "and, or of nothing": ("[(and) (or) (and 1) (or 2)]", "[true false 1 2]"),
    "and": ("(and 1 2 3)", "(and 1 2 3)"),
    "let": ("(let ((a 1) (b 2)) [a b])", "(let (1 2) (list a.0.1 b.0.2))"),
    "let*": ("(let* ((a 1) (b a)) b)", "(let (1) (let (a.0.1) b.0.2))"),
    "slots are given back": (
        "(list (let ((a 1)) a) (let ((b 2)) b))",
        "(list (let (1) a.0.1) (let (2) b.0.1))",
    ),
    "a named let is a function called at once": (
        "(let go ((i 0)) (go (+ i 1)))",
        "(go#0.0 0)\n(go#0 i) = (go#0.1 (+ i.0.1 1))",
    ),
    "letrec of functions takes no slots": (
        "(letrec ((f (lambda () (g))) (g (lambda () (f)))) (f))",
        "(f#0.0)\n(f#0) = (g#1.1)\n(g#1) = (f#0.1)",
    ),
    "a loop opens an activation": (
        "(let ((n 3)) (loop ((i 0)) (if (< i n) (recur (+ i 1)) i)))",
        "(let (3) (loop (0) (if (< i.0.1 n.1.1) (recur (+ i.0.1 1)) i.0.1)))",
    ),
    "a counted loop does not": ("(let ((n 3)) (loop n n))", "(let (3) (repeat n.0.1 n.0.1))"),
    "a lambda": ("(lambda (x) x)", "(lambda lambda#0)\n(lambda#0 x) = x.0.1"),
    "a default sees the parameters before it": (
        "(lambda (a (b (let ((c a)) c)) . d) [a b d])",
        "(lambda lambda#0)\n(lambda#0 a (b (let (a.0.1) c.0.2)) . d) = (list a.0.1 b.0.2 d.0.3)",
    ),
    "top-level values are slots of the program": (
        "(define x 1) (define (f) x) (bind x (+ x 1)) [x (f)]",
        "(bind x 1)\n(bind x (+ x.0.1 1))\n(list x.0.2 (f#0.0))\n(f#0) = x.1.1",
    ),
    "a lambda that is defined is a function definition": (
        "(define f (lambda (x) (f x))) (f 1)",
        "(f#0.0 1)\n(f#0 x) = (f#0.1 x.0.1)",
    ),
    "inner definitions": (
        "(let () 1 (define a 2) 3 (define (f) a) (define b (f)) b)",
        "(seq 1 (let (2) (seq 3 (let ((f#0.0)) b.0.2))))\n(f#0) = a.1.1",
    ),
    "a begin in a body belongs to it": (
        "(begin (define a 1) (begin (define b a))) b",
        "(bind a 1)\n(bind b a.0.1)\nb.0.2",
    ),
    "a body that ends in define gives nil": ("(define a 1)", "(bind a 1)\nnil"),
    "a body that ends in bind gives the value": ("(bind a 1)", "(bind a 1)\na.0.1"),
    "a bound lambda gives itself": ("(bind f (lambda () f))", "f#0.0\n(f#0) = f#0.1"),
    "a path": ("(define p {}) p.a.b", "(bind p {})\n(path p.0.1 a b)"),
    "perform": ("(perform model 1)", "(perform model 1)"),
    "an operation is a function": ("(model 1)", "(call #model 1)"),
    "try": (
        "(try 1 (catch (e) e) (catch (f A b) 2) (finally 3))",
        "(finally (handle 1 ((error e) never e.0.1) ((error f) A b never 2)) 3)",
    ),
    "slots of a clause": (
        "(let ((a 1)) (handle a ((model p) k (k [a p])) (return x (list a x))))",
        "(let (1) (handle a.0.1 ((model p) tail (call k.0.3 (list a.0.1 p.0.2)))"
        " (return (list a.0.1 x.0.2))))",
    ),
    "resuming with nothing resumes with nil": (
        "(handle 1 ((model p) k (k)))",
        "(handle 1 ((model p) tail (call k.0.2 nil)))",
    ),
    "par, attempt": ("(par 1 (attempt 2))", "(par 1 (attempt 2))"),
    "quasiquote": ("`(1 ~(+ 1 2) x)", "(list 1 (+ 1 2) 'x)"),
    "a splice": ("`(1 ~@[2] 3)", "(append [1] (identity [2]) [3])"),
    "an inner quasiquotation": ("`(a `~(b ~(+ 1 2)))", None),
}


@pytest.mark.parametrize("name", CORES)
def test_core_of(name):
    """The core of a text."""
    text, expected = CORES[name]

    assert expected is None or expected == core(text)


def test_labels_are_put_in_order():
    """Arguments by label fill their places when the function is known."""
    assert "(f#0.0 1 2)" in core("(define (f a b) a) (f 1 b: 2)")
    assert "(f#0.0 2 1)" in core("(define (f a b) a) (f b: 1 a: 2)")


def test_arguments_are_evaluated_as_they_are_written():
    """Putting labels in order does not change which argument is evaluated first."""
    expected = "(let ((call #print 1) (call #print 2)) (f#0.0 _.0.2 _.0.1))"

    assert expected in core("(define (f a b) a) (f b: (print 1) a: (print 2))")


def test_labels_remain_where_the_function_is_not_known():
    """A call of a value, of a function with defaults, or of a task keeps its labels."""
    assert "(call g.0.1 1 b: 2)" in core("(define g [1]) (g 1 b: 2)")
    assert "(call f#0.0 b: 2)" in core("(define (f (a 1) (b 1)) a) (f b: 2)")
    assert core('(summarize text: "x")') == '(call #summarize text: "x")'


def test_labels_of_an_operation_become_positions():
    """What is left out between two labels is nil."""
    assert core("(run-script timeout: 3 command: 1)") == "(call #run-script 1 nil nil 3)"


def test_a_unit_is_numbered_from_the_layout():
    """Slots and functions go on where the units before ended."""
    unit = compiled("(define x 1) (define (f) x)", layout=(5, 7))
    (function,) = unit.functions

    assert (7, 6) == (function.index, unit.slots)


def test_exports_are_the_public_names():
    """A name that begins with `_` is private; functions come with their shape."""
    unit = compiled("(define _a 1) (define b 2) (define (f x) x) (define-effect (op)) (bind b 3)")

    assert {"b", "f", "op"} == set(unit.exports)
    assert 3 == unit.exports["b"].core.index
    assert isinstance(unit.exports["f"].shape, Function)
    assert isinstance(unit.exports["f"].core, Known)


def test_documentation_is_not_part_of_the_body():
    """A string before the last form of a function is its documentation."""
    (function,) = compiled('(define (f) "Says 1." 1)').functions

    assert "Says 1." == function.doc
