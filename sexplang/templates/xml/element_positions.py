"""The text of a well-formed document to the places of its elements, in document order.

lxml knows the line of an element and nothing finer. Its nth element is the nth start tag of the
text, once comments and CDATA are stepped over: so a scan of the text gives every column.
"""

import re

from sexplang.terms.classes.node import frozen

_MARKUP = re.compile(
    r"""<!--.*?-->|<!\[CDATA\[.*?\]\]>|<\?.*?\?>
      | (?P<close></[^>]*>)
      | <(?P<name>[^\s/>!?]++)(?P<body>(?:[^>"']|"[^"]*"|'[^']*')*+)>""",
    re.DOTALL | re.VERBOSE,
)
_ATTRIBUTE = re.compile(r"""([^\s=]+)\s*=\s*(?:"[^"]*"|'[^']*')""")


@frozen
class Place:
    """Offsets: of `<`, after the start tag, after the end tag, and of each attribute."""

    start: int
    opened: int
    end: int
    attributes: dict[str, tuple[int, int]]


def places(text: str) -> list[Place]:
    """One place for each element of a well-formed `text`."""
    found: list[Place] = []
    open_: list[int] = []
    for match in _MARKUP.finditer(text):
        if match["close"]:
            at = open_.pop()
            start = found[at]
            found[at] = Place(start.start, start.opened, match.end(), start.attributes)
        elif match["name"]:
            found.append(Place(match.start(), match.end(), match.end(), _attributes(match)))
            if not match["body"].endswith("/"):
                open_.append(len(found) - 1)
    return found


def _attributes(tag: re.Match[str]) -> dict[str, tuple[int, int]]:
    return {match[1]: match.span() for match in _ATTRIBUTE.finditer(tag.string, *tag.span("body"))}
