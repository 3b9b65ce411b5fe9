"""Recordings of generated programs: each repeated under five hash seeds, and each damaged line by
line (a byte or a digit changed, a line cut, swapped, taken out, doubled).

What is counted: ends that are not those of the recorded run, and damages of which the line is not
named. Both have to be none; status 1 if they are not.

    python benchmarks/recordings.py [--recordings 20]
"""

import argparse
import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

from support import damaged


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--recordings", type=int, default=20, help="how many (default 20)")
    options = parser.parse_args()

    other, missed, tried = 0, [], 0
    with TemporaryDirectory() as name:
        folder = Path(name)
        ends = {str(seed): damaged.record(seed, folder) for seed in range(options.recordings)}
        for seed in range(5):
            command = [sys.executable, damaged.__file__, name]
            environment = os.environ | {"PYTHONHASHSEED": str(seed)}
            told = subprocess.check_output(command, env=environment, text=True)
            again = dict(line.split(" ", 1) for line in told.splitlines())
            other += sum(again.get(each) != repr(end) for each, end in ends.items())
        for seed in range(options.recordings):
            more, wrong = damaged.misread(folder / f"{seed}.jsonl", seed)
            tried, missed = tried + more, missed + wrong
    print(f"{options.recordings} recordings, repeated under 5 hash seeds: {other} other ends")
    print(f"{tried} damages: {len(missed)} not refused by line")
    for each in missed[:10]:
        print(*each)
    return 1 if other or missed else 0


if __name__ == "__main__":
    sys.exit(main())
