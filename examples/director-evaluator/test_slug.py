"""The tests of `slug.py`, which a model writes: the first that fails is told."""

import sys

from slug import slug

CASES = {
    "Fresh Bread": "fresh-bread",
    "Bread, from 7!": "bread-from-7",
    "  Rolls  &  Buns ": "rolls-buns",
}

for title, expected in CASES.items():
    given = slug(title)
    if given != expected:
        sys.exit(f"slug({title!r}) gives {given!r}, not {expected!r}")
sys.stdout.write("all is well\n")
