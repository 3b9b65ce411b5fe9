"""The thinking part of a model's reply, apart from the answer."""

import re

_TAGS = "think|thinking|thoughts?|reasoning|reflection|analysis|scratchpad"
_AHEAD = re.compile(rf"\s*+<({_TAGS})\s*+>.*?</\1\s*+>", re.DOTALL | re.IGNORECASE)
_TAG = re.compile(rf"<(/?)({_TAGS})\s*+>", re.IGNORECASE)


def ahead(text: str) -> tuple[str, int]:
    """Return the tag of the thoughts that `text` begins with, and the end of the last of them; 0 if
    there are none."""
    first, at = "", 0
    while found := _AHEAD.match(text, at):
        first, at = first or found[1], found.end()
    return first, at


def is_open(text: str) -> str | None:
    """Return the tag of an unmatched begin or end of thoughts in `text`; None if all match."""
    begun: re.Match[str] | None = None
    for tag in _TAG.finditer(text):
        if begun is None and tag[1]:
            return tag[0]
        if begun is None:
            begun = tag
        elif tag[1] and tag[2].lower() == begun[2].lower():
            begun = None
    return None if begun is None else begun[0]
