"""The words of a text, equally for indexing and for searching."""

from collections import Counter
from collections.abc import Iterable

from sexplang.terms.texts.words import IDLE, words

MOST_TERMS = 64
"""Maximum number of different words of a query. The most frequent ones are used."""

LONGEST = 100_000
"""Maximum characters of a query that are read."""


def terms(texts: Iterable[str]) -> tuple[str, ...]:
    """Return the words to search for, each once: the most frequent first, then in order of
    appearance."""
    found = Counter(word for text in texts for word in words(text[:LONGEST]))
    telling = [(word, count) for word, count in found.items() if word not in IDLE]
    ranked = sorted(telling or found.items(), key=lambda each: -each[1])
    return tuple([word for word, _ in ranked[:MOST_TERMS]])
