"""Damaged replies that are JSON: how many are read, asked again, or read wrongly.

For each damage as many documents as asked for; the value read is held to the one that the document
was made from. Status 1 where one is read wrongly, or one that has a single reading is asked again.

    python benchmarks/json_replies.py [--documents 50] [--seed 2] [--show 0] [--only WORDS]
"""

import sys
from collections.abc import Iterator
from pathlib import Path
from random import Random

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks import replies
from benchmarks.json_corpus import LOST, SLIPS, Sloppy, document
from benchmarks.replies import Verdict, verdict
from sexplang.terms.template import OutputFormat

SEVERAL = "three at once"
GROUPS = {
    "one reading": ("none", *(slip for slip in SLIPS if slip != "no closer")),
    "several slips": (SEVERAL,),
    "something lost": ("no closer", *LOST),
}


def verdicts(name: str, documents: int, seed: int) -> Iterator[Verdict]:
    """What becomes of as many replies with one damage as asked for."""
    random = Random(f"{seed} {name}")
    for _ in range(documents):
        value = document(random)
        if name in LOST:
            text = LOST[name](value, random)
        else:
            slips = random.sample(SLIPS, 3) if name == SEVERAL else (name,)
            text = Sloppy(slips, random).document(value)
        yield verdict(text, OutputFormat("json", None), value, name not in LOST)


def main() -> int:
    """One line for each damage, and one for each group of them."""
    asked = replies.given(__doc__)
    return replies.tell(
        GROUPS, lambda name: list(verdicts(name, asked.documents, asked.seed)), asked
    )


if __name__ == "__main__":
    sys.exit(main())
