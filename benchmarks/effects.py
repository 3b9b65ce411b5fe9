"""The eleven programs of the public effect-handlers benchmark suite, several sizes of each.

Processor time in one process, interleaved rounds, medians; building a program is not part of a
figure. What the programs compute is said in the suite's descriptions
(github.com/effect-handlers/effect-handlers-bench); `benchmarks/effects/` holds them in this
language, and each result is shown beside what plain Python computes. Status 1 if one differs.

    python benchmarks/effects.py [--rounds 3] [--only nqueens,triples]
"""

import argparse
import sys
from functools import cache
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.effects_expected import EXPECTED
from benchmarks.measure import Timed, interleaved
from sexplang.machine import Done, start
from sexplang.pipeline.pipeline import build
from sexplang.terms.program import Program
from sexplang.terms.source import Source
from sexplang.terms.values.value import Value

FOLDER = Path(__file__).resolve().parent / "effects"

PROGRAMS = {
    "countdown": (1_000, 10_000, 50_000),
    "fibonacci_recursive": (12, 17, 22),
    "product_early": (1, 10, 50),
    "iterator": (1_000, 10_000, 50_000),
    "nqueens": (5, 6, 7),
    "generator": (6, 10, 14),
    "tree_explore": (3, 6, 9),
    "triples": (10, 20, 40),
    "parsing_dollars": (10, 50, 200),
    "resume_nontail": (5, 20, 80),
    "handler_sieve": (50, 200, 800),
}
"""The sizes to time."""


@cache
def program(name: str) -> Program:
    """A program of the suite, built."""
    file = FOLDER / f"{name}.sexp"
    return build(Source(str(file), file.read_text("utf-8")), lambda path, importer: ())


def run(name: str, n: int) -> Value:
    """Its value for an input."""
    outcome = start(program(name), {"n": n})
    assert isinstance(outcome, Done), outcome
    return outcome.value


def timed(name: str, n: int) -> Timed:
    """A run that is ready to begin."""
    program(name)
    return lambda: run(name, n)


def main(words: list[str] | None = None) -> int:
    """Prints a line for each program and size; 1 if a result is not the expected one."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=3, help="interleaved rounds (default 3)")
    parser.add_argument("--only", default="", help="programs, separated by commas")
    options = parser.parse_args(words)
    chosen = options.only.split(",") if options.only else list(PROGRAMS)
    cases = [(name, n) for name in chosen for n in PROGRAMS[name]]
    found = interleaved([timed(*case) for case in cases], options.rounds)

    status = 0
    print(f"{'program':22}{'n':>7}{'milliseconds':>14}  result")
    for (name, n), taken in zip(cases, found, strict=True):
        value, expected = run(name, n), EXPECTED[name](n)
        said = f"{value} as expected" if value == expected else f"{value} differs from {expected}"
        status = max(status, value != expected)
        print(f"{name:22}{n:>7}{taken * 1e3:14.1f}  {said}")
    return int(status)


if __name__ == "__main__":
    sys.exit(main())
