"""Random choices to program text: well formed, ending, and rich in effects.

`program(random)` is the fast way, for bulk; `programs()` is the same for Hypothesis. Everything
that is written denotes a number (or an error), so that whatever a handler, a branch or a
finally gives can be used further. Names are few, so that they hide one another.

The tables are templates. Their holes:

    $a    a variable; the same letter, the same one
    #ab   a number, in whose scope $a and $b stand
    @ab   a body of one or more forms, likewise
    %     a test                 ^  the clauses of a handle
    &     an operation           !  the body of a clause of `error`
    |     the branches of a par  ~  the end of a handler that passes state
    §     a number like no other in the program
"""

import re
from functools import cache
from itertools import accumulate
from random import Random
from typing import Any

from attrs import define, evolve, field, frozen
from hypothesis import strategies as st

VARIABLES = ("x", "y", "z", "w")
OPERATIONS = ("alpha", "beta", "gamma")
EVERYTHING = frozenset(
    (
        *("plain", "functions", "handlers", "calls", "aborts"),
        *("kept", "multi", "errors", "finally", "par"),
    )
)
DECLARED = ("ask", "note", *OPERATIONS, "enter", "leave")
PREAMBLE = "\n".join(f"(define-effect ({name} n))" for name in DECLARED)

Row = tuple[str, int, str]  # what must be allowed for it, weight, template

NUMBERS: list[Row] = [
    ("plain", 6, "(+ # #)"),
    ("plain", 3, "(- # #)"),
    ("plain", 1, "(* # #)"),
    ("plain", 4, "(if % # #)"),
    ("plain", 3, "(let (($a #)) @a)"),
    ("plain", 2, "(let (($a #) ($b #)) @ab)"),
    ("plain", 2, "(let* (($a #) ($b #a)) #ab)"),
    ("plain", 3, "(begin @)"),
    ("plain", 2, "((lambda ($a) @a) #)"),
    ("plain", 2, "(let ((f (lambda ($a $b) @ab))) (+ (f # 1) (f 2 #)))"),
    ("plain", 1, "(apply (lambda ($a $b) #ab) [# #])"),
    ("functions", 2, "(f0 #)"),
    ("functions", 2, "(f1 # #)"),
    ("functions", 1, "(down 3 #)"),
    ("plain", 1, "(begin (loop 2 #))"),
    ("plain", 2, "(loop ((n 0) ($a #) ($b #)) (if (< n 3) (recur (+ n 1) $b $a) (- $a $b)))"),
    ("plain", 2, "(loop ((n 0) ($a #) ($b #)) (if (< n 2) (recur (+ n 1) #ab $a) #ab))"),
    ("plain", 1, "(first (list # #))"),
    ("plain", 1, "(length [# #])"),
    ("plain", 2, "(let ((t {p: # q: {r: #}})) (- t.p t.q.r))"),
    ("plain", 1, "(fold (lambda ($a $b) (+ (* $a 2) #ab)) # [# 1])"),
    ("plain", 1, "(first (map (lambda ($a) #a) [# #]))"),
    ("plain", 1, "(or nil (and 1 #))"),
    ("plain", 3, "(ask #)"),
    ("plain", 1, "(perform ask #)"),
    ("plain", 3, "(begin (note #) #)"),
    ("plain", 5, "(& #)"),
    ("plain", 2, "(perform & #)"),
    ("handlers", 8, "(handle # ^)"),
    ("handlers finally", 3, "(handle (try (+ (alpha #) #) (finally (note #))) ^)"),
    ("handlers finally", 2, "(handle (try (beta #) (finally (note #))) ((beta $a) k !))"),
    ("handlers", 6, "(handle (+ (alpha #) #) ^)"),
    ("handlers", 3, "(handle (- (beta #) (gamma #)) ^)"),
    ("errors", 2, "(handle (+ (raise #) #) ((error e) k !))"),
    ("kept", 2, "((handle # ((alpha x) k (lambda ($a) ((k $a) #a))) ~) #)"),
    ("kept", 2, "((handle (+ (alpha 1) #) ((alpha x) k (lambda (s) ((k s) (+ s x)))) ~) #)"),
    (
        "kept finally",
        1,
        "((handle (try # (finally (alpha 2))) ((alpha x) k (lambda (s) ((k x) 2))) ~) #)",
    ),
    (
        "kept",
        2,
        "(loop ((r (handle (+ (alpha 1) #) ((alpha x) k k))) (n 0))"
        " (if (procedure? r) (if (< n 3) (recur (r n) (+ n 1)) #) r))",
    ),
    ("errors", 3, "(try @ (catch (e) @))"),
    ("errors", 2, "(try (+ 1 (raise #)) (catch (e) @))"),
    ("errors finally", 1, "(try (try @ (finally (note #))) (catch (e) (begin (note #) #)))"),
    ("errors finally", 1, "(try (try (raise #) (finally (note #))) (catch (e) (ask #)))"),
    ("errors", 2, '(try (raise {reason: "odd"}) (catch (e even) 0) (catch (e odd) #))'),
    ("errors", 2, "(try # (catch (e odd) #))"),
    ("errors", 1, "(try # (catch (e USER_ERROR) #) (catch (e) #))"),
    ("errors finally", 1, "(try # (catch (e wrong-type) #) (finally (note #)))"),
    ("errors finally", 2, "(try @ (catch (e) #) (finally (note #)))"),
    ("errors finally", 1, "(try # (catch (e) (raise e)) (finally #))"),
    ("errors", 1, "(raise #)"),
    ("errors", 1, '(raise {reason: "odd"})'),
    ("errors", 1, '(+ 1 "x")'),
    ("errors", 2, "(let ((r (attempt #))) (if (number? r) r -1))"),
    ("finally", 3, "(try @ (finally (note #)))"),
    ("finally", 1, "(try @ (finally #))"),
    ("finally", 1, "(try # (finally (note #) #))"),
    ("marked", 6, "(begin (enter §) (try @ (finally (leave §) #)))"),
    ("par", 3, "(first (par |))"),
    ("par errors", 1, "(try (par (raise #) (ask #)) (catch (e) #))"),
    ("par errors", 1, "(try (par # (raise #) (try (ask #) (finally (note #)))) (catch (e) #))"),
    ("par errors finally", 1, "(first (par # (try (raise #) (finally (note #)))))"),
    ("par aborts", 1, "(handle (first (par (alpha #) (note #))) ((alpha x) k (if % # (k #))))"),
    ("par", 1, "(- (first (par (ask #) #)) (first (par (ask #))))"),
    ("par", 3, "(fold (lambda (x y) (+ (* x 3) y)) 0 (par |))"),
]

