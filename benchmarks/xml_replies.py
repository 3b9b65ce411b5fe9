"""Damaged replies that are XML: how many are read as they were meant, refused, or read wrongly.

For each damage and each schema as many documents as asked for; the value read is held to the one
that the document was made from. A value that is another one is wrong, however near it is.

    python benchmarks/xml_replies.py [--documents 100] [--seed 1] [--show 0]
"""

import argparse
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from random import Random
from time import process_time

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from attrs import frozen

from benchmarks.xml_damage import DAMAGES, DOUBTFUL, HOPELESS, UNSAID
from benchmarks.xml_documents import KINDS, Kind, speaking
from benchmarks.xml_given import Damage, Given
from benchmarks.xml_texts import written
from benchmarks.xml_trees import IN_TREES, TREES
from sexplang.templates import read_reply
from sexplang.terms.template import OutputFormat


@frozen
class Verdict:
    """What became of one reply: `recovered`, `refused` or `wrong`."""

    what: str
    kind: str
    text: str
    said: str


def verdicts(name: str, damage: Damage, kind: Kind, documents: int, seed: int) -> Iterator[Verdict]:
    """What becomes of as many replies with one damage as asked for."""
    random = Random(f"{seed} {name} {kind.name}")
    made = tries = 0
    while made < documents and tries < 50 * documents:
        tries += 1
        value, tree = speaking(kind, random) if name in DOUBTFUL else kind.make(random)
        pretty = random.random() < 0.6
        text = damage(Given(kind, tree, written(tree, pretty), pretty), random)
        if text is None:
            continue
        made += 1
        reading = read_reply(text, OutputFormat("xml", kind.xsd))
        if reading.problem is not None:
            yield Verdict("refused", kind.name, text, reading.problem)
        # To Python, 1 is True and 1.0.
        elif name not in UNSAID and repr(reading.value) == repr(value):
            yield Verdict("recovered", kind.name, text, "; ".join(reading.repairs))
        else:
            yield Verdict("wrong", kind.name, text, f"{reading.value!r}\nnot {value!r}")


def untouched(given: Given, random: Random) -> str:
    return given.text


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--documents", type=int, default=100)
    arguments.add_argument("--seed", type=int, default=1)
    arguments.add_argument("--show", type=int, default=0, help="how many failures to print")
    arguments.add_argument("--only", default="")
    given = arguments.parse_args()
    begun = process_time()
    total: Counter[str] = Counter()
    print(f"{'damage':34} {'recovered':>10} {'refused':>8} {'wrong':>6}")
    every = {"none": untouched, **DAMAGES, **DOUBTFUL, **HOPELESS, **UNSAID}
    asked = [(name, damage, KINDS) for name, damage in every.items()]
    asked += [
        (f"in trees: {name}", damage, (TREES,))
        for name, damage in {**DAMAGES, **HOPELESS, **IN_TREES}.items()
    ]
    for name, damage, kinds in asked:
        if given.only and given.only != name:
            continue
        found = [
            each
            for kind in kinds
            for each in verdicts(name, damage, kind, given.documents, given.seed)
        ]
        if not found:
            continue
        counts = Counter(each.what for each in found)
        if name in DAMAGES:
            total += counts
        share = f"{100 * counts['recovered'] / max(len(found), 1):9.1f} %"
        print(f"{name:34} {share} {counts['refused']:8} {counts['wrong']:6}   of {len(found)}")
        for each in [each for each in found if each.what != "recovered"][: given.show]:
            print(f"--- {each.what}, {each.kind}\n{each.text}\n=> {each.said}\n")
    share = f"{100 * total['recovered'] / max(sum(total.values()), 1):9.1f} %"
    print(f"{'all that can be read':34} {share} {total['refused']:8} {total['wrong']:6}", end="   ")
    print(f"of {sum(total.values())}, {process_time() - begun:.0f} s")


if __name__ == "__main__":
    main()
