"""Damaged replies that are XML: how many are read, asked again, or read wrongly.

For each damage and each schema as many documents as asked for; the value read is held to the one
that the document was made from. A value that is another one is wrong, however near it is. Status 1
where one is read wrongly, or one that has a single reading is asked again.

    python benchmarks/xml_replies.py [--documents 50] [--seed 2] [--show 0] [--only WORDS]
"""

import sys
from collections.abc import Iterator
from pathlib import Path
from random import Random

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks import replies
from benchmarks.replies import Verdict, verdict
from benchmarks.xml_corpus import KINDS, LOST, MARKUP, SLIPS, SURE, Damage, Given, Kind, written
from sexplang.terms.template import OutputFormat
from sexplang.terms.values.boundary import plain

GROUPS = {
    "one reading": SURE,
    "to be guessed": SLIPS,
    "something lost": LOST,
    "markup in text": MARKUP,
}
DAMAGES = {name: damage for group in GROUPS.values() for name, damage in group.items()}


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
        yield verdict(text, OutputFormat("xml", kind.xsd), plain(value), name not in MARKUP)
        made += 1
        if made == documents:
            return


def main() -> int:
    """One line for each damage, and one for each group of them."""
    asked = replies.given(__doc__)

    def tried(name: str) -> list[Verdict]:
        each = (verdicts(name, DAMAGES[name], kind, asked.documents, asked.seed) for kind in KINDS)
        return [verdict for several in each for verdict in several]

    return replies.tell(GROUPS, tried, asked)


if __name__ == "__main__":
    sys.exit(main())
