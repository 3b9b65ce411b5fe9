"""The part of a reply in which a model thinks before it answers, told from the answer."""

import re

_TAGS = "think|thinking|reasoning|scratchpad"
_WHOLE = re.compile(rf"<({_TAGS})>.*?</\1>", re.DOTALL)
_AHEAD = re.compile(rf"\s*{_WHOLE.pattern}", re.DOTALL)
_TAG = re.compile(rf"</?(?:{_TAGS})>")


def ahead(text: str) -> tuple[str, int]:
    """The tag of the thoughts that `text` begins with, and where they end; 0 where there are
    none."""
    found = _AHEAD.match(text)
    return (found[1], found.end()) if found else ("", 0)


def is_open(text: str) -> str | None:
    """The tag in `text` that begins or ends thoughts without the other; None where all match."""
    found = _TAG.search(_WHOLE.sub("", text))
    return None if found is None else found[0]
