"""Tags as other notations write them, such as `[/code]` or `note: …`, found in a text.

Where the tag that is asked for is not there, they may be it, or text.
"""

import re
from collections.abc import Iterable

_OPENERS, _CLOSERS = r"[\[({<«‹⟨〈《【＜]", r"[\])}>»›⟩〉》】＞]"
_TAG = re.compile(rf"{_OPENERS}\s?[/\\]?\s?([\w.:-]{{1,80}})\s?{_CLOSERS}")
_LABEL = re.compile(r"\s*([\w.-]{1,80}) ?[:=] ?\S")
_LONGEST = 100


def ends(text: str, name: str) -> str:
    """What a text ends with in place of an end tag, under whatever name; empty if nothing is."""
    words = rf"(?:[/\\]\s*[\w.:-]+|{re.escape(name)})"
    found = re.search(rf"{_OPENERS}\s*{words}\s*{_CLOSERS}?\s*\Z", text[-_LONGEST:])
    return found[0].strip() if found else ""


def within(text: str, names: Iterable[str]) -> str:
    """What stands in a text where an element of one of the names may be meant."""
    plain = {name.casefold() for name in names}
    label = _LABEL.match(text)
    if label and label[1].casefold() in plain:
        return label[0].strip()
    return next((tag[0] for tag in _TAG.finditer(text) if tag[1].casefold() in plain), "")
