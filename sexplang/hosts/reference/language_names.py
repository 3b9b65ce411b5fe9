"""The names of the language: special forms, each with a line of documentation, and the prelude."""

from collections.abc import Mapping
from functools import cache

from sexplang.compiler.forms.shapes import PARTS, SHAPES
from sexplang.hosts.reference.meanings import Meaning, Parameter, public
from sexplang.reader import read
from sexplang.terms.source import Source

LINES: dict[str, str] = {
    "quote": "The datum itself, not evaluated: `'x`.",
    "quasiquote": "A datum in which `~x` and `~@xs` are evaluated: `` `(a ~x) ``.",
    "if": "One of two, by the test; only `false` and `nil` are false.",
    "when": "The body if the test holds, else nil.",
    "unless": "The body if the test does not hold, else nil.",
    "cond": "The body of the first clause whose test holds, else nil.",
    "case": "The body of the clause whose data hold the key, compared by `equal?`, else nil.",
    "match": "The body of the first clause whose pattern fits; nothing fits: `no-match`.",
    "and": "The first false value, else the last one.",
    "or": "The first true value, else the last one.",
    "->": "Puts the value through each call, as its first argument.",
    "define": "Defines a name or a function, once; functions side by side may call each other.",
    "bind": "Binds a name for the rest of the body, and gives the value; may bind it again.",
    "lambda": "A function of these parameters.",
    "fn": "A function of these parameters; the same as `lambda`.",
    "let": "Names for values, all evaluated in the outer scope; with a name in front, a loop.",
    "let*": "Names for values; each value sees the names before.",
    "letrec": "Names for functions that may call each other.",
    "begin": "One after the other; the value of the last.",
    "progn": "One after the other; the value of the last. The same as `begin`.",
    "loop": "The body so many times, or with variables until it does not `recur`.",
    "recur": "The next turn of the loop around, in tail position of it.",
    "define-syntax": "A hygienic macro, by `syntax-rules`.",
    "syntax-rules": "The patterns of a macro, each with what it stands for.",
    "import": "Brings the public names of a file, of each file in a folder, or of `std/…`.",
    "define-input": "What the main program asks its caller for: `name=value`.",
    "define-effect": "Declares an operation, and the function that performs it.",
    "define-type": "Names a type, for `returns`, parameters, inputs and `as`.",
    "define-tool": "A function with typed parameters, which a model may call as a tool.",
    "defatom": "An atomic task: a function that a model answers.",
    "attempt": "The value, or for an error the default; without one a FAILED TaskResult.",
    "perform": "Asks the nearest handler of the operation, else the host.",
    "handle": "Answers what its body performs; a clause may resume never, once or many times.",
    "forward": "Passes a request on outward, to be answered where it was performed.",
    "try": "The body; a `catch` takes its errors, `finally` runs however it is left.",
    "par": "Evaluates all at the same time; the list of their values.",
    "race": "The first value; the others are cancelled.",
    "with-timeout": "The body, or an error when the seconds are over.",
    "with-budget": "The body, with an account of calls, tokens, dollars and seconds.",
}
"""Documentation of special forms and of the words inside them."""


@cache
def special() -> Mapping[str, Meaning]:
    """Return the words of the language, by name."""
    lines = {word: LINES.get(word, "") for word in SHAPES}
    lines |= {word: f"{words[0].upper()}{words[1:]}." for word, words in PARTS.items()}
    lines["syntax-rules"] = LINES["syntax-rules"]
    return {word: Meaning(word, "special form", doc=line) for word, line in lines.items()}


def syntax_of(word: str) -> str:
    """Return the syntax of a special form, if it has one."""
    shape = SHAPES.get(word)
    return shape.syntax.replace(") or (", ")\n(") if shape is not None else ""


@cache
def prelude() -> Mapping[str, Meaning]:
    """Return the names that every program has."""
    from sexplang.machine import HIGHER
    from sexplang.package.package_data import STANDARD
    from sexplang.primitives import OPERATIONS, PRIMITIVES

    names: dict[str, Meaning] = {}
    for name, primitive in PRIMITIVES.items():
        names[name] = Meaning(name, "primitive", doc=primitive.doc, shape=primitive)
    for name, higher in HIGHER.items():
        names[name] = Meaning(name, "primitive", doc=higher.doc, shape=higher)
    for name, operation in OPERATIONS.items():
        params = tuple(Parameter(each) for each in operation.params)
        names[name] = Meaning(name, "operation", params=params, doc=operation.doc, shape=operation)
    for name, module in STANDARD.items():
        members = list_members(module)
        if name in members:
            names[name] = members[name]
    return names


def list_modules() -> list[str]:
    """Return the modules of the standard library, sorted: `state`."""
    from sexplang.package.package_data import names

    return [name.removesuffix(".sexp") for name in names("stdlib") if name.endswith(".sexp")]


@cache
def list_members(module: str) -> Mapping[str, Meaning]:
    """Return the public names of a module of the standard library."""
    from sexplang.package.package_data import read_shipped

    return public(read(standard(module, read_shipped(f"stdlib/{module}.sexp"))))


INNER = frozenset(
    [
        *("claim-shared", "put-shared", "release-shared"),
        *("as-work", "check-outputs", "fork-graph", "fork-map", "in-node", "judge-plan"),
        *("match-task", "run-plan", "run-step", "run-task", "subagent-limits", "task-bids"),
        *("task-of", "task-result", "vector-cosine", "vector-dot", "vector-nearest"),
    ]
)
"""Names of the prelude that only the standard library calls."""


def is_deprecated(meaning: Meaning) -> bool:
    """Return whether a name of the language has a new name: only that is offered."""
    from sexplang.analysis.slips.deprecated_names import DEPRECATED

    return meaning.name_span is None and meaning.name in DEPRECATED


def standard(module: str, text: str) -> Source:
    """Return a module of the standard library under the pipeline's name for it."""
    return Source(f"std/{module}", text)
