"""Whether one name may be a slip for another."""

import re
from difflib import SequenceMatcher
from functools import lru_cache


def folded(name: str) -> str:
    """A name without its prefix, and without what is often written differently."""
    return re.sub(r"[_.-]", "", name.rpartition(":")[2]).casefold()


@lru_cache(maxsize=4096)
def alike(written: str, name: str) -> bool:
    """A letter or two exchanged, left out or added."""
    one, other = folded(written[:80]), folded(name)
    if one == other:
        return True
    return abs(len(one) - len(other)) <= 2 and SequenceMatcher(None, one, other).ratio() >= 0.6


def begins(written: str, name: str) -> bool:
    """Whether a word begins as a name of four letters or more does, but for the last of them."""
    least = max(len(name) - 2, 3)
    return len(name) > 3 and folded(written).startswith(folded(name)[:least])


def nearest(written: str, names: list[str]) -> str | None:
    """The name that was probably meant."""
    from difflib import get_close_matches

    near = get_close_matches(folded(written), [folded(name) for name in names], 1)
    return next((name for name in names if near and folded(name) == near[0]), None)
