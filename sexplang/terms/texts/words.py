"""The words of a text, for every comparison of texts: in an index, with a template, with a prompt.

Words are in lower case without accents. `parseHeader` is also `parse` and `header`. Text in scripts
without spaces (Chinese, Japanese, Korean, Thai) is split into pairs of characters.
"""

import re
from collections.abc import Iterator
from functools import cache
from itertools import groupby
from unicodedata import category, combining, name, normalize

_UNSPACED = (
    *(("\u0e00", "\u0eff"), ("\u1000", "\u109f"), ("\u1780", "\u17ff")),  # Thai to Khmer
    *(("\u3040", "\u30ff"), ("\u3400", "\u4dbf"), ("\u4e00", "\u9fff")),
    *(("\uac00", "\ud7af"), ("\U00020000", "\U0003ffff")),
)
# Separators beyond ASCII are spaces at this point. (To name such characters would be slow to load.)
_RUN = re.compile(r"[^\W_][^\0-/:-@[-`{-\x7f]*")
# Unicode has these as letters without a mark; an author without such a key types the plain one.
_ODD = str.maketrans(
    {"ı": "i", "ł": "l", "ø": "o", "đ": "d", "ħ": "h", "ŧ": "t", "æ": "ae", "œ": "oe"}
)
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")

_ENDING = re.compile(r"(?<=[a-z]{3})(?:ings?|ed|es|e|(?<!s)s)$")

_IDLE_WORDS = """
    a about all also an and any are as at be been but by can could did do does for from get had
    has have how i if in into is it its may me my no not of on one or our out should so some such
    than that the their them then there these they this to up us use used was we were what when
    where which who why will with would you your
"""
IDLE = frozenset(_IDLE_WORDS.split())
"""Words that every text has. A query of such words alone is searched all the same."""


def words(text: str) -> Iterator[str]:
    """Yield the words of a text, in order."""
    for run in _RUN.findall(text if text.isascii() else _plain(text)):
        if not run.isascii():
            for is_unspaced, chars in groupby(run, _is_unspaced):
                piece = "".join(chars)
                if is_unspaced:
                    yield from _pairs(piece)
                else:
                    for other in _RUN.findall(piece):
                        yield from [word.translate(_ODD) for word in _humps(other)]
        elif run.islower() or run.isdigit():
            yield run
        else:
            yield from _humps(run)


class _Letters(dict[int, int | str | None]):
    """The replacement of each character, by its code. A mark that is a letter of its own stays, as
    in Devanagari and with the voicing of kana; a separator becomes a space."""

    def __missing__(self, code: int) -> int | str | None:
        char = chr(code)
        kept: int | str | None = code
        is_accent = combining(char) and char not in "\u3099\u309a"
        if is_accent or category(char) in ("Cf", "Me") or "VARIATION SEL" in name(char, ""):
            kept = None
        elif code > 127 and not (char.isalnum() or category(char).startswith("M")):
            kept = " "
        self[code] = kept
        return kept


_LETTERS = _Letters({ord("\u0640"): None, ord("\u200b"): " "})  # the tatweel; a thin space


def _plain(text: str) -> str:
    """Return a text without accents, widths and ligatures, in one normal form."""
    return normalize("NFC", normalize("NFKD", text).translate(_LETTERS))


def roots(text: str) -> frozenset[str]:
    """Return the distinct words of a text without simple endings: `parsing` is `parse`."""
    return frozenset(map(_root, words(text)))


def content_roots(text: str) -> frozenset[str]:
    """Return the roots of a text without the words that every text has."""
    return frozenset([_root(word) for word in words(text) if word not in IDLE])


def _root(word: str) -> str:
    ending = _ENDING.search(word, len(word) - 4) if word.isascii() else None
    return word if ending is None else word[: ending.start()]


def _humps(piece: str) -> list[str]:
    """Return `parseHeader` with its parts, in lower case."""
    parts = _HUMP.split(piece)
    return [each.casefold() for each in ([piece, *parts] if len(parts) > 1 else parts)]


def _pairs(piece: str) -> list[str]:
    return [piece[at : at + 2] for at in range(len(piece) - 1)] or [piece]


@cache
def _is_unspaced(char: str) -> bool:
    return any(first <= char <= last for first, last in _UNSPACED)
