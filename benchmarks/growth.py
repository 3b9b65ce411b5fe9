"""How the work on what outsiders wrote grows with its size, for the worst shapes of it.

Each routine is tried with each of its shapes at n, 2n, 4n and 8n. What counts its own work (steps,
elements, opcodes) is held to that count; else the median processor time of five calls counts, each
in a process of its own, and the most memory that it held. The exponent is the slope of the four on
logarithmic scales: 1 is linear. Status 1 where one is greater than its bound, 1.15 for counted
work and 1.3 for time and memory.

    python benchmarks/growth.py [--only WORDS] [--rounds 5] [--part 1]

A table of routines is a module of this folder that is named in TABLES and has ROUTINES.
"""

import argparse
import importlib
import os
import sys
from collections.abc import Callable, Iterator
from math import log
from pathlib import Path
from resource import RUSAGE_SELF, getrusage
from statistics import median
from typing import Any, Protocol

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from attrs import frozen

from benchmarks.measure import seconds

TABLES = ("growth_replies", "growth_schemas", "growth_index", "growth_editor", "growth_library")

COUNTED, TIMED = 1.15, 1.3
SIZES = (1, 2, 4, 8)
SOON = 4.0
"""Milliseconds below which a time says nothing of growth."""
SMALL = 8.0
"""Megabytes below which memory says nothing of it."""


@frozen
class Routine:
    """One routine and one shape: `make(n)` is what it is given, of a size that grows with n, and
    `work` does it and says how much it was, or None where only the clock can tell."""

    name: str
    make: Callable[[int], Any]
    work: Callable[[Any], int | None]
    n: int = 4_000


class Table(Protocol):
    """A module of routines."""

    ROUTINES: tuple[Routine, ...]


@frozen
class Growth:
    """What was found for one routine: the unit is `steps`, `ms` or `MB`."""

    unit: str
    found: tuple[float, ...]
    bound: float
    least: float

    @property
    def exponent(self) -> float:
        """The slope of the least squares; 0 where all is too little to tell."""
        if self.found[-1] < self.least:
            return 0.0
        # The first megabytes may lie in what the process has free.
        free = self.least if self.unit == "MB" else 0.0
        points = [
            (log(size), log(max(each, self.least / 8) + free))
            for size, each in zip(SIZES, self.found, strict=True)
        ]
        across, up = (sum(each) / len(points) for each in zip(*points, strict=True))
        above = sum((one - across) * (other - up) for one, other in points)
        return above / sum((one - across) ** 2 for one, _ in points)

    @property
    def is_kept(self) -> bool:
        return self.exponent <= self.bound


def growths(routine: Routine, rounds: int) -> Iterator[Growth]:
    """What grows how in one routine."""
    given = [routine.make(routine.n * size) for size in SIZES]
    # A smaller call: one of the sizes would be in caches, and a larger one would leave memory free.
    if routine.work(routine.make(max(1, routine.n // 2))) is not None:
        counted = [routine.work(each) or 0 for each in given]
        yield Growth("steps", tuple(map(float, counted)), COUNTED, 1.0)
        return
    found = [[_alone(routine, each) for _ in range(rounds)] for each in given]
    times = [median([1000 * each for each, _ in several]) for several in found]
    yield Growth("ms", tuple(times), TIMED, SOON)
    peaks = [median([each for _, each in several]) for several in found]
    yield Growth("MB", tuple(peaks), TIMED, SMALL)


def _alone(routine: Routine, given: Any) -> tuple[float, float]:
    """The seconds and the megabytes of one call, in a process of its own."""
    reads, writes = os.pipe()
    child = os.fork()
    if not child:
        before = int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGESIZE")
        took = seconds(lambda: routine.work(given))
        peak = getrusage(RUSAGE_SELF).ru_maxrss * 1024 - before
        os.write(writes, f"{took} {peak / 1e6}".encode())
        os._exit(0)
    os.close(writes)
    with os.fdopen(reads) as told:
        took, peak = map(float, told.read().split())
    os.waitpid(child, 0)
    return took, peak


def routines() -> list[Routine]:
    """Those of all tables."""
    found: list[Routine] = []
    for name in TABLES:
        table: Table = importlib.import_module(f"benchmarks.{name}")  # type: ignore[assignment]
        found += table.ROUTINES
    return found


def main() -> int:
    """One line for each routine and what grows in it."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--only", default="", help="a part of the names of those to be tried")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--part", type=float, default=1, help="how much of each size, as 0.1")
    given = parser.parse_args()
    broken: list[str] = []
    print(f"{'routine':58} {'':5} {'n':>9} {'2n':>9} {'4n':>9} {'8n':>9} {'exponent':>9}")
    for each in routines():
        if given.only not in each.name:
            continue
        tried = Routine(each.name, each.make, each.work, max(1, int(each.n * given.part)))
        for growth in growths(tried, given.rounds):
            shown = " ".join(
                f"{amount:9.{0 if growth.unit == 'steps' else 1}f}" for amount in growth.found
            )
            mark = "" if growth.is_kept else f"  > {growth.bound}"
            print(
                f"{each.name:58} {growth.unit:5} {shown} {growth.exponent:9.2f}{mark}", flush=True
            )
            if not growth.is_kept:
                broken.append(each.name)
    print(f"\n{len(broken)} grow more than they may{': ' if broken else ''}{'; '.join(broken)}")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
