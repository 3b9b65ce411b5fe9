"""Random program texts: well formed, terminating, rich in effects.

`program(random)` is fast, for bulk; the strategies do the same for Hypothesis. There are few names,
so that they shadow each other. `program_templates` has the templates.
"""

import re
from collections.abc import Sequence
from functools import cache
from itertools import accumulate
from random import Random
from typing import Any

from sexplang.machine import HIGHER
from sexplang.primitives import OPERATIONS as ASKING
from sexplang.primitives import PRIMITIVES
from sexplang.terms.classes.node import define, evolve, field, frozen
from sexplang.testing.program_templates import TABLES

VARIABLES = ("x", "y", "z", "w")
OPERATIONS = ("alpha", "beta", "gamma")
EVERYTHING = frozenset(
    (
        *("plain", "functions", "handlers", "calls", "aborts"),
        *("kept", "multi", "errors", "finally", "par", "races", "timeouts", "budgets"),
    )
)
DECLARED = ("ask", "note", *OPERATIONS, "enter", "leave")
PRELUDE = sorted({*PRIMITIVES, *HIGHER, *ASKING})
PREAMBLE = "\n".join(f"(define-effect ({name} n))" for name in DECLARED)

HOLES = re.compile(r"(\$[abc]|[#@][abc]*|[%&^|!~§¤¢])")


@frozen
class Shape:
    """The kinds of expressions that may appear, and the approximate number of numbers."""

    size: int = 0
    """0 for a random size."""
    allowed: frozenset[str] = EVERYTHING
    wrong: float = 0
    """The share of numbers that are replaced by something else."""

    def without(self, *kinds: str) -> "Shape":
        return evolve(self, allowed=self.allowed - {*kinds})


EVERYWHERE = Shape()


@cache
def _rows(table: str, allowed: frozenset[str]) -> tuple[list[tuple[str, list[str], int]], Any]:
    """Return the allowed rows, split into text and holes, with the number of holes that take a
    size; and the weights."""
    rows = [row for row in TABLES[table] if {*row[0].split()} <= allowed]
    split = [(row[0], [part for part in HOLES.split(row[2]) if part]) for row in rows]
    counted = [
        (kind, parts, sum(part[0] in SIZED and bool(HOLES.fullmatch(part)) for part in parts))
        for kind, parts in split
    ]
    return counted, list(accumulate(row[1] for row in rows))


Scope = tuple[str, ...]


