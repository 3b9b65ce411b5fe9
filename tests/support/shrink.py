"""A failing program to a smaller one that still fails: lists give way to their parts or to 1."""

from collections.abc import Callable, Iterator


def smallest(text: str, fails: Callable[[str], bool], patience: int = 3_000) -> str:
    """`fails` may be handed nonsense, which does not count as failing."""
    improved = True
    while improved and patience > 0:
        improved = False
        for candidate in _smaller(text):
            patience -= 1
            if patience <= 0:
                break
            if fails(candidate):
                text, improved = candidate, True
                break
    return text


def _smaller(text: str) -> Iterator[str]:
    spans = sorted(_lists(text), key=lambda span: span[0] - span[1])
    for start, end in spans:
        yield text[:start] + text[end:]
        yield text[:start] + "1" + text[end:]
        for inner_start, inner_end in spans:
            if start < inner_start and inner_end < end:
                yield text[:start] + text[inner_start:inner_end] + text[end:]


def _lists(text: str) -> list[tuple[int, int]]:
    """Where each bracketed form begins and ends; strings of the programs hold no brackets."""
    opened: list[int] = []
    found: list[tuple[int, int]] = []
    for at, character in enumerate(text):
        if character in "([{":
            opened.append(at)
        elif character in ")]}":
            found.append((opened.pop(), at + 1))
    return found
