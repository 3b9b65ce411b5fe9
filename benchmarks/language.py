"""Nine small programs: the machine against plain Python and against a naive walker.

Processor time in one process, interleaved rounds, medians. Building a program is not part of a
figure; whatever else a run does is. Ratios are what to look at: they hold on a busy computer.
Afterwards a kilobyte of text to its value, against Hy, and one program at twenty stack depths.

    python benchmarks/language.py [--rounds 5] [--only fib,tak]
"""

import argparse
import sys
from math import prod
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks import depths, naive, text_to_result
from benchmarks.measure import Timed, interleaved
from benchmarks.workloads import WORKLOADS, Workload
from sexplang.machine import Done, start
from sexplang.pipeline import build
from sexplang.terms.source import Source
from sexplang.terms.value import Value


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


def nanoseconds(workload: Workload, rounds: int) -> tuple[float, float, float]:
    """Per unit: the machine, plain Python, the naive walker."""
    size, small = workload.sizes
    units = workload.units(size)
    runs = [
        ours(workload.program(size)),
        lambda: workload.python(size),
        walker(workload.program(small)),
    ]
    machine, python, walked = interleaved(runs, rounds)
    return (
        machine / units * 1e9,
        python / units * 1e9,
        walked / workload.units(small) * 1e9,
    )


def mean(ratios: list[float]) -> float:
    """The geometric mean."""
    return prod(ratios) ** (1 / len(ratios))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5, help="interleaved rounds (default 5)")
    parser.add_argument("--only", default="", help="workloads, separated by commas")
    options = parser.parse_args()
    chosen = [w for w in WORKLOADS if not options.only or w.name in options.only.split(",")]

    header = f"{'ns per unit':12}{'unit':>9}{'machine':>10}{'CPython':>10}{'naive':>10}"
    print(f"{header}{'× CPython':>11}{'naive is':>13}")
    slower, faster = [], []
    for workload in chosen:
        check(workload)
        machine, python, walked = nanoseconds(workload, options.rounds)
        slower.append(machine / python)
        faster.append(walked / machine)
        print(
            f"{workload.name:12}{workload.unit:>9}{machine:10.1f}{python:10.1f}{walked:10.1f}"
            f"{slower[-1]:11.2f}{faster[-1]:12.2f}×",
            flush=True,
        )
    print(f"{'geometric mean':51}{mean(slower):11.2f}{mean(faster):12.2f}×")
    if not options.only:
        print()
        text_to_result.report(3 * options.rounds)
        depths.report(options.rounds)


if __name__ == "__main__":
    main()