@define
class DraftProgram:
    """A program in the making."""

    random: Random
    allowed: frozenset[str]
    wrong: float = 0
    marks: int = 0
    kinds: set[str] = field(factory=set)

    def number(self, scope: Scope, size: int) -> str:
        if self.wrong and self.random.random() < self.wrong:
            return self.fill("ANYTHING", scope, size // 2)
        if size > 1:
            return self.fill("NUMBERS", scope, size - 1)
        if scope and self.random.random() < 0.6:
            return self.random.choice(scope)
        return str(self.random.randrange(-3, 10))

    def fill(self, table: str, scope: Scope, size: int) -> str:
        """Fill the holes of a row of a table; the size is divided among them."""
        rows, weights = _rows(table, self.allowed)
        kind, parts, holes = self.random.choices(rows, cum_weights=weights)[0]
        self.kinds.update(kind.split())
        sizes = self.deal(size, holes)
        names: dict[str, str] = {}
        out: list[str] = []
        for part in parts:
            hole, letters = part[0], part[1:]
            if hole == "$":
                out.append(names.get(letters) or self.name(names, letters))
            elif part == "§":
                out.append(names.get(part) or names.setdefault(part, self.mark()))
            elif hole in SIZED and (not letters or letters in ("a", "b", "ab")):
                inner = (*scope, *(names[letter] for letter in letters))
                out.append(SIZED[hole](self, inner, sizes.pop()))
            else:
                out.append(self.random.choice(CHOSEN[part]) if part in CHOSEN else part)
        return "".join(out)

    def deal(self, size: int, holes: int) -> list[int]:
        cuts = sorted(self.random.randrange(size + 1) for _ in range(holes - 1))
        return [to - start for start, to in zip([0, *cuts], [*cuts, size], strict=True)]

    def name(self, names: dict[str, str], letter: str) -> str:
        free = [name for name in VARIABLES if name not in names.values()]
        names[letter] = self.random.choice(free)
        return names[letter]

    def mark(self) -> str:
        self.marks += 1
        return str(self.marks)

    def body(self, scope: Scope, size: int) -> str:
        return self.fill("BODIES", scope, size)

    def test(self, scope: Scope, size: int) -> str:
        return self.fill("TESTS", scope, size)

    def branches(self, scope: Scope, size: int) -> str:
        sizes = self.deal(size, self.random.randrange(1, 4))
        return " ".join(self.number(scope, part) for part in sizes)

    def clauses(self, scope: Scope, size: int) -> str:
        others = [] if "tasks" in self.allowed else ["model"]
        names = [*OPERATIONS, *others, *(["error"] if "errors" in self.allowed else [])]
        chosen = self.random.sample(names, self.random.randrange(1, 4))
        sizes = self.deal(size, len(chosen) + 1)
        clauses = [self.clause(name, scope, sizes.pop()) for name in chosen]
        if self.random.random() < 0.5:
            name = self.random.choice(VARIABLES)
            clauses.append(f"(return {name} {self.body((*scope, name), sizes.pop())})")
        self.random.shuffle(clauses)
        return " ".join(clauses)

    def clause(self, operation: str, scope: Scope, size: int) -> str:
        parameter = "e" if operation == "error" else self.random.choice(VARIABLES)
        inner = scope if operation == "error" else (*scope, parameter)
        if self.random.random() < 0.15:
            body = f"(forward k {operation} {parameter})"
            if self.random.random() < 0.5:
                body = f"(if {self.test(inner, size)} (k {self.number(inner, 1)}) {body})"
        else:
            body = self.fill("CLAUSES", inner, size)
        return f"(({operation} {parameter}) k {body})"

    def error_clause(self, scope: Scope, size: int) -> str:
        return self.fill("CLAUSES", scope, size)

    def state_end(self, scope: Scope, size: int) -> str:
        ends = "((gamma x) k (lambda (s) (* x s))) " if "aborts" in self.allowed else ""
        return f"{ends}(return x (lambda (s) (+ x s)))"


CHOSEN: dict[str, Sequence[str]] = {"&": OPERATIONS, "¤": PRELUDE, "¢": "01123"}
SIZED = {
    "#": DraftProgram.number,
    "@": DraftProgram.body,
    "%": DraftProgram.test,
    "^": DraftProgram.clauses,
    "|": DraftProgram.branches,
    "!": DraftProgram.error_clause,
    "~": DraftProgram.state_end,
}


@frozen
class Program:
    """A program's text, and the kinds of rows in it."""

    text: str
    kinds: frozenset[str]


def program(random: Random, shape: Shape = EVERYWHERE) -> Program:
    """Return a program: declarations, two functions, a value, and the main expression."""
    size = shape.size or random.choice((8, 16, 30, 50))
    one, value = random.choices(VARIABLES, k=2)
    part = DraftProgram(random, shape.allowed - {"functions"}, shape.wrong)
    whole = DraftProgram(random, shape.allowed, shape.wrong)
    lines = [
        PREAMBLE,
        f"(define (f0 {one}) {part.number((one,), random.randrange(8))})",
        f"(define (f1 {one} v) {part.number((one, 'v'), random.randrange(8))})",
        "(define (down n a) (if (< n 1) a (+ 1 (down (- n 1) (beta a)))))",
        f"(define {value} {part.number((), random.randrange(8))})",
        f"(list {whole.number((value,), size // 3)} {whole.number((value,), size)})",
    ]
    return Program("\n".join(lines), frozenset(part.kinds | whole.kinds))
