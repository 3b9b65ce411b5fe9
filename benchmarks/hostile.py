"""What it takes to end programs that are made to break whoever reads, compiles or runs them.

Each in a process of its own, whose memory and processor time the operating system bounds: its
code (empty for a value), the processor time from the text to the end, and the most memory that the
process held. The tests hold the same programs to their codes. Status 1 if one of them has another.

    python benchmarks/hostile.py [GROUP…]
"""

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

from support.bounded import ended

ENOUGH = 1.0
"""Seconds in which a hostile program should have ended."""


def main() -> int:
    """One line for each program, and those that took longest at the end."""
    # Not above: each process imports what stands there, and would hold all these texts.
    from support.hostile import GROUPS

    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("groups", nargs="*", metavar="GROUP", help=", ".join(GROUPS))
    asked = parser.parse_args().groups or list(GROUPS)
    unknown = [group for group in asked if group not in GROUPS]
    if unknown:
        parser.error(f"there is no group {unknown[0]}")
    taken: list[tuple[float, str]] = []
    wrong = 0
    print(f"{'CPU s':>6} {'MB':>5}  {'code':18} program")
    for group in asked:
        for name, hostile in GROUPS[group].items():
            ending = ended(hostile)
            is_right = ending.exit == 0 and ending.code in hostile.codes
            wrong += not is_right
            taken.append((ending.seconds, f"{group}: {name}"))
            mark = "" if is_right else f"   NOT {' or '.join(sorted(hostile.codes)) or 'a value'}"
            line = f"{ending.seconds:6.2f} {ending.megabytes:5}  {ending.code:18} {group}: {name}"
            print(line + mark, flush=True)
    slow = sorted([each for each in taken if each[0] >= ENOUGH], reverse=True)
    counts = f"{len(taken)} programs, {wrong} with another code, {len(slow)} in"
    print(f"\n{counts} {ENOUGH:g} s or more")
    for seconds, name in slow:
        print(f"{seconds:6.2f}  {name}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