BODIES: list[Row] = [
    ("plain", 8, "#"),
    ("plain", 2, "# #"),
    ("plain", 2, "(bind $a #) #a"),
    ("plain", 1, "(begin (bind $a #) (bind $a #a)) #a"),
    ("plain", 1, "(define (g $a) #a) (define (h $a) (g (+ $a 1))) (h #)"),
]

TESTS: list[Row] = [
    ("plain", 3, "(< # #)"),
    ("plain", 2, "(= # #)"),
    ("plain", 1, "(not (< # #))"),
    ("plain", 1, "(and (< # #) (< 0 #))"),
]

CLAUSES: list[Row] = [
    ("aborts", 4, "#"),
    ("plain", 5, "(k #)"),
    ("plain", 2, "(if % (k #) (k #))"),
    ("plain", 2, "(begin (note #) (k #))"),
    ("plain", 1, "(let (($a #)) (k #a))"),
    ("aborts", 2, "(if % (k #) #)"),
    ("calls", 3, "(+ 1 (k #))"),
    ("calls", 2, "(let (($a (k #))) #a)"),
    ("calls finally", 1, "(try (k #) (finally (note #)))"),
    ("calls", 1, "(handle (k #) ((alpha x) k (k (+ x 1))))"),
    ("calls", 1, "(handle (k #) ((alpha x) k (+ x (k 1))) (return r (- r 1)))"),
    ("calls errors", 1, "(try (k #) (catch (e) #))"),
    ("calls aborts", 2, "(if % (+ 1 (k #)) #)"),
    ("calls aborts", 1, "(+ # (if % (k #) #))"),
    ("calls aborts", 1, "(begin (abandon k) #)"),
    ("calls aborts", 1, "(if % (begin (abandon k) #) (- (k #) 1))"),
    ("calls aborts", 1, "(begin (if % (abandon k) 0) #)"),
    ("kept", 1, "((lambda ($a) (k $a)) #)"),
    ("kept", 1, "(let ((q k)) (begin (abandon q) #))"),
    ("kept", 1, "(apply k [#])"),
    ("kept", 1, "(let ((q k)) (+ # (q #)))"),
    ("kept", 1, "(handle (begin (beta 1) (k #)) ((beta x) q ((lambda (y) (q y)) x)))"),
    ("multi", 4, "(+ (k #) (* 2 (k #)))"),
    ("multi", 2, "(begin (k #) (k #))"),
    ("multi", 2, "(if (< (k #) #) (k 1) (k 2))"),
    ("multi", 2, "(let ((q k)) (- (q #) (q #)))"),
    ("multi", 1, "(fold (lambda (x y) (+ x y)) 0 (map k [# #]))"),
    ("multi par", 1, "(fold (lambda (x y) (- x y)) 0 (par (k #) (k #)))"),
]

