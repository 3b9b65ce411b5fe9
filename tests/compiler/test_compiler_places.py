"""Every variable has a slot where it stands, in random programs that are well formed."""

from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st
from support.compiling import compiled
from support.core_places import misplaced

from sexplang.terms.core import Let


class Writer:
    """Writes programs that use only names that are bound."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.fresh = 0

    def name(self) -> str:
        self.fresh += 1
        # Few names, so that they hide each other, and many, so that they do not.
        return f"v{self.fresh}" if self.random.random() < 0.7 else self.random.choice("xyz")

    def body(self, names: tuple[str, ...], depth: int) -> str:
        out = []
        for _ in range(self.random.randint(0, 2)):
            name = self.name()
            value = self.expression(names, depth - 1)
            if self.random.random() < 0.3:
                inner = self.body((*names, "p"), depth - 1)
                out.append(f"(bind {name} (lambda (p) {inner}))")
            else:
                out.append(f"(bind {name} {value})")
            names = (*names, name)
        return " ".join([*out, self.expression(names, depth)])

    def expression(self, names: tuple[str, ...], depth: int) -> str:
        if depth <= 0:
            return self.random.choice([*names, "1"]) if names else "1"

        def e(*more: str) -> str:
            return self.expression((*names, *more), depth - 1)

        def b(*more: str) -> str:
            return self.body((*names, *more), depth - 1)

        n, m, k, u = self.name(), self.name(), f"k{depth}", f"u{self.fresh}"
        m = m if m != n else "w"
        return self.random.choice(
            [
                lambda: f"(list {e()} {e()})",
                lambda: f"[{e()} {{a: {e()}}}]",
                lambda: f"(if {e()} {e()} {e()})",
                lambda: f"(cond ({e()} => list) ({e()} {b()}) ((str) => str) (else {b()}))",
                lambda: f"(case {e()} (1 {b()}) (else {b()}))",
                lambda: f"(let (({n} {e()}) ({m} {e()})) {b(n, m)})",
                lambda: f"(let* (({n} {e()}) ({m} {e(n)})) {b(n, m)})",
                lambda: f"(letrec ((f (lambda () {b('f')})) ({u} {e()})) {b('f', u)})",
                lambda: f"(let go (({n} {e()})) {b(n, 'go')})",
                lambda: f"(lambda ({n} ({m} {e(n)}) . more) {b(n, m, 'more')})",
                lambda: f"(begin {b()})",
                lambda: f"(loop (({n} {e()}) ({m} 1)) (if {e(n)} (recur {e(m)} {m}) (str {e()})))",
                lambda: f"(loop {e()} {b()})",
                lambda: f"(handle {e()} ((op {n} {m}) {k} {b(n, m, k)}) (return {n} {b(n)}))",
                lambda: f"(handle {e()} ((op _ _) {k} ({k} {e()})) ((po) {k} (forward {k} po)))",
                lambda: f"(try {b()} (catch ({n}) {b(n)}) (finally {b()}))",
                lambda: f"`(a ~{e()} ~@{e()} {{k: ~{e()}}})",
                lambda: f"(par {e()} {e()})",
                lambda: f"(run-script timeout: {e()} command: {e()})",
                lambda: (
                    f"(let () (define (f a) {b('f', 'g', 'a')}) (define (g) {b('f')}) (f {e()}))"
                ),
                lambda: f"(let () (define (f a b) {b('a', 'b')}) (f b: {e()} a: {e()}))",
                lambda: f"(attempt {e()})",
            ]
        )()


@settings(max_examples=150)
@given(st.integers(0, 2**32), st.integers(1, 4))
def test_every_variable_has_its_slot(seed, depth):
    """Whatever is nested in whatever."""
    unit = compiled(Writer(Random(seed)).body((), depth))

    assert [] == misplaced(unit)


def test_a_missing_slot_would_be_found():
    """The check itself: a body in an environment that is too small."""
    unit = compiled("(let ((a 1)) (let ((b 2)) b))")
    (outer,) = unit.items
    assert isinstance(outer, Let)
    assert isinstance(outer.body, Let)
    wrong = compiled("1")
    object.__setattr__(wrong, "items", (outer.body,))

    assert [] == misplaced(unit)
    assert [] != misplaced(wrong)
