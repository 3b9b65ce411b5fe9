"""Search in the reference of names, by words of what a function does."""

from collections.abc import Iterable
from functools import cache
from math import log

from sexplang.hosts.reference.name_entries import Entry
from sexplang.terms.texts.words import content_roots, roots

MOST = 8
"""The most entries that a search gives."""

_SYNONYMS = {
    "text": "string str",
    "string": "text str",
    "array": "list",
    "vector": "list",
    "dict": "table",
    "dictionary": "table",
    "object": "table",
    "map": "table",
    "regex": "regular expression re",
    "regexp": "regular expression re",
    "strip": "trim",
    "uppercase": "upper upcase",
    "lowercase": "lower downcase",
    "concat": "concatenate append join",
    "average": "mean",
    "unique": "distinct duplicate",
    "duplicate": "distinct unique",
    "exception": "error",
    "throw": "raise error",
    "assert": "error",
    "parallel": "par same time",
    "time": "now date",
    "shell": "command script run",
    "variable": "bind define",
    "assign": "bind",
    "iterate": "each loop",
    "maximum": "max largest",
    "minimum": "min smallest",
    "exist": "has contain",
    "size": "length count",
    "slice": "substring part",
    "conditional": "if cond",
    "macro": "syntax",
    "wait": "sleep timeout",
}
"""Words of other languages, and words of this one."""

_NAME, _LIKE_NAME, _DOC, _LIKE_DOC = 4.0, 3.0, 2.0, 1.0

_LEAST = 0.4
"""An entry whose weight is a smaller part of the first one's is left out."""


def search(query: str, entries: Iterable[Entry], most: int = MOST) -> list[Entry]:
    """Return the entries that fit the words of a query, the best first.

    An entry that has more of the words comes first; among equals, one that has rarer words, and in
    its name. One that fits much less than the first is left out.
    """
    wanted = [(root, _list_alike(root)) for root in sorted(content_roots(query) or roots(query))]
    known = [(each, roots(each.name), roots(each.doc)) for each in entries]
    rows = [[_weigh(word, alike, name, doc) for word, alike in wanted] for _, name, doc in known]
    rarity = [
        log(1 + len(rows) / (1 + sum(row[at] > 0 for row in rows))) for at in range(len(wanted))
    ]
    found = []
    for (each, _, _), row in zip(known, rows, strict=True):
        score = sum(weight * rare for weight, rare in zip(row, rarity, strict=True))
        if score:
            has = sum(weight > 0 for weight in row)
            found.append((-has, -score, len(each.name), each.name, each))
    found.sort(key=lambda row: row[:-1])
    return [each for _, score, _, _, each in found[:most] if score <= found[0][1] * _LEAST]


def _weigh(word: str, alike: frozenset[str], name: frozenset[str], doc: frozenset[str]) -> float:
    """Return the weight of a word in an entry, 0 if the entry has neither it nor one like it."""
    return max(
        _NAME * (word in name),
        _LIKE_NAME * bool(alike & name),
        _DOC * (word in doc),
        _LIKE_DOC * bool(alike & doc),
    )


@cache
def _synonyms() -> dict[str, frozenset[str]]:
    """Return the roots of the words that a root may stand for."""
    found: dict[str, frozenset[str]] = {}
    for word, others in _SYNONYMS.items():
        for root in roots(word):
            found[root] = found.get(root, frozenset()) | roots(others)
    return found


def _list_alike(root: str) -> frozenset[str]:
    return _synonyms().get(root, frozenset())