TABLES = {"NUMBERS": NUMBERS, "BODIES": BODIES, "TESTS": TESTS, "CLAUSES": CLAUSES}
HOLES = re.compile(r"(\$[abc]|[#@][abc]*|[%&^|!~§])")


@frozen
class Shape:
    """What may appear in a program, and about how many numbers it has."""

    size: int = 0
    """0: each program another."""
    allowed: frozenset[str] = EVERYTHING

    def without(self, *kinds: str) -> "Shape":
        return evolve(self, allowed=self.allowed - {*kinds})


EVERYWHERE = Shape()


@cache
def _rows(table: str, allowed: frozenset[str]) -> tuple[list[tuple[str, list[str], int]], Any]:
    """The allowed rows, split into text and holes, how many holes take a size; and weights."""
    rows = [row for row in TABLES[table] if {*row[0].split()} <= allowed]
    split = [(row[0], [part for part in HOLES.split(row[2]) if part]) for row in rows]
    counted = [
        (kind, parts, sum(part[0] in SIZED and bool(HOLES.fullmatch(part)) for part in parts))
        for kind, parts in split
    ]
    return counted, list(accumulate(row[1] for row in rows))


Scope = tuple[str, ...]


@define
class Written:
    """A program in the making, and what it came to hold."""

    random: Random
    allowed: frozenset[str]
    marks: int = 0
    kinds: set[str] = field(factory=set)

    def number(self, scope: Scope, size: int) -> str:
        if size > 1:
            return self.fill("NUMBERS", scope, size - 1)
        if scope and self.random.random() < 0.6:
            return self.random.choice(scope)
        return str(self.random.randrange(-3, 10))

    def fill(self, table: str, scope: Scope, size: int) -> str:
        """A row of a table with its holes filled; the size is dealt out among them."""
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
                out.append(self.random.choice(OPERATIONS) if part == "&" else part)
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
        names = [*OPERATIONS, *(["error"] if "errors" in self.allowed else [])]
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


SIZED = {
    "#": Written.number,
    "@": Written.body,
    "%": Written.test,
    "^": Written.clauses,
    "|": Written.branches,
    "!": Written.error_clause,
    "~": Written.state_end,
}


@frozen
class Program:
    """A program's text, and which kinds of rows it was made of."""

    text: str
    kinds: frozenset[str]


def program(random: Random, shape: Shape = EVERYWHERE) -> Program:
    """Declarations, two functions and a value, and the expression that it is all about."""
    size = shape.size or random.choice((8, 16, 30, 50))
    one, value = random.choices(VARIABLES, k=2)
    part = Written(random, shape.allowed - {"functions"})
    whole = Written(random, shape.allowed)
    lines = [
        PREAMBLE,
        f"(define (f0 {one}) {part.number((one,), random.randrange(8))})",
        f"(define (f1 {one} v) {part.number((one, 'v'), random.randrange(8))})",
        "(define (down n a) (if (< n 1) a (+ 1 (down (- n 1) (beta a)))))",
        f"(define {value} {part.number((), random.randrange(8))})",
        f"(list {whole.number((value,), size // 3)} {whole.number((value,), size)})",
    ]
    return Program("\n".join(lines), frozenset(part.kinds | whole.kinds))


def programs(shape: Shape = EVERYWHERE) -> st.SearchStrategy[Program]:
    """The same for Hypothesis, which shrinks the choices."""
    return st.builds(program, st.randoms(use_true_random=False), st.just(shape))
