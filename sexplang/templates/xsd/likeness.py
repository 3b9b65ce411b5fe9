"""Whether one name may be a slip for another."""

import re
from functools import lru_cache
from itertools import combinations

_LONGEST = 24


def folded(name: str) -> str:
    """A name without its prefix, and without what is often written differently."""
    return re.sub(r"[_.-]", "", name.rpartition(":")[2]).casefold()


@lru_cache(maxsize=4096)
def slips(name: str) -> frozenset[str]:
    """A folded name, and what is left of it without a letter, or of a long one without two. Names
    that differ in one letter, or have two of them exchanged, have one of these in common."""
    name = name[:_LONGEST]
    most = 0 if len(name) <= 2 else 1 if len(name) <= 6 else 2
    return frozenset(
        "".join(letter for at, letter in enumerate(name) if at not in left_out)
        for many in range(most + 1)
        for left_out in combinations(range(len(name)), many)
    )


@lru_cache(maxsize=4096)
def alike(one: str, other: str) -> bool:
    """Whether two names are the same but for a letter, or two."""
    return not slips(folded(one)).isdisjoint(slips(folded(other)))


def nearest(written: str, names: list[str]) -> str | None:
    """The name that was probably meant."""
    from difflib import get_close_matches

    near = get_close_matches(folded(written[:80]), [folded(name) for name in names], 1)
    return next((name for name in names if near and folded(name) == near[0]), None)
