"""Branches of the weave with nobody behind them: what one costs, and what it holds while it waits.

A `par-map` over so many elements, each a call that asks the host once, answered at once by a stub.
Processor time per branch from its beginning to its value, medians; the same for jobs that wait for
their place; then the memory of as many branches that wait for the host, and that wait for a place,
by tracemalloc.

    python benchmarks/branches.py [--branches 10000] [--rounds 5]
"""

import argparse
import sys
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.measure import in_turns
from sexplang.machine import Done, Suspended, start, state_of
from sexplang.pipeline.pipeline import build
from sexplang.terms.program import Program
from sexplang.terms.source import Source

ASK = "(define-effect (ask n))\n"
PROGRAMS = {
    "a branch": "(par-map ask (range N))",
    "a job in line for a place": "(par-map (lambda (n) (with-permit (lambda () (ask n)))) (range N))",
}

COST = 40e-6
"""Seconds of a branch, at most."""
MEMORY = 100e6
"""Bytes of ten thousand of them, at most."""


def built(text: str, branches: int) -> Program:
    source = Source("branches.sexp", ASK + text.replace("N", str(branches)))
    return build(source, lambda path, importer: ())


def run(program: Program, branches: int) -> None:
    """Begins all and answers each, as they come."""
    outcome: Any = start(program)
    opened = list(state_of(outcome).opened)
    for request in opened:
        outcome = outcome.resume(request.id, 1)
        if isinstance(outcome, Suspended):
            opened.extend(state_of(outcome).opened)
    assert isinstance(outcome, Done) and len(outcome.value) == branches


def held(program: Program) -> int:
    """The bytes of the run while all of its branches wait."""
    tracemalloc.start()
    outcome = start(program)
    size, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert isinstance(outcome, Suspended)
    return size


def main() -> int:
    parser = argparse.ArgumentParser(description="What branches cost and hold.")
    parser.add_argument("--branches", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()

    count = options.branches
    programs = {name: built(text, count) for name, text in PROGRAMS.items()}
    for program in programs.values():
        run(program, count)
    runs: list[Callable[[], Any]] = [
        lambda program=program: run(program, count)  # type: ignore[misc]
        for program in programs.values()
    ]
    is_within = True
    for name, times in zip(programs, in_turns(runs, options.rounds), strict=True):
        each, size = median(times) / count, held(programs[name])
        is_within = is_within and each <= COST and size * 10_000 / count <= MEMORY
        print(
            f"{name:28}{each * 1e6:7.1f} µs each (spread {min(times) / count * 1e6:.1f} to "
            f"{max(times) / count * 1e6:.1f}){size / 1e6:9.1f} MB for {count:,} that wait"
        )
    print(f"bounds: {COST * 1e6:.0f} µs, {MEMORY / 1e6:.0f} MB for 10,000")
    return 0 if is_within else 1


if __name__ == "__main__":
    sys.exit(main())
