"""Nine small programs: the machine against plain Python and against a naive walker.

Processor time in one process, interleaved rounds, medians. Building a program is not part of a
figure; whatever else a run does is. Ratios are what to look at: they are taken within a round, of
samples that last about as long as each other, so they hold on a busy computer. Afterwards a
kilobyte of text to its value, against Hy, and one program at twenty stack depths. The last lines
say of each figure that is asked for whether it was met. Hy comes with `pip install --group bench`.

    python benchmarks/language.py [--rounds 9] [--only fib,tak]
"""

import argparse
import sys
from math import inf, prod
from pathlib import Path
from statistics import median

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from attrs import frozen

from benchmarks import depths, naive, text_to_result
from benchmarks.measure import Timed, in_turns, ratio
from benchmarks.workloads import WORKLOADS, Workload
from sexplang.machine import Done, start
from sexplang.pipeline.pipeline import build
from sexplang.terms.source import Source
from sexplang.terms.values.value import Value

TIMES = 8
"""Runs of plain Python in a sample, so that it lasts about as long as one of the machine."""


def ours(text: str) -> Timed:
    """The program, built and ready to run on the machine."""
    program = build(Source("benchmark", text), lambda path, importer: ())

    def run() -> Value:
        outcome = start(program)
        assert isinstance(outcome, Done), outcome
        return outcome.value

    return run


def walker(text: str) -> Timed:
    """The program, parsed and ready to run on the naive walker."""
    forms = naive.parse(text)

    def run() -> Value:
        before = sys.getrecursionlimit()
        sys.setrecursionlimit(20_000)
        try:
            env = naive.standard()
            return [naive.evaluate(form, env) for form in forms][-1]
        finally:
            sys.setrecursionlimit(before)

    return run


def check(workload: Workload) -> None:
    """All three give the same value, or there is nothing to compare."""
    size = workload.sizes[1]
    text = workload.program(size)
    values = {"ours": ours(text)(), "naive": walker(text)(), "python": workload.python(size)}
    if len(set(values.values())) != 1:
        raise SystemExit(f"{workload.name}: the values differ: {values}")


@frozen
class Figures:
    """Nanoseconds per unit; how many times slower than plain Python; how many times slower the
    naive walker is."""

    machine: float
    python: float
    walker: float
    slower: float
    faster: float


def figures(workload: Workload, rounds: int) -> Figures:
    size, small = workload.sizes
    samples = [
        ours(workload.program(size)),
        lambda: [workload.python(size) for _ in range(TIMES)],
        walker(workload.program(small)),
    ]
    units = [workload.units(size), workload.units(size) * TIMES, workload.units(small)]
    machine, python, walked = [
        [seconds / count * 1e9 for seconds in found]
        for found, count in zip(in_turns(samples, rounds), units, strict=True)
    ]
    return Figures(
        median(machine),
        median(python),
        median(walked),
        ratio(machine, python),
        ratio(walked, machine),
    )


def mean(ratios: list[float]) -> float:
    """The geometric mean."""
    return prod(ratios) ** (1 / len(ratios))


def verdict(what: str, found: float | None, most: float = inf, least: float = 0) -> None:
    """Whether a figure is as it has to be."""
    asked = f"at least {least:g}" if least else f"at most {most:g}"
    if found is None:
        print(f"not measured  {what}: {asked} is asked for")
        return
    print(f"{'met' if least <= found <= most else 'missed':14}{what}: {found:.2f}, {asked}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=9, help="interleaved rounds (default 9)")
    parser.add_argument("--only", default="", help="workloads, separated by commas")
    options = parser.parse_args()
    chosen = [w for w in WORKLOADS if not options.only or w.name in options.only.split(",")]

    header = f"{'ns per unit':12}{'unit':>9}{'machine':>10}{'CPython':>10}{'naive':>10}"
    print(f"{header}{'× CPython':>11}{'naive is':>13}")
    all_found = []
    for workload in chosen:
        check(workload)
        found = figures(workload, options.rounds)
        all_found.append(found)
        print(
            f"{workload.name:12}{workload.unit:>9}{found.machine:10.1f}{found.python:10.1f}"
            f"{found.walker:10.1f}{found.slower:11.2f}{found.faster:12.2f}×",
            flush=True,
        )
    slower = mean([found.slower for found in all_found])
    faster = mean([found.faster for found in all_found])
    print(f"{'geometric mean':51}{slower:11.2f}{faster:12.2f}×")
    by_name = dict(zip([each.name for each in chosen], all_found, strict=True))
    hy = spread = None
    if not options.only:
        print()
        hy = text_to_result.report(2 * options.rounds)
        spread = depths.report(3 * options.rounds)
    print()
    verdict("times faster than the naive walker", faster, least=8)
    verdict("times slower than CPython", slower, most=10)
    verdict(
        "times slower than CPython, fib", by_name["fib"].slower if "fib" in by_name else None, 15
    )
    verdict("times faster than Hy, text to result", hy, least=10)
    verdict("slowest starting depth to fastest", spread, most=1.3)


if __name__ == "__main__":
    main()
