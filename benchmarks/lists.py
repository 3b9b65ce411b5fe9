"""Eight idioms of lists and texts: what an item costs, few or a million, within default limits.

Each program runs with ten thousand items and with a million, in turns with an empty loop.
Processor time, medians; the ratios are taken within a round, so they hold on a busy computer. An
item of a million takes at most 1.3 times what one of ten thousand takes; and at most six times
the turns of an empty loop that the idiom makes for it, walking and building three times. In the
middle of each idiom the run is frozen, with three thousand items and with thirty thousand: the
bytes for an item are the same within 1.3, too. The status is 1 where a bound is not kept.

    python benchmarks/lists.py [--rounds 5] [--only walk,build]
"""

import argparse
import json
import re
import sys
from pathlib import Path
from statistics import median

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from attrs import frozen

from benchmarks.measure import Timed, in_turns, ratio
from sexplang.machine import Done, Suspended, start
from sexplang.machine.frozen_runs import freeze
from sexplang.pipeline.pipeline import build
from sexplang.terms.program import Program
from sexplang.terms.source import Source

FEW, MANY = 10_000, 1_000_000
TIMES = 10
"""Runs with few items in a sample."""
SHORT, LONG = 3_000, 30_000
"""Items of a run that is frozen."""
LINEAR, TURNS = 1.3, 6.0

EMPTY = "(loop ((i 0)) (if (= i SIZE) i (recur (+ i 1))))"


@frozen
class Idiom:
    """A program over SIZE items, with `<item | step>` where a run that is frozen asks before a
    step; `turns` of a loop, or calls and returns, for each item."""

    name: str
    program: str
    turns: int = 1
    most: float = TURNS


IDIOMS = [
    Idiom(
        "walk",
        """(define (walk xs sum)
             (if (null? xs) sum <(first xs) | (walk (rest xs) (+ sum (first xs)))>))
           (walk (range SIZE) 0)""",
        most=3.0,
    ),
    Idiom(
        "build",
        """(define (build i xs)
             (if (= i SIZE) (length xs) <i | (build (+ i 1) (cons i xs))>))
           (build 0 ())""",
        most=3.0,
    ),
    Idiom(
        "append",
        """(define (collect i xs)
             (if (= i SIZE) (length xs) <i | (collect (+ i 1) (append xs [i]))>))
           (collect 0 ())""",
    ),
    Idiom(
        "text",
        """(define (write i text)
             (if (= i SIZE)
                 (string-length text)
                 <i | (write (+ i 1) (string-append text "word "))>))
           (write 0 "")""",
    ),
    Idiom(
        "recursion",
        """(define (double xs)
             (if (null? xs) () <(first xs) | (cons (* 2 (first xs)) (double (rest xs)))>))
           (length (double (range SIZE)))""",
        turns=2,
    ),
    Idiom(
        "fold",
        """(length (fold (lambda (made x) <x | (append made [x])>) () (range SIZE)))""",
    ),
    Idiom(
        "queue",
        """(define (turn i queue)
             (if (= i SIZE) (first queue) <i | (turn (+ i 1) (append (rest queue) [i]))>))
           (turn 0 (range 1000))""",
    ),
    Idiom(
        "stack",
        """(define (turn i stack)
             (if (= i SIZE) (first stack) <i | (turn (+ i 1) (cons i (rest stack)))>))
           (turn 0 (range 1000))""",
    ),
]


def built(text: str, size: int, halts: bool = False) -> Program:
    """The program over so many items; where it halts, it asks once, in the middle."""
    ask = rf'(begin (if (= \1 {size // 2}) (ask-user "on?") nil) \2)'
    text = re.sub(r"<(.*) \| (.*)>", ask if halts else r"\2", text)
    text = text.replace("SIZE", str(size))
    return build(Source("idiom", text), lambda path, importer: ())


def timed(program: Program, times: int = 1) -> Timed:
    """The program, ready to run."""

    def run() -> None:
        for _ in range(times):
            outcome = start(program)
            assert isinstance(outcome, Done), outcome

    return run


def frozen_bytes(idiom: Idiom, size: int) -> float:
    """The bytes of the run for each item, frozen in its middle."""
    asked = start(built(idiom.program, size, halts=True))
    assert isinstance(asked, Suspended), asked
    return len(json.dumps(freeze(asked))) / size


def measured(idiom: Idiom, rounds: int) -> bool:
    """Prints what an idiom takes. Whether it keeps its bounds."""
    loop = timed(built(EMPTY, MANY // 4))
    few, many = built(idiom.program, FEW), built(idiom.program, MANY)
    turns, some, all_items = in_turns([loop, timed(few, TIMES), timed(many)], rounds)
    turn = [each / (MANY // 4) * idiom.turns for each in turns]
    small = [each / (FEW * TIMES) for each in some]
    large = [each / MANY for each in all_items]
    growth, cost = ratio(large, small), ratio(large, turn)
    short, long = frozen_bytes(idiom, SHORT), frozen_bytes(idiom, LONG)
    kept = growth <= LINEAR and cost <= idiom.most and long <= short * LINEAR
    print(
        f"{idiom.name:10}{median(small) * 1e9:9.0f}{median(large) * 1e9:11.0f}{growth:8.2f}"
        f"{cost:8.2f}{idiom.most:6.0f}{short:10.1f}{long:9.1f}  {'kept' if kept else 'not kept'}"
    )
    return kept


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5, help="interleaved rounds (default 5)")
    parser.add_argument("--only", default="", help="names of idioms, with commas")
    options = parser.parse_args()

    only = [name for name in options.only.split(",") if name]
    print("nanoseconds of processor time and frozen bytes for an item; `turns`: of an empty loop")
    print(f"{'':10}{FEW:>9,}{MANY:>11,}{'growth':>8}{'turns':>8}{'most':>6}{SHORT:>10,}{LONG:>9,}")
    kept = [measured(idiom, options.rounds) for idiom in IDIOMS if not only or idiom.name in only]
    print(f"bounds: growth and frozen bytes {LINEAR}, turns; {sum(kept)} of {len(kept)} kept")
    return 0 if all(kept) else 1


if __name__ == "__main__":
    sys.exit(main())
