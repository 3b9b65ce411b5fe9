"""Three subagents side by side, beside the same three one after another.

A server in a process of its own answers each call of a model after 300 ms. Both in the same run,
when it has its connections: seconds on the run's clock, medians over the rounds, and their
ratio. Then how many of 300 subagents succeed where a tenth of the calls is answered by 429, 500 or
529.

    python benchmarks/subagents.py [--rounds 5] [--latency 0.3]
"""

import argparse
import sys
from pathlib import Path
from statistics import median

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

from support.wide_server import WideServer

import sexplang
from sexplang import Limits

RATIO = 2.7
"""Three at a time are so many times faster, at least."""
SUCCESS = 0.95

PROGRAM = """
(define names ["tea" "rice" "salt"])
(define (one name) (spawn-subagent task: name))
(define (all) (run-parallel-subagents (map (lambda (name) {id: name task: name}) names)))
(all)
(define begun (now))
(define in-turn (map one names))
(define between (now))
(define together (all))
[(- between begun) (/ together.total_duration 1000) (append in-turn together.results)]
"""
MANY = """
(run-parallel-subagents (map (lambda (n) {id: (str n) task: (str "number " n)}) (range 300)))
"""


def main() -> int:
    parser = argparse.ArgumentParser(description="Subagents side by side and in turn.")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--latency", type=float, default=0.3)
    options = parser.parse_args()

    in_turn, together = [], []
    with WideServer(latency=options.latency) as server:
        for _ in range(options.rounds):
            one, other, results = sexplang.run(PROGRAM, model=f"{server.url}#m")
            assert len(results) == 6
            in_turn.append(one)
            together.append(other)
    ratio = median(in_turn) / median(together)
    print(f"three in turn    {median(in_turn):6.3f} s ({min(in_turn):.3f} to {max(in_turn):.3f})")
    print(
        f"three together   {median(together):6.3f} s ({min(together):.3f} to {max(together):.3f})"
    )
    print(f"faster by        {ratio:6.2f} (at least {RATIO})")

    with WideServer(latency=0.01, failing=0.1) as server:
        value = sexplang.run(MANY, model=f"{server.url}#m", limits=Limits(places=30))
        requests = server.counts()["requests"]
    share = value["success_count"] / 300
    print(f"{'succeeded':16}{share:7.1%} of 300, in {requests} requests (more than {SUCCESS:.0%})")
    return 0 if ratio >= RATIO and share > SUCCESS else 1


if __name__ == "__main__":
    sys.exit(main())
