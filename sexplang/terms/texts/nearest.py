"""The known word that an unknown one was probably meant to be."""

from collections.abc import Iterable

ALIKE = 0.6
"""The similarity from which on a word is suggested: twice the number of shared letters, divided by
the letters of both."""

LONG = 6
"""The length of a name from which on two letters may be wrong."""


def nearest(word: str, known: Iterable[str], alike: float = ALIKE) -> str | None:
    """Return the known word that is most like `word`, the first of several; None if none is."""
    from difflib import get_close_matches  # imported only for a misspelled word

    near = get_close_matches(word, [*known], 1, alike)
    return near[0] if near else None


def did_you_mean(word: str, known: Iterable[str], otherwise: str = "", shape: str = "`{}`") -> str:
    """Return the question for the nearest word, written in `shape`, or `otherwise` if there is
    none."""
    near = nearest(word, known)
    return otherwise if near is None else f"did you mean {shape.format(near)}?"


def find_misspelled(name: str, names: Iterable[str]) -> str | None:
    """Return the name that `name` is a misspelling of: one letter off, or two if both are long."""
    known = [*names]
    close = fewest_letters_off(name, known, 1)
    if close is None and len(name) >= LONG:
        close = fewest_letters_off(name, [one for one in known if len(one) >= LONG], 2)
    return close


def fewest_letters_off(name: str, names: Iterable[str], most: int | None = None) -> str | None:
    """Return the name at the least distance from `name`, at most `most` letters. Without `most`,
    every third letter may be wrong, three at most."""
    best, least = None, (min(3, (len(name) + 1) // 3) if most is None else most) + 1
    letters = set(name)
    for candidate in names:
        # Two quick filters leave few names to be measured.
        if abs(len(candidate) - len(name)) >= least:
            continue
        others = set(candidate)
        if len(letters - others) >= least or len(others - letters) >= least:
            continue
        distance = _distance(name, candidate)
        if distance < least:
            best, least = candidate, distance
    return best


def _distance(one: str, other: str) -> int:
    """Return the distance of Damerau and Levenshtein: the insertions, deletions, replacements and
    swaps of neighbours, also of letters that become neighbours."""
    far = len(one) + len(other)
    rows: list[list[int]] = [[far] * (len(other) + 2), [far, *range(len(other) + 1)]]
    last_row: dict[str, int] = {}
    for at, letter in enumerate(one, 1):
        row = [far, at]
        last_match = 0
        for to, opposite in enumerate(other, 1):
            swap_row, swap_to = last_row.get(opposite, 0), last_match
            cost = 1
            if letter == opposite:
                cost, last_match = 0, to
            row.append(
                min(
                    rows[at][to] + cost,
                    row[to] + 1,
                    rows[at][to + 1] + 1,
                    rows[swap_row][swap_to] + at - swap_row + to - swap_to - 1,
                )
            )
        rows.append(row)
        last_row[letter] = at
    return rows[-1][-1]
