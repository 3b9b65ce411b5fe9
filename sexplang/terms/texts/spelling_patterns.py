"""Patterns for the spellings of a text: verbatim, with the escapes of JSON (also of JSON in JSON,
thrice), and of addresses.

There is one for each character, since a writer of JSON may choose what to escape: `/` or `\\/`, `é`
or `\\u00E9`. No two begin alike, so a search takes linear time. A plain character, such as a
letter, is rarely escaped: patterns have these escapes on request.
"""

import re
from functools import cache

LONGEST = 20
"""The greatest number of bytes of a character, in any spelling."""

_PLAIN = re.compile(r"[A-Za-z0-9._~-]+")
"""Characters that are never escaped of necessity."""

_PLAIN_ESCAPED = re.compile(
    r"(?:\\[uU]00|%(?:25)?)(?:2[DdEe]|3[0-9]|[46][1-9A-Fa-f]|[57][0-9Aa]|5[Ff]|7[Ee])"
)
"""An escape of a plain character: of `-`, `.`, a digit, a letter, `_` or `~`."""

CUT_ESCAPE = re.compile(r"(?:\\+(?:[uU][0-9A-Fa-f]{0,3})?|%(?:25?)?[0-9A-Fa-f]?)\Z")
"""The beginning of an escape, at the end of a text."""

_PARTS = re.compile(r"\\+|\r?\n|.", re.DOTALL)

_SHORT = {"\b": "b", "\f": "f", "\n": "n", "\r": "r", "\t": "t"}


def word_in(text: str) -> str:
    """Return the longest part with one spelling if no plain character is escaped."""
    return max(_PLAIN.findall(text), key=len, default="")


def escapes_plain(text: str) -> bool:
    """Return whether a plain character is escaped in a text."""
    return ("%" in text or "\\" in text) and _PLAIN_ESCAPED.search(text) is not None


def parts_of(text: str, *, plain: bool) -> list[str]:
    """Return a pattern for each character; one for several backslashes, and for a line break of two
    characters. `plain` adds the escapes of plain characters."""
    return [_pattern(part, plain) for part in _PARTS.findall(text)]


def compile_parts(text: str, *, plain: bool) -> list[re.Pattern[str]]:
    """Return the patterns of `parts_of`, compiled."""
    return [_compile(part, plain) for part in _PARTS.findall(text)]


@cache
def _compile(part: str, plain: bool) -> re.Pattern[str]:
    return re.compile(_pattern(part, plain))


@cache
def _pattern(part: str, plain: bool) -> str:
    if _PLAIN.match(part):
        return f"(?:{re.escape(part)}|{_escape_patterns(part)})" if plain else re.escape(part)
    if part[0] == "\\":
        count = len(part)
        return rf"(?:\\{{{count},{8 * count}}}|(?:{_escape_patterns(part[0])}){{{count}}})"
    if part[-1] == "\n":
        return rf"(?:\r?\n|(?:{_escape_patterns(chr(13))})?(?:{_escape_patterns(chr(10))}))"
    before = r"\\{0,7}" if part in "\"'/" else ""
    space = r"|\+" if part == " " else ""
    return f"(?:{before}{re.escape(part)}{space}|{_escape_patterns(part)})"


def _escape_patterns(character: str) -> str:
    """Return the escapes of a character, with digits in either case. Each begins with its fixed
    prefix, which makes the search fast."""
    units = _in_any_case(character.encode("utf-16-be").hex(" ", 2))
    of_json = "".join(rf"\\\\{{0,3}}[uU]{unit}" for unit in units.split())
    of_addresses = "".join(f"%(?:25)?{_in_any_case(f'{byte:02x}')}" for byte in character.encode())
    short = rf"\\\\{{0,3}}{_SHORT[character]}|" if character in _SHORT else ""
    return f"{short}{of_json}|{of_addresses}"


def _in_any_case(digits: str) -> str:
    return _LETTERS.sub(lambda found: f"[{found[0]}{found[0].upper()}]", digits)


_LETTERS = re.compile("[a-f]")
