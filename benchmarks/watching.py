"""What the live view in a terminal costs: processor time of one drawing, and of each branch.

A branch begins, asks a model once and ends; nothing is performed, and the terminal is a string. One
drawing must cost the same whatever the width.

    python benchmarks/watching.py [--widths 100 1000 10000]
"""

import argparse
import io
import sys
from pathlib import Path
from time import process_time

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from sexplang.hosts.terminal.progress import TICK, Progress
from sexplang.runtime.driver.events import Finished, Queued, Started
from sexplang.runtime.journal.rows import Row
from sexplang.terms.effect import Request
from sexplang.terms.task import Context, Conversation
from sexplang.terms.work import Work

DRAWINGS = 100
USED = {"input_tokens": 7, "output_tokens": 3}


def measured(width: int) -> tuple[float, float]:
    """Seconds of one drawing while all branches are at work, and of a branch from begin to end."""
    progress = Progress(io.StringIO(), live=True, size=lambda: (100, 40), every=3600)
    working = progress.work_tree
    root, began = working.run(0.0), process_time()
    branches = []
    for at in range(width):
        branch = working.work(Work(f"b{at}", "branch", str(at)), root, 0.0)
        task = working.work(Work(f"w{at}", "task", "ask"), branch, 0.0)
        asked = Request(
            str(at), "model", ({"messages": ()},), Context((Conversation("ask", "", 0),))
        )
        progress(Queued(asked))
        progress(Started(asked))
        branches.append((asked, (branch, task, working.request(asked, task, 0.0))))
    begun = process_time()
    for _ in range(DRAWINGS):
        progress.draw()
    drawn = process_time()
    for asked, works in branches:
        row = Row(asked.id, "model", (), {"model": "m", "usage": USED}, False, 1, 0.0, 1.0)
        progress(Finished(asked, row))
        for work in reversed(works):
            working.end(work, 1.0, None, cut=False)
    ended = process_time()
    progress.close()
    return (drawn - begun) / DRAWINGS, (begun - began + ended - drawn) / width


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--widths", type=int, nargs="+", default=[100, 1_000, 10_000])
    for width in parser.parse_args().widths:
        drawing, branch = measured(width)
        print(
            f"{width:>6} branches: {drawing * 1e3:.2f} ms a drawing, "
            f"{drawing / TICK:.2%} of a core; {branch * 1e6:.0f} µs a branch"
        )


if __name__ == "__main__":
    main()
