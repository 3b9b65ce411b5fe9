"""A text to its words: the same wherever texts are compared, in an index, with a template, with a
prompt.

`parseHeader` is also `parse` and `Header`. Scripts that put no space between words (Chinese,
Japanese, Korean) are pairs of characters.
"""

import re
from collections.abc import Iterator
from itertools import groupby
from unicodedata import normalize

_UNSPACED = (
    *(("\u3040", "\u30ff"), ("\u3400", "\u4dbf"), ("\u4e00", "\u9fff")),
    *(("\uac00", "\ud7af"), ("\uf900", "\ufaff"), ("\U00020000", "\U0003ffff")),
)
_RUN = re.compile(r"[^\W_]+")
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")

_ENDING = re.compile(r"(?<=[a-z]{3})(?:ings?|ed|es|e|(?<!s)s)$")

_IDLE_WORDS = """
    a about all also an and any are as at be been but by can could did do does for from get had
    has have how i if in into is it its may me my no not of on one or our out should so some such
    than that the their them then there these they this to up us use used was we were what when
    where which who why will with would you your
"""
IDLE = frozenset(_IDLE_WORDS.split())
"""Words that every text has. A query of nothing else is looked for all the same."""


def words(text: str) -> Iterator[str]:
    """The words of a text, in order."""
    for run in _RUN.findall(normalize("NFKC", text)):
        if run.islower() or run.isdigit():
            yield run
        elif run.isascii():
            yield from _humps(run)
        else:
            for is_unspaced, chars in groupby(run, _is_unspaced):
                piece = "".join(chars)
                yield from _pairs(piece) if is_unspaced else _humps(piece)


def roots(text: str) -> frozenset[str]:
    """The words of a text in small letters, each once, without simple endings: `parsing` is
    `parse`."""
    return frozenset(map(_root, words(text)))


def telling(text: str) -> frozenset[str]:
    """What of that tells what a text is about: not the words that every text has."""
    return frozenset([_root(word) for word in words(text) if word.casefold() not in IDLE])


def _root(word: str) -> str:
    small = word.casefold()
    ending = _ENDING.search(small, len(small) - 4) if small.isascii() else None
    return small if ending is None else small[: ending.start()]


def _humps(piece: str) -> list[str]:
    """`parseHeader` with its parts."""
    parts = _HUMP.split(piece)
    return [piece, *parts] if len(parts) > 1 else parts


def _pairs(piece: str) -> list[str]:
    return [piece[at : at + 2] for at in range(len(piece) - 1)] or [piece]


def _is_unspaced(char: str) -> bool:
    return any(first <= char <= last for first, last in _UNSPACED)
