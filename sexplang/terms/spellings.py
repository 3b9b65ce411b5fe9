"""A text → patterns of however it may be spelled: as it is, with the escapes of JSON (also of JSON
in JSON, thrice), and of addresses.

There is one for each character, since whoever writes JSON chooses what to escape: `/` or `\\/`, `é`
or `\\u00E9`. No two begin alike, so that to look for a text takes linear time.
"""

import re
from functools import cache

LONGEST = 20
"""Bytes of a character at most, however it is spelled."""

_PLAIN = re.compile(r"[A-Za-z0-9._~-]+")
"""What is spelled alike everywhere."""

_PARTS = re.compile(r"\\+|\r?\n|.", re.DOTALL)

_SHORT = {"\b": "b", "\f": "f", "\n": "n", "\r": "r", "\t": "t"}


def word_in(text: str) -> str:
    """The longest part that is spelled alike everywhere."""
    return max(_PLAIN.findall(text), key=len, default="")


def parts_of(text: str) -> list[str]:
    """A pattern for each character; one for several backslashes, and for a line break of two."""
    return [_pattern(part) for part in _PARTS.findall(text)]


@cache
def _pattern(part: str) -> str:
    if _PLAIN.match(part):
        return re.escape(part)
    if part[0] == "\\":
        count = len(part)
        return rf"(?:\\{{{count},{8 * count}}}|(?:{_escaped(part[0])}){{{count}}})"
    if part[-1] == "\n":
        return rf"(?:\r?\n|(?:{_escaped(chr(13))})?(?:{_escaped(chr(10))}))"
    before = r"\\{0,7}" if part in "\"'/" else ""
    space = r"|\+" if part == " " else ""
    return f"(?:{before}{re.escape(part)}{space}|{_escaped(part)})"


def _escaped(character: str) -> str:
    """The escapes of a character, whose digits may be large or small."""
    units = character.encode("utf-16-be").hex()
    of_json = "".join(rf"\\{{1,4}}u{units[at : at + 4]}" for at in range(0, len(units), 4))
    of_addresses = "".join(f"%(?:25)?{byte:02x}" for byte in character.encode())
    short = rf"\\{{1,4}}{_SHORT[character]}|" if character in _SHORT else ""
    return f"{short}(?i:{of_json}|{of_addresses})"
