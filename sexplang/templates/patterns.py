"""Patterns of schemas to matchers that take linear time, whatever the pattern and the text.

Python's own engine is stalled by `(a|a)*b`. The linear one has no lookahead and no backreferences:
a pattern with one is refused by name where its schema is read.
"""

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Any

# Bytes of a compiled pattern, and what it then costs at worst for each character.
_SIZES = {1 << 13: 1, 1 << 16: 8, 1 << 19: 64, 1 << 22: 512}

MOST_COST = 640
"""What the patterns of one schema may cost together."""

MOST_CHARACTERS = 20_000
"""Of all patterns of one schema."""

LONGEST = 10_000_000
"""Characters of a text, over what its pattern costs, that are looked at."""

_TOKEN = re.compile(r"\\[\s\S]|\[\^?\]?(?:\\[\s\S]|[^\]\\])*\]?|\(\?<?[=!>]|\(\?[|#R&]|[\s\S]")
_BEYOND = {
    "(?=": "a lookahead",
    "(?!": "a lookahead",
    "(?<=": "a lookbehind",
    "(?<!": "a lookbehind",
    "(?>": "an atomic group",
}


class BadPattern(Exception):
    """Says which pattern cannot be used, and why."""


class Pattern:
    """A pattern that is looked for in texts."""

    def __init__(self, pattern: str, validator: Any, cost: int) -> None:
        self.pattern = pattern
        self.cost = cost
        self._validator = validator

    def fits(self, text: str) -> bool:
        """Whether it is found somewhere in a text, which is not too long for it."""
        found: bool = len(text) * self.cost <= LONGEST and self._validator.is_valid(text)
        return found


@lru_cache(maxsize=1024)
def pattern(text: str) -> Pattern:
    """The matcher of a pattern as JSON Schema writes it. Raises BadPattern."""
    import jsonschema_rs

    if len(text) > MOST_CHARACTERS:
        raise BadPattern(f"the pattern `{text[:60]}` has more than {MOST_CHARACTERS:,} characters")
    for size, cost in _SIZES.items():
        engine = jsonschema_rs.RegexOptions(size_limit=size)
        try:
            validator = jsonschema_rs.validator_for(
                {"pattern": text}, offline=True, pattern_options=engine
            )
        except (ValueError, TypeError):
            continue
        return Pattern(text, validator, cost)
    raise BadPattern(f"the pattern `{text[:60]}` {_why(text)}")


def checked(patterns: Iterable[str]) -> int:
    """What the patterns of one schema cost for each character. Raises BadPattern."""
    cost = characters = 0
    for each in dict.fromkeys(patterns):
        characters += len(each)
        cost += pattern(each).cost
        if cost > MOST_COST or characters > MOST_CHARACTERS:
            raise BadPattern(f"its patterns are too large together, from `{each[:60]}` on")
    return cost


def _why(text: str) -> str:
    for token in _TOKEN.findall(text):
        if token in _BEYOND:
            return f"has {_BEYOND[token]}, `{token}`, which the linear engine has not"
        if re.fullmatch(r"\\[1-9]|\\k", token):
            return f"has a backreference, `{token}`, which the linear engine has not"
    return "is none, or too large a one: what is repeated counts as often, and `maxLength` is free"
