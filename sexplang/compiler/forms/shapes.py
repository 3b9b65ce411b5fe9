"""The syntax of special forms, as a table for checks, messages and tests."""

from typing import Literal

from sexplang.terms.classes.node import frozen
from sexplang.terms.form import Form, ListForm, Name, source_name

Scoping = Literal[
    "body",  # all operands are a body
    "operands",  # all are expressions
    "data",  # none is an expression
    "unquoted",  # the unquoted parts of data
    "parameters",  # `(param…)` and a body that sees them
    "names",  # `((name e) …)` and a body that sees them; a name before them is the body's function
    "names in order",  # each is seen by the next
    "names of all",  # all are seen by all
    "names or count",  # an expression in their place binds none
    "first",  # an expression and a body
    "clauses of tests",  # `(test body…)`
    "clauses of data",  # an expression, and `((datum …) body…)`
    "clauses of patterns",  # an expression, and `(pattern body…)`
    "clauses of operations",  # an expression, and `((operation param…) resume body…)`
    "endings",  # a body, and `(catch (name word…) body…)` or `(finally body…)`
    "labels",  # a name, and labels with expressions, but for `type:`
]
"""The place where a form binds names, and the operands that are expressions."""


@frozen
class Shape:
    """The syntax of a form: its text, its number of operands, its bindings."""

    syntax: str
    least: int
    most: int | None = None
    scoping: Scoping = "body"


SHAPES: dict[str, Shape] = {
    "quote": Shape("(quote datum)", 1, 1, scoping="data"),
    "quasiquote": Shape("(quasiquote datum)", 1, 1, scoping="unquoted"),
    "if": Shape("(if test then else)", 3, 3),
    "when": Shape("(when test body…)", 2, scoping="first"),
    "unless": Shape("(unless test body…)", 2, scoping="first"),
    "cond": Shape("(cond (test body…) … (else body…))", 1, scoping="clauses of tests"),
    "case": Shape("(case key ((datum …) body…) … (else body…))", 2, scoping="clauses of data"),
    "match": Shape(
        "(match e (pattern body…) (pattern when guard body…) …)", 2, scoping="clauses of patterns"
    ),
    "->": Shape("(-> e (function e…) name …)", 1),
    "and": Shape("(and e…)", 0),
    "or": Shape("(or e…)", 0),
    "define": Shape("(define name e) or (define (name param…) body…)", 2),
    "bind": Shape("(bind name e)", 2, 2),
    "lambda": Shape("(lambda (param…) body…)", 2, scoping="parameters"),
    "fn": Shape("(fn (param…) body…)", 2, scoping="parameters"),
    "let": Shape("(let ((name e) …) body…)", 2, scoping="names"),
    "let*": Shape("(let* ((name e) …) body…)", 2, scoping="names in order"),
    "letrec": Shape("(letrec ((name e) …) body…)", 2, scoping="names of all"),
    "begin": Shape("(begin e…)", 0),
    "progn": Shape("(progn e…)", 0),
    "loop": Shape("(loop count body…) or (loop ((name e) …) body…)", 2, scoping="names or count"),
    "recur": Shape("(recur e…)", 0),
    "import": Shape('(import "path") or (import "path" as: name)', 1, 3, scoping="data"),
    "define-input": Shape(
        "(define-input name type: t choices: […] doc: text default: e)", 1, scoping="labels"
    ),
    "define-effect": Shape('(define-effect (operation param…) "doc")', 1, 2, scoping="data"),
    "defatom": Shape('(defatom name (params param…) (instructions "…") …)', 1, scoping="data"),
    "attempt": Shape("(attempt e) or (attempt e default)", 1, 2),
    "perform": Shape("(perform operation e…)", 1, scoping="operands"),
    "define-syntax": Shape(
        "(define-syntax name (syntax-rules (literal…) (pattern template) …))", 1, scoping="data"
    ),
    "handle": Shape(
        "(handle body ((operation param…) resume body…) … (return name body…))",
        2,
        scoping="clauses of operations",
    ),
    "forward": Shape("(forward resume operation e…)", 2, scoping="operands"),
    "try": Shape("(try e… (catch (name word…) body…) … (finally body…))", 1, scoping="endings"),
    "par": Shape("(par e…)", 0),
    "race": Shape("(race e…)", 1),
    "with-timeout": Shape("(with-timeout seconds e…)", 2, scoping="first"),
    "with-budget": Shape(
        "(with-budget {calls: n tokens: n usd: x seconds: s} e…)", 2, scoping="first"
    ),
}

PARTS: dict[str, str] = {
    "else": "`else` opens the last clause of a `cond` or `case`",
    "=>": "`=>` stands in a clause of `cond`: `(test => function)`",
    "catch": "`catch` stands at the end of a `try`: `(try e… (catch (err) body…))`",
    "finally": "`finally` stands at the end of a `try`: `(try e… (finally body…))`",
    "unquote": "`~x` stands inside a quasiquote: `` `(a ~x) ``",
    "syntax-rules": "`syntax-rules` stands in `(define-syntax name (syntax-rules …))`",
    "unquote-splicing": "`~@xs` stands in a list inside a quasiquote: `` `(a ~@xs) ``",
}
"""Words that belong to the syntax of a form, and their place."""

RESERVED: frozenset[str] = frozenset([*SHAPES, *PARTS, "set!"])

HABITS: dict[str, str] = {
    "defun": "write `(define (name param…) body…)`",
    "defn": "write `(define (name param…) body…)`",
    "def": "write `(define name e)`",
    "defmacro": "write `(define-syntax name (syntax-rules () ((_ part…) template)))`",
    "define-syntax-rule": "write `(define-syntax name (syntax-rules () ((_ part…) template)))`",
    "let-syntax": "write `(let () (define-syntax name (syntax-rules …)) body…)`",
    "letrec-syntax": "write `(let () (define-syntax name (syntax-rules …)) body…)`",
    "setq": "there is no assignment: `(bind name e)` binds a name for the rest of the body",
    "setf": "there is no assignment: `(put table key value)` gives a changed copy",
    "do": "write `(begin e…)`, or `(loop ((name e) …) body…)`",
    "dolist": "write `(for-each (lambda (x) body…) list)`",
    "while": "write `(loop ((name e) …) body…)` and `(recur e…)`",
    "call/cc": "a clause of `handle` has the continuation: `((operation param…) resume body…)`",
    "display": "write `(print value…)`",
    "displayln": "write `(print value…)`",
    "println": "write `(print value…)`",
    "throw": 'write `(raise value)` or `(error "text")`',
    "call": "a task is a function: write `(name value…)`",
    "atomic-task": "a task is a function: write `(name value…)`; with a request's settings "
    "`(call-atomic-task 'name inputs: {param: value})`",
    "*loop-config*": "a loop's functions are given what they need, the iteration `i` among it; "
    "bind the limit to a name: `(bind most 3)`",
}
"""Names from other languages, and the replacement in this one."""

OLD_CALLS = frozenset(["call", "atomic-task"])
"""The names among them that called a task with its inputs."""

CLAUSES: dict[str, str] = {
    "initial-director-input": "initial",
    "initial-input": "initial",
}
"""Clauses `(name value)` of an earlier language, and the labels that differ from them."""


def word_of(form: Form) -> str:
    """Return the name at the head of a list, or an empty text."""
    if type(form) is ListForm and form.items:
        head = form.items[0]
        if type(head) is Name:
            return source_name(head.text)
    return ""
