"""Programs that compute → how many steps they take, with and without what the machine does to be
quick: it must be as many."""

from collections.abc import Iterator
from contextlib import contextmanager
from random import Random
from typing import Any

from support.sources import no_files

from sexplang.machine import (
    Slice,
    Suspended,
    advance,
    link,
    start,
    state_of,
)
from sexplang.machine.code import calls, maker, nodes, operands
from sexplang.machine.code.maker import Maker
from sexplang.pipeline.pipeline import build
from sexplang.terms.source import Source

_PLACE = "(define-effect (ask)) (define-effect (yield x))\n"

_LEAVES = ("x", "y", "0", "1", "2", "7")
_EXPRESSIONS = (
    "(+ {} {})",
    "(- {} 1)",
    "(* {} {})",
    "(if (< {} {}) {} {})",
    "(and (< {} 5) {})",
    "(or (= {} {}) {})",
    "(let ((y {})) {})",
    "(length (list {} {}))",
    "(begin {} {})",
    "(modulo {} 5)",
    "(nth [3 4 5 6] (modulo {} 6))",
    "(if (member? {} (range 150)) 1 0)",
)
"""Those of a function that needs no frame; some fail at times."""

_WORKS = (
    "(map (lambda (x) {}) (range {n}))",
    "(map (lambda (x y) {}) (range {n}) (range {n}))",
    "(filter (lambda (x) (< {} 3)) (range {n}))",
    "(fold (lambda (y x) {}) 1 (range {n}))",
    "(any? (lambda (x) (= {} 11)) (range {n}))",
    "(sort (range {n}) (lambda (x y) (< {} {})))",
    "(sort-by (lambda (x) (begin {} x)) (range {n}))",
    "(loop ((x 0) (y {n})) (if (= y 0) x (recur (modulo {} 9) (- y 1))))",
    "(loop {n} {})",
    "(let ((f (lambda (x) {}))) (+ 1 (f (f {}))))",
    "(handle (let ((x (yield {}))) {}) ((yield x) k (k {})))",
    "(try {} (finally {}))",
    "(par {} {})",
    "(with-timeout 99 (+ {} {}))",
)


def text_of(seed: int) -> str:
    """Functions, of which each may call those before it, and work that calls them."""
    random = Random(seed)
    names: list[tuple[str, int]] = []
    lines = []
    for at in range(random.randint(1, 4)):
        params = "x" if random.random() < 0.5 else "x y"
        body = _filled(random, random.choice(_EXPRESSIONS), names, 3).replace("y", params[-1])
        lines.append(f"(define (h{at} {params}) {body})")
        names.append((f"h{at}", len(params.split())))
    works = [_filled(random, random.choice(_WORKS), names, 2) for _ in range(random.randint(1, 4))]
    done = [f"(attempt (let ((x 3) (y 4)) {work}) 0)" for work in works]
    if random.random() < 0.5:
        done = ["(with-timeout 99 (begin", *done, "))"]
    return _PLACE + "\n".join([*lines, *done, "(ask)"])


def _filled(random: Random, row: str, names: list[tuple[str, int]], depth: int) -> str:
    made = row.replace("{n}", str(random.choice((0, 1, 3, 70, 1_100))))
    while "{}" in made:
        made = made.replace("{}", _expression(random, names, depth), 1)
    return made


def _expression(random: Random, names: list[tuple[str, int]], depth: int) -> str:
    if depth == 0 or random.random() < 0.2:
        return random.choice(_LEAVES)
    if names and random.random() < 0.5:
        name, size = random.choice(names)
        given = [_expression(random, names, depth - 1) for _ in range(size)]
        return f"({name} {' '.join(given)})"
    return _filled(random, random.choice(_EXPRESSIONS), names, depth - 1)


class _Framed(Maker):
    """No function is evaluated where it is called."""

    def pure(self, index: int) -> None:
        return None


class _Stepped(_Framed):
    """None is called on many elements at once either."""

    def function(self, index: int, body: Any) -> None:
        super().function(index, body)
        self.codes[index].pure = None


def _plain(left: Any, right: Any) -> tuple[str, Any, Any]:
    return "any any", left.simple, right.simple


WAYS: dict[str, list[tuple[Any, str, Any]]] = {
    "framed": [(link, "Maker", _Framed)],
    "stepped": [(link, "Maker", _Stepped)],
    "without shapes": [
        (operands, "QUICK", {}),
        (operands, "_shape", _plain),
        (nodes, "turn", lambda *_: None),
    ],
    "low": [(maker, "MAX_NESTING", 2), (calls, "MAX_NESTING", 2)],
    "light": [(calls, "HEAVIEST", 3)],
}
"""What is replaced in which module: the same code, made otherwise."""


@contextmanager
def made(way: str) -> Iterator[None]:
    kept = [(module, name, getattr(module, name)) for module, name, _ in WAYS[way]]
    for module, name, other in WAYS[way]:
        setattr(module, name, other)
    try:
        yield
    finally:
        for module, name, before in kept:
            setattr(module, name, before)


Places = list[tuple[str, int]]


def steps(text: str, slice: Slice | None = None) -> tuple[int, Places]:
    """How many steps a program takes until it asks, and where slices ended on the way."""
    outcome = start(build(Source("steps", text), no_files), slice=slice)
    places = []
    while slice is not None and isinstance(outcome, Suspended):
        pause = state_of(outcome).pause
        if pause is None:
            break
        places.append((pause.at, pause.steps))
        outcome = advance(outcome, slice)
    assert isinstance(outcome, Suspended), outcome
    return state_of(outcome).scheduler.steps, places


def one_count(seed: int) -> str | None:
    """A finding, if a program takes other steps where it is made or run otherwise, or does not come
    to a place where a slice of it ended once."""
    text = text_of(seed)
    expected, _ = steps(text)
    for way in WAYS:
        with made(way):
            found, _ = steps(text)
        if found != expected:
            return f"{way}: {found} steps, not {expected}\n{text}"
    found, places = steps(text, Slice((7, 50, 300, 2_000)[seed % 4]))
    if found != expected:
        return f"in slices: {found} steps, not {expected}\n{text}"
    stops: dict[str, list[int]] = {}
    for at, count in places:
        stops.setdefault(at, []).append(count)
    _, again = steps(text, Slice(1_000_000, stops))
    missed = set(places) - set(again)
    return f"not met again: {sorted(missed)[:9]}\n{text}" if missed else None
