"""Seeded runs of 64 branches under random budgets, against a server that is slow and fails.

What is counted: calls, tokens and dollars above a limit, and accounts in which something is still
reserved when the run is over. Both have to be none; status 1 if they are not.

    python benchmarks/budgets.py [--runs 1000]
"""

import argparse
import sys
from collections import Counter
from pathlib import Path
from time import monotonic

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

from support import budgeted
from support.wide_server import WideServer


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=1_000, help="runs (default 1000)")
    options = parser.parse_args()

    ends: Counter[str] = Counter()
    over, leaks, calls, since = 0, 0, 0, monotonic()
    with WideServer(latency=0.003, spread=True, failing=0.15) as server:
        for seed in range(options.runs):
            seen = budgeted.run(seed, server)
            over += len(seen.over)
            leaks += len(seen.leaks)
            calls += seen.distinct
            error = getattr(seen.outcome, "error", None)
            ends["done" if error is None else str(error.fields["reason"])] += 1
    print(
        f"{options.runs} runs of {budgeted.WIDTH} branches, {calls} calls, "
        f"{monotonic() - since:.0f} seconds"
    )
    print(f"above a limit: {over}")
    print(f"accounts with something reserved at the end: {leaks}")
    print("ends: " + ", ".join(f"{end} {count}" for end, count in ends.most_common()))
    return 1 if over or leaks else 0


if __name__ == "__main__":
    sys.exit(main())
