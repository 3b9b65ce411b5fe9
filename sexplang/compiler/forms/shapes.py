"""The syntax of special forms, as a table for the compiler, checks, editors, messages and tests."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Literal

from sexplang.terms.classes.node import field, frozen
from sexplang.terms.form import Form, ListForm, Name, source_name

Role = Literal[
    "body",  # the rest: a body that sees the names bound before it
    "spliced body",  # the rest: its forms belong to the body around it, if there is one
    "typed parameters",  # the rest: `name` or `(name type default: e doc: text)`
    "expression",
    "datum",  # not evaluated
    "quasidatum",  # its unquoted parts are evaluated
    "path",  # of an import
    "type",  # of values
    "doc",  # the documentation of the defined name
    "defined name",
    "defined call",  # `(name param…)`
    "defined typed call",  # `(name param…)`, with typed parameters that the body sees
    "defined pattern or call",  # a name or a pattern; the body sees the parameters of a call
    "name",  # bound, as are all below
    "parameters",  # `(param…)`, or one name for all arguments; a pattern may be a parameter
    "function name",  # may be left out; its parameters are the bindings after it
    "bindings",  # `((name e) …)`; a pattern may stand for a name
    "bindings or expression",
    "bindings in order",  # each name is seen by the next
    "bindings of all",  # each name is seen by all; names alone
    "pattern",  # a guard after it belongs to the body
    "operation",  # `(operation param…)` of a clause
    "caught error",  # `(name word…)`
]
"""The role of an operand: whether it is evaluated, and the names that it binds for the operands
after it. Operands without a role are not evaluated."""

Roles = tuple[Role, ...]


@frozen
class Shape:
    """The syntax of a form: its text, its number of operands, and their roles.

    `clauses` are the roles in each list after the operands, `parts` those in lists that begin with
    a word, `labels` those after labels. `defines` is the kind of
    the defined name: a "value" is a function if a function is written. If the form `rebinds`, the
    name is seen only by what follows.
    """

    syntax: str
    least: int
    most: int | None = None
    operands: Roles = ("body",)
    clauses: Roles = ()
    parts: Mapping[str, Roles] = field(factory=dict)
    labels: Mapping[str, Role] = field(factory=dict)
    defines: Literal["", "value", "input", "operation", "task", "type", "syntax"] = ""
    rebinds: bool = False


_FIRST: Roles = ("expression", "body")
_DEFINED: Roles = ("defined pattern or call", "body")
_FUNCTION: Roles = ("parameters", "body")

SHAPES: dict[str, Shape] = {
    "quote": Shape("(quote datum)", 1, 1, operands=("datum",)),
    "quasiquote": Shape("(quasiquote datum)", 1, 1, operands=("quasidatum",)),
    "if": Shape("(if test then else)", 3, 3),
    "when": Shape("(when test body…)", 2, operands=_FIRST),
    "unless": Shape("(unless test body…)", 2, operands=_FIRST),
    "cond": Shape("(cond (test body…) … (else body…))", 1, operands=(), clauses=_FIRST),
    "case": Shape(
        "(case key ((datum …) body…) … (else body…))",
        2,
        operands=("expression",),
        clauses=("datum", "body"),
    ),
    "match": Shape(
        "(match e (pattern body…) (pattern when guard body…) …)",
        2,
        operands=("expression",),
        clauses=("pattern", "body"),
    ),
    "->": Shape("(-> e (function e…) name …)", 1),
    "and": Shape("(and e…)", 0),
    "or": Shape("(or e…)", 0),
    "define": Shape(
        "(define name e) or (define (name param…) body…)", 2, operands=_DEFINED, defines="value"
    ),
    "bind": Shape("(bind name e)", 2, 2, operands=_DEFINED, defines="value", rebinds=True),
    "lambda": Shape("(lambda (param…) body…)", 2, operands=_FUNCTION),
    "fn": Shape("(fn (param…) body…)", 2, operands=_FUNCTION),
    "let": Shape("(let ((name e) …) body…)", 2, operands=("function name", "bindings", "body")),
    "let*": Shape("(let* ((name e) …) body…)", 2, operands=("bindings in order", "body")),
    "letrec": Shape("(letrec ((name e) …) body…)", 2, operands=("bindings of all", "body")),
    "begin": Shape("(begin e…)", 0, operands=("spliced body",)),
    "progn": Shape("(progn e…)", 0, operands=("spliced body",)),
    "loop": Shape(
        "(loop count body…) or (loop ((name e) …) body…)",
        2,
        operands=("bindings or expression", "body"),
    ),
    "recur": Shape("(recur e…)", 0),
    "import": Shape(
        '(import "path") or (import "path" as: name)',
        1,
        3,
        operands=("path",),
        labels={"as": "defined name"},
    ),
    "define-input": Shape(
        "(define-input name type: T choices: […] doc: text default: e)",
        1,
        operands=("defined name",),
        labels={
            "type": "type",
            "choices": "expression",
            "doc": "doc",
            "default": "expression",
        },
        defines="input",
    ),
    "define-effect": Shape(
        '(define-effect (operation param…) "doc")',
        1,
        2,
        operands=("defined call", "doc"),
        defines="operation",
    ),
    "define-type": Shape(
        '(define-type Name T "doc")',
        2,
        3,
        operands=("defined name", "type", "doc"),
        defines="type",
    ),
    "define-tool": Shape(
        '(define-tool (name (param T doc: text) …) "doc" body…)',
        3,
        operands=("defined typed call", "doc", "body"),
        defines="value",
    ),
    "defatom": Shape(
        '(defatom name (params param…) (instructions "…") …)',
        1,
        operands=("defined name",),
        parts={
            "params": ("datum", "typed parameters"),
            "description": ("datum", "doc"),
            "returns": ("datum", "type"),
        },
        defines="task",
    ),
    "attempt": Shape("(attempt e) or (attempt e default)", 1, 2),
    "perform": Shape("(perform operation e…)", 1),
    "define-syntax": Shape(
        "(define-syntax name (syntax-rules (literal…) (pattern template) …))",
        1,
        operands=("defined name",),
        defines="syntax",
    ),
    "handle": Shape(
        "(handle body ((operation param…) resume body…) … (return name body…))",
        2,
        operands=("expression",),
        clauses=("operation", "name", "body"),
    ),
    "forward": Shape("(forward resume operation e…)", 2),
    "try": Shape(
        "(try e… (catch (name word…) body…) … (finally body…))",
        1,
        parts={"catch": ("expression", "caught error", "body"), "finally": _FIRST},
    ),
    "par": Shape("(par e…)", 0),
    "race": Shape("(race e…)", 1),
    "with-timeout": Shape("(with-timeout seconds e…)", 2, operands=_FIRST),
    "with-budget": Shape(
        "(with-budget {calls: n tokens: n usd: x seconds: s} e…)", 2, operands=_FIRST
    ),
}

PARTS: dict[str, str] = {
    "else": "`else` opens the last clause of a `cond` or `case`",
    "=>": "`=>` stands in a clause of `cond`: `(test => function)`; a function is "
    "`(lambda (x) body…)`",
    "catch": "`catch` stands at the end of a `try`: `(try e… (catch (err) body…))`",
    "finally": "`finally` stands at the end of a `try`: `(try e… (finally body…))`",
    "unquote": "`~x` stands inside a quasiquote: `` `(a ~x) ``",
    "syntax-rules": "`syntax-rules` stands in `(define-syntax name (syntax-rules …))`",
    "unquote-splicing": "`~@xs` stands in a list inside a quasiquote: `` `(a ~@xs) ``",
}
"""Words that belong to the syntax of a form, and their place."""

RESERVED: frozenset[str] = frozenset([*SHAPES, *PARTS, "set!"])

OLD_CALLS = frozenset(["call", "atomic-task"])
"""Names that called a task with its inputs in an earlier language."""

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


def shape_of(form: Form) -> Shape | None:
    """Return the shape of a special form; None for any other form."""
    return SHAPES.get(word_of(form))


SPLICED = frozenset(word for word, shape in SHAPES.items() if shape.operands == ("spliced body",))
"""Forms whose operands belong to the body around them."""

DEFINING: Mapping[str, str] = {
    word: shape.defines for word, shape in SHAPES.items() if shape.defines
}
"""Forms whose first operand is a name that they define, and the kind of that name."""

QUOTING: Mapping[str, int] = {"quasiquote": 1, "unquote": -1, "unquote-splicing": -1}
"""Changes of the depth of quotation inside a quasiquote, by the head of a list."""


def splice(forms: Iterable[Form]) -> Iterator[Form]:
    """Yield the forms of a body. A `begin` is replaced by its word and its forms."""
    work = list(forms)[::-1]
    while work:
        form = work.pop()
        if word_of(form) in SPLICED and len(form.items) > 1:  # type: ignore[union-attr]
            work.extend(form.items[::-1])  # type: ignore[union-attr]
        else:
            yield form
