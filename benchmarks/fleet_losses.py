"""Workers and drivers that are killed and stopped, again and again.

    python benchmarks/fleet_losses.py [leaves] [driver] [past] [limits] [nosync] [times=20]

A cluster of its own; `nosync` turns fsync off. Each time three workers with five places each begin,
with a lease of two seconds, and the laws of `tests/support/lost_workers.py` are checked; the first
that does not hold ends the script.

- `leaves`: 1,000 requests of 20 ms; one worker is killed and one stopped when half are done;
- `driver`: the driver of a run with 400 open branches is killed, stopped and woken at the end,
  stopped and woken as soon as another worker has the run, in turns;
- `past`: the same behind 100,000 effects, in turns with a snapshot of an earlier process and
  without one; and what a resumption of them takes;
- `limits`: 100 calls with at most 10 in flight and 60 in five seconds; the driver and another
  worker are killed in turns.
"""

import signal
import sys
from collections.abc import Callable
from pathlib import Path
from statistics import median
from time import monotonic

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

from support.lost_workers import (  # noqa: E402
    Loss,
    forget_snapshot,
    list_past,
    lose_driver,
    lose_limited,
    lose_performers,
    new_fleet,
    past_database,
)
from support.postgres_server import serve_postgres  # noqa: E402

from sexplang.pipeline.pipeline import build  # noqa: E402
from sexplang.runs.durable_run import resume_run  # noqa: E402
from sexplang.runs.program_texts import read_program  # noqa: E402
from sexplang.runtime.journal.stored_journal import read_rows  # noqa: E402

PAST = 100_000

WAYS = ((signal.SIGKILL, False), (signal.SIGSTOP, False), (signal.SIGSTOP, True))
"""How a driver is lost, and whether it is woken early."""


def repeat(name: str, times: int, lose: Callable[[int], Loss]) -> None:
    """Print the worst and the median of so many losses."""
    found = []
    for n in range(times):
        found.append(lose(n))
        print(f"{name} {n}: {found[-1]}", file=sys.stderr, flush=True)
    done = [each.seconds for each in found]
    told = [f"done {tell(done)} s after the loss"]
    taken = [each.taken for each in found if each.taken is not None]
    told += [f"taken over {tell(taken)} s"] if taken else []
    told += [
        f"performed twice {tell([each.twice for each in found])}",
        f"reported {tell([each.reported for each in found])}",
        f"open {tell([each.open for each in found])}",
    ]
    if found[0].most:
        most, flying = max(each.most for each in found), max(each.flying for each in found)
        told += [f"at most {most} in a window", f"{flying} in flight"]
    print(f"{name}, {times} times: {'; '.join(told)}", flush=True)


def tell(found: list[float] | list[int]) -> str:
    return f"median {median(found):.3g}, worst {max(found):.3g}"


def measure_resumption(url: str, template: str) -> None:
    """Print how long the parts of a resumption of all past effects take."""
    for whole in (False, True):
        with new_fleet(url, "resumption", template) as fleet:
            store, python = fleet.store, (str(fleet.folder / "tools.py"),)
            texts = read_program(store, run := store.find("r"))
            program = build(texts.source, texts.make_finder(python))
            began = monotonic()
            read = read_rows(store, run, whole=whole)
            middle = monotonic()
            declared = {"plain": "safe", "hold": "safe"}
            given = {"declared": declared, "use_snapshot": not whole, "carries": True}
            resume_run(store, run, program, **given)
            ended = monotonic()
        name = "from its beginning" if whole else "from its snapshot"
        print(
            f"a resumption of {PAST} effects {name}: {ended - middle:.2f} s, of which reading "
            f"{len(read.rows)} rows takes {middle - began:.2f} s",
            flush=True,
        )


def main(words: list[str]) -> None:
    which = [word for word in words if "=" not in word and word != "nosync"]
    which = which or ["leaves", "driver", "past", "limits"]
    times = next((int(word[6:]) for word in words if word.startswith("times=")), 20)
    settings = ["fsync=off"] if "nosync" in words else []
    with serve_postgres(*settings) as url:
        if "leaves" in which:
            repeat("1,000 leaves", times, lambda n: lose_performers(url, "lost"))
        for how, is_early in WAYS if "driver" in which else ():
            name = f"driver, {how.name}{', woken early' if is_early else ''}"
            repeat(name, times, lambda n: lose_driver(url, "lost", how, wakes_early=is_early))  # noqa: B023
        if "past" in which:
            with past_database(url, "past", PAST) as template:
                measure_resumption(url, template)
                before = list_past(PAST)

                def lose_long(n: int) -> Loss:
                    prepare = forget_snapshot if n % 2 else None
                    given = {"template": template, "before": before, "prepare": prepare}
                    return lose_driver(url, "lost", how, wakes_early=is_early, **given)

                for how, is_early in WAYS:
                    name = f"driver of {PAST} effects, {how.name}"
                    repeat(name + ", woken early" * is_early, times, lose_long)
        if "limits" in which:
            repeat("limits", times, lambda n: lose_limited(url, "lost", n % 2 == 1))


if __name__ == "__main__":
    main(sys.argv[1:])
