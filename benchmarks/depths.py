"""The same program started at twenty depths of the caller's stack: no depth may be unlucky.

CPython 3.11 to 3.13 map and unmap a chunk of frames at every call that crosses its border, which
makes a program many times slower for callers that stand near one. The machine enters through a
frame of its own size; this shows that it helps.

A depth that is unlucky is so in every round, and whatever else the computer does meets one round
or another: each time is taken in proportion to the median of its round, and of those the median
over all rounds counts.

    python benchmarks/depths.py [--rounds 27]
"""

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from statistics import median

from benchmarks.measure import Timed, seconds
from sexplang.machine import Done, start
from sexplang.pipeline.pipeline import build
from sexplang.terms.source import Source

DEPTHS = range(20)
STEP = 7
"""Frames between two depths: in all more than two chunks of small frames."""

TEXT = """
(define (fib n) (if (< n 2) n (+ (fib (- n 1)) (fib (- n 2)))))
(define (sum xs) (fold (lambda (a b) (+ a b)) 0 (map (lambda (x) (fib (modulo x 9))) xs)))
(+ (fib 16) (sum (range 500)))
"""


def deeper(depth: int, function: Timed) -> float:
    """The seconds of the function, called from so many frames further down."""
    return deeper(depth - 1, function) if depth else seconds(function)


def report(rounds: int) -> float:
    """Measures and prints; the slowest depth in proportion to the fastest."""
    program = build(Source("benchmark", TEXT), lambda path, importer: ())

    def run() -> None:
        assert isinstance(start(program), Done)

    run()
    shares: list[list[float]] = [[] for _ in DEPTHS]
    medians = []
    for _ in range(rounds):
        times = [deeper(depth * STEP, run) for depth in DEPTHS]
        medians.append(median(times))
        for share, seconds_here in zip(shares, times, strict=True):
            share.append(seconds_here / medians[-1])
    found = [median(share) for share in shares]

    print(f"{len(DEPTHS)} starting depths: {median(medians) * 1e3:.1f} ms", end="")
    print(f", {min(found):.2f} to {max(found):.2f} of it, max/min {max(found) / min(found):.2f}")
    return max(found) / min(found)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=27, help="rounds (default 27)")
    report(parser.parse_args().rounds)


if __name__ == "__main__":
    main()
