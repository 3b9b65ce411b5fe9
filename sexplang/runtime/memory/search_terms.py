"""A text → the words that it is found by: the same for what is indexed and for what is asked."""

from collections import Counter
from collections.abc import Iterable

from sexplang.terms.texts.words import IDLE, words

MOST_TERMS = 64
"""How many different words of a query are looked for: of a longer one those it says most often."""

LONGEST = 100_000
"""Characters of a query that are looked at."""


def terms(texts: Iterable[str]) -> tuple[str, ...]:
    """The words to look for, each once: those said most often first, then by their place."""
    found = Counter(word for text in texts for word in words(text[:LONGEST]))
    telling = [(word, count) for word, count in found.items() if word not in IDLE]
    ranked = sorted(telling or found.items(), key=lambda each: -each[1])
    return tuple([word for word, _ in ranked[:MOST_TERMS]])
