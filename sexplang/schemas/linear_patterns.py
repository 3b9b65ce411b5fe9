"""The patterns of schemas, matched in linear time.

Python's own engine is stalled by `(a|a)*b`. The linear engine has no lookahead and no
backreferences. A pattern with one is refused by name when its schema is read.
"""

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Any

# The weights of compiled patterns by their bytes.
_SIZES = {1 << 13: 1, 1 << 16: 8, 1 << 19: 64, 1 << 22: 512}

MOST_WEIGHT = 640
"""The most weight of all patterns of one schema."""

MOST_CHARACTERS = 20_000
"""The most characters of all patterns of one schema."""

_OF_STATE = 32
"""The least bytes of a compiled pattern for each of its states."""

_LEAST = 2
"""The states of the smallest pattern."""

_OF_VISIT = 2
"""The steps of a state at a byte."""

_TOKEN = re.compile(r"\\[\s\S]|\[\^?\]?(?:\\[\s\S]|[^\]\\])*\]?|\(\?<?[=!>]|\(\?[|#R&]|[\s\S]")
_BEYOND = {
    "(?=": "a lookahead",
    "(?!": "a lookahead",
    "(?<=": "a lookbehind",
    "(?<!": "a lookbehind",
    "(?>": "an atomic group",
}


class BadPattern(Exception):
    """The failure of a pattern that cannot be used."""


class Pattern:
    """A pattern that is searched for in texts.

    `weight` measures its memory. `cost` is the steps at one byte, at which each state may be
    visited.
    """

    def __init__(self, pattern: str, validator: Any, size: int) -> None:
        self.weight = _SIZES[size]
        self.cost = _OF_VISIT * max(_LEAST, states_of(pattern) or size // _OF_STATE)
        self._validator = validator

    def fits(self, text: str) -> bool:
        """Return whether the pattern occurs in a text."""
        found: bool = self._validator.is_valid(text)
        return found


def bytes_of(text: str) -> int:
    """Return the bytes of a text that a pattern visits. The end counts as one."""
    return 1 + (len(text) if text.isascii() else len(text.encode("utf-8", "replace")))


@lru_cache(maxsize=1024)
def pattern(text: str) -> Pattern:
    """Return the matcher of a pattern in the notation of JSON Schema. Raises BadPattern."""
    import jsonschema_rs

    if len(text) > MOST_CHARACTERS:
        raise BadPattern(f"the pattern `{text[:60]}` has more than {MOST_CHARACTERS:,} characters")
    for size in _SIZES:
        engine = jsonschema_rs.RegexOptions(size_limit=size)
        try:
            validator = jsonschema_rs.validator_for(
                {"pattern": text}, offline=True, pattern_options=engine
            )
        except (ValueError, TypeError):
            continue
        return Pattern(text, validator, size)
    raise BadPattern(f"the pattern `{text[:60]}` {_why(text)}")


def check_patterns(patterns: Iterable[str]) -> None:
    """Raise BadPattern if the patterns of a schema are too large together, or one is invalid."""
    weight = characters = 0
    for each in dict.fromkeys(patterns):
        characters += len(each)
        weight += pattern(each).weight
        if weight > MOST_WEIGHT or characters > MOST_CHARACTERS:
            raise BadPattern(f"its patterns are too large together, from `{each[:60]}` on")


# An escape, a class without a class in it, a repetition, a group, any other character.
_ITEM = re.compile(
    r"\\[pPxuU]\{[^}]*\}|\\[\s\S]|\[\^?\]?(?:\\[\s\S]|[^\]\\\[])*\]"
    r"|\{(?P<least>[0-9]+)(?P<range>,(?P<most>[0-9]*))?\}|\((?:\?:)?|[\s\S]"
)
_SPACED = re.compile(r"\(\?[A-Za-z]*x")
_MOST_STATES = 10**9
_DIGITS = 10
"""The most digits of a number in the engine, without leading zeros."""


def states_of(text: str) -> int | None:
    """Return the most states of a pattern with its repetitions written out. None if only the engine
    can tell."""
    sums, last = [0], 0
    for item in () if _SPACED.search(text) else _ITEM.finditer(text):
        token = item[0]
        if token == "[" or (token == ")" and len(sums) == 1):
            return None
        if token[0] == "(":
            sums.append(2)
            continue
        times = _times(item) if token[0] in "{*+?" else 0
        if times:
            sums[-1] += last * (times - 1) + times
            last = last * times + times
        else:
            last = sums.pop() if token == ")" else 1
            sums[-1] += last
        if sums[-1] > _MOST_STATES:
            return _MOST_STATES
    return sums[0] if len(sums) == 1 and sums[0] else None


def _times(item: re.Match[str]) -> int:
    """Return how often a repetition writes out the item before it. 0 for any other token."""
    if item["least"] is None:
        return 1 if item[0] in ("*", "+", "?") else 0
    return max(1, int((item["most"] or item["least"])[-_DIGITS:]))


def _why(text: str) -> str:
    for token in _TOKEN.findall(text):
        if token in _BEYOND:
            return f"has {_BEYOND[token]}, `{token}`, which the linear engine has not"
        if re.fullmatch(r"\\[1-9]|\\k", token):
            return f"has a backreference, `{token}`, which the linear engine has not"
    return "is none, or too large a one: what is repeated counts as often, and `maxLength` is free"
