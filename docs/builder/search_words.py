"""The words of the search: how a text is divided, which endings and which words do not count.

The tables are written into the index, and the page divides a question by them in the same way.
"""

import re
from collections.abc import Iterator

WORD = r"[A-Za-z0-9_]+(?:'[a-z]+)?"
"""A word."""

NAME = r"[A-Za-z0-9_+*/<>=?!%.:&-]*[A-Za-z0-9_+*/<>=?!%&]"
"""A name of the language, of a command or of an option, with its signs."""

ENDINGS = (
    ("ies", "y", 3),
    ("ied", "y", 3),
    ("sses", "ss", 2),
    ("xes", "x", 2),
    ("ches", "ch", 2),
    ("shes", "sh", 2),
    ("ations", "", 4),
    ("ation", "", 4),
    ("ings", "", 3),
    ("ing", "", 3),
    ("ions", "", 4),
    ("ion", "", 4),
    ("ates", "", 4),
    ("ated", "", 4),
    ("ating", "", 4),
    ("ate", "", 4),
    ("al", "", 5),
    ("ers", "", 4),
    ("er", "", 4),
    ("ed", "", 3),
    ("es", "", 3),
    ("ly", "", 4),
    ("s", "", 3),
    ("e", "", 3),
)
"""An ending, what stands for it, and how many letters must be left of the word."""

_IDLE = """
    a about all also am an and any are as at be been but by can could did do does for from get
    had has have how i if in into is it its let make may me my not of on one or our out should
    so some such than that the their them then there these they this to up us use used using want
    was we were what when where which who why will with would you your instead own please need
"""
IDLE = frozenset(_IDLE.split())
"""Words that every page has. A question of such words alone is looked for all the same."""


def divide(text: str) -> Iterator[str]:
    """Yield the roots of the words of a text, and its names as they are written."""
    lower = text.lower()
    for found in re.finditer(WORD, lower):
        yield root(found[0])
    for found in re.finditer(NAME, lower):
        if not re.fullmatch(WORD, found[0]):
            yield found[0]


def root(word: str) -> str:
    """Return a word without its ending."""
    word = word.partition("'")[0]
    for ending, instead, least in ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= least:
            if ending == "s" and word.endswith(("ss", "us", "is")):
                continue
            short = word[: len(word) - len(ending)] + instead
            if ending in ("ing", "ings", "ed", "er", "ers") and re.search(
                r"([bdgmnprt])\1$", short
            ):
                short = short[:-1]
            return short
    return word
