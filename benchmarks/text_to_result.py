"""A kilobyte of program text to its value, in a process that is warm: this language and Hy.

Both read, check, compile and run the same program from nothing but its text, as a session does that
is handed programs by a model. Hy compiles to Python; it comes with the dependency group `bench`:
without it, its line is left out.

    python benchmarks/text_to_result.py [--rounds 15]
"""

import argparse
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.measure import Timed, interleaved
from sexplang.machine import Done, start
from sexplang.pipeline.pipeline import build
from sexplang.terms.source import Source

TIMES = 10
"""Texts in one measurement, each a little different, so that nothing can be remembered."""

OURS = """
; What a model writes when it is asked to sort out some orders: program number {number}.
(define orders
  [{{name: "tea" cups: 3 price: 4}} {{name: "coffee" cups: 1 price: 5}}
   {{name: "water" cups: 7 price: 0}} {{name: "cocoa" cups: 2 price: 6}}])

(define (cost order)
  (* (get order "cups") (get order "price")))

(define (line order)
  (let ((name (get order "name")) (sum (cost order)))
    (if (= sum 0)
        (string-append name " is free")
        (string-append name " costs " (number->string sum)))))

(define (count-down n total)
  (if (= n 0) total (count-down (- n 1) (+ total n))))

(define (dear? order) (> (cost order) 6))

(define lines (map line orders))
(define names (map (lambda (order) (string-upcase (get order "name"))) (filter dear? orders)))
(define total (fold (lambda (sum order) (+ sum (cost order))) {number} orders))

(let ((rest (count-down 10 0)))
  (string-join
    [(string-join lines ", ") (string-join names "+") (number->string (+ total rest))]
    "; "))
"""

HY = """
; What a model writes when it is asked to sort out some orders: program number {number}.
(setv orders
  [{{"name" "tea" "cups" 3 "price" 4}} {{"name" "coffee" "cups" 1 "price" 5}}
   {{"name" "water" "cups" 7 "price" 0}} {{"name" "cocoa" "cups" 2 "price" 6}}])

(defn cost [order]
  (* (get order "cups") (get order "price")))

(defn line [order]
  (setv name (get order "name") sum (cost order))
  (if (= sum 0)
      (+ name " is free")
      (+ name " costs " (str sum))))

(defn count-down [n total]
  (if (= n 0) total (count-down (- n 1) (+ total n))))

(defn dear? [order] (> (cost order) 6))

(setv lines (list (map line orders)))
(setv names (list (map (fn [order] (.upper (get order "name"))) (filter dear? orders))))
(setv total {number})
(for [order orders] (setv total (+ total (cost order))))

(setv rest (count-down 10 0))
(.join "; "
  [(.join ", " lines) (.join "+" names) (str (+ total rest))])
"""


def ours(text: str) -> Any:
    """The value of a program of this language."""
    outcome = start(build(Source("benchmark", text), lambda path, importer: ()))
    assert isinstance(outcome, Done), outcome
    return outcome.value


def hys(text: str) -> Any:
    """The value of a program of Hy, in a module of its own."""
    import hy

    return hy.eval(hy.read_many(text), {}, module=ModuleType("benchmark"))


def has_hy() -> bool:
    try:
        import hy  # noqa: F401
    except ImportError:
        return False
    return True


def report(rounds: int) -> float | None:
    """Measures and prints; how many times slower Hy is, if it is there."""
    numbers = iter(range(10**9))

    def timed(run: Any, template: str) -> Timed:
        def several() -> None:
            for _ in range(TIMES):
                run(template.format(number=next(numbers)))

        return several

    runs = {"sexplang": timed(ours, OURS)}
    if has_hy():
        values = ours(OURS.format(number=1)), hys(HY.format(number=1))
        if values[0] != values[1]:
            raise SystemExit(f"the values differ: {values}")
        runs["Hy"] = timed(hys, HY)
    found = dict(zip(runs, interleaved(list(runs.values()), rounds), strict=True))

    print(f"text to result: {len(OURS.format(number=1)):,} characters, warm")
    for name, seconds in found.items():
        times = seconds / found["sexplang"]
        print(f"  {name:10}{seconds / TIMES * 1e3:9.2f} ms{times:9.1f} ×")
    if "Hy" not in found:
        print("  Hy is not installed here: nothing to compare with")
        return None
    return found["Hy"] / found["sexplang"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=15, help="interleaved rounds (default 15)")
    report(parser.parse_args().rounds)


if __name__ == "__main__":
    main()
