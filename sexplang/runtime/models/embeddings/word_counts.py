"""Embeddings that count the words of a text, for scripts of replies: no model is needed.

Texts with words in common are similar. A word is counted at a place that its digest gives, so the
same text has the same vector in every run.
"""

import re
from hashlib import sha256
from math import hypot

MOST_DIMENSIONS = 4_096

_WORDS = re.compile(r"\w+")


def count_words(text: str, dimensions: int) -> list[float]:
    """Return a vector of length 1 with so many numbers; zeros for a text without words."""
    counts = [0.0] * dimensions
    for word in _WORDS.findall(text.casefold()):
        counts[int(sha256(word.encode()).hexdigest(), 16) % dimensions] += 1.0
    length = hypot(*counts) or 1.0
    return [count / length for count in counts]
