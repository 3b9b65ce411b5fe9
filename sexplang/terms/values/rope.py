"""Ropes: long texts that `string-append` and `str` make without copies.

A text of at most PLAIN code points is a str. A longer one is a str or a Rope of two texts. Outside
of the machine, the primitives and these terms, texts are strs (`boundary`).

Law: a text is immutable, except that a Rope becomes one str when it is first needed as one.
"""

from collections.abc import Sequence
from typing import TypeAlias

from sexplang.terms.quota import charge

PLAIN = 1_000
"""Code points up to which a text is always a str; a piece at an end of a Rope grows as long."""


any_made = False
"""Whether this process has made a Rope. Most make none and skip all searches for one."""


class Rope:
    """A concatenation of two texts, or their str."""

    __slots__ = ("parts", "size")

    def __init__(self, parts: "tuple[Text, Text] | str", size: int) -> None:
        global any_made
        any_made = True
        self.parts = parts
        self.size = size

    def __len__(self) -> int:
        return self.size

    def __str__(self) -> str:
        return whole_text(self)


Text: TypeAlias = str | Rope

TEXTS = frozenset((str, Rope))
"""The classes of all texts."""


def whole_text(text: Text) -> str:
    """Return the text as a str."""
    if isinstance(text, str):
        return text
    if isinstance(text.parts, str):
        return text.parts
    charge(text.size)
    found: list[str] = []
    work: list[Text] = [text]
    while work:
        part = work.pop()
        if isinstance(part, str):
            found.append(part)
        elif isinstance(part.parts, str):
            found.append(part.parts)
        else:
            left, right = part.parts
            work += (right, left)
    made = "".join(found)
    text.parts = made  # one assignment: threads may share it
    return made


def join_texts(texts: Sequence[Text], size: int) -> Text:
    """Return the concatenation of texts with `size` code points. A short text next to a long one is
    joined to its end piece."""
    texts = [text for text in texts if text]
    if len(texts) == 1:
        return texts[0]
    if size <= PLAIN:
        charge(size)
        return "".join(texts)  # type: ignore[arg-type]  # a Rope is longer
    most = max(map(len, texts))
    if (size - most) * 4 > most:
        charge(size)
        return "".join(map(whole_text, texts))
    at = [len(text) for text in texts].index(most)
    before = "".join(map(whole_text, texts[:at]))
    after = "".join(map(whole_text, texts[at + 1 :]))
    made = texts[at]
    if before:
        made = put_before(before, made)
    return put_after(made, after) if after else made


def put_after(text: Text, more: str) -> Text:
    """Return a text of more than PLAIN code points with a short one appended."""
    charge(len(more))
    if isinstance(text, str):
        return Rope((text, more), len(text) + len(more))
    size, parts = text.size + len(more), text.parts
    if isinstance(parts, str):
        return Rope((parts, more), size)
    left, right = parts
    if isinstance(right, str) and len(right) + len(more) <= PLAIN:
        return Rope((left, right + more), size)
    return Rope((text, more), size)


def put_before(more: str, text: Text) -> Text:
    """Return a text of more than PLAIN code points with a short one prepended."""
    charge(len(more))
    if isinstance(text, str):
        return Rope((more, text), len(text) + len(more))
    size, parts = text.size + len(more), text.parts
    if isinstance(parts, str):
        return Rope((more, parts), size)
    left, right = parts
    if isinstance(left, str) and len(left) + len(more) <= PLAIN:
        return Rope((more + left, right), size)
    return Rope((more, text), size)
