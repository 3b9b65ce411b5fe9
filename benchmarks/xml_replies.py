"""Damaged replies that are XML: how many are read, asked again, or read wrongly.

For each damage and each schema as many documents as asked for; the value read is held to the one
that the document was made from. A value that is another one is wrong, however near it is. Status 1
where one is read wrongly, or one that has a single reading is asked again.

    python benchmarks/xml_replies.py [--documents 50] [--seed 2] [--show 0] [--only WORDS]
"""

import argparse
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Literal

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from attrs import frozen

from benchmarks.xml_corpus import KINDS, LOST, MARKUP, SLIPS, SURE, Damage, Given, Kind, written
from sexplang.templates import read_reply
from sexplang.terms.template import OutputFormat

GROUPS = {
    "one reading": SURE,
    "to be guessed": SLIPS,
    "something lost": LOST,
    "markup in text": MARKUP,
}


@frozen
class Verdict:
    """What became of one reply, and what was said of it."""

    what: Literal["read", "asked", "wrong"]
    text: str
    said: str


def verdicts(name: str, damage: Damage, kind: Kind, documents: int, seed: int) -> Iterator[Verdict]:
    """What becomes of as many replies with one damage as asked for."""
    random = Random(f"{seed} {name} {kind.root}")
    made = 0
    for _ in range(50 * documents):
        value, tree = kind.make(random)
        pretty = random.random() < 0.6
        text = damage(Given(kind, tree, written(tree, pretty), pretty), random)
        if text is None:
            continue
        reading = read_reply(text, OutputFormat("xml", kind.xsd))
        if reading.problem is not None:
            yield Verdict("asked", text, reading.problem)
        # To Python, 1 is True and 1.0.
        elif name not in MARKUP and repr(reading.value) == repr(value):
            yield Verdict("read", text, "; ".join(reading.repairs))
        else:
            yield Verdict("wrong", text, f"{reading.value!r}\nnot {value!r}")
        made += 1
        if made == documents:
            return


def main() -> int:
    """One line for each damage, and one for each group of them."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--documents", type=int, default=50)
    parser.add_argument("--seed", type=int, default=2)
    parser.add_argument("--show", type=int, default=0, help="how many that were not read to print")
    parser.add_argument("--only", default="")
    given = parser.parse_args()
    totals: dict[str, Counter[str]] = {}
    print(f"{'':34} {'read':>7} {'asked':>7} {'wrong':>7}")
    for group, damages in GROUPS.items():
        total = totals[group] = Counter()
        for name, damage in damages.items():
            if given.only not in name:
                continue
            found = [
                each
                for kind in KINDS
                for each in verdicts(name, damage, kind, given.documents, given.seed)
            ]
            counts = Counter([each.what for each in found])
            total += counts
            print(line(name, counts), flush=True)
            for each in [each for each in found if each.what != "read"][: given.show]:
                print(f"--- {each.what}\n{each.text}\n=> {each.said}\n")
    print()
    for group, total in totals.items():
        print(line(f"all: {group}", total))
    wrong = sum(total["wrong"] for total in totals.values())
    return 1 if wrong or totals["one reading"]["asked"] else 0


def line(name: str, counts: "Counter[str]") -> str:
    """How many of what."""
    return f"{name:34} {counts['read']:7} {counts['asked']:7} {counts['wrong']:7}"


if __name__ == "__main__":
    sys.exit(main())
