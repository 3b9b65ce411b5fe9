"""A document inside a string of JSON to the document as it was before it became one."""

import json
import re

_DECODER = json.JSONDecoder(strict=False)
_AHEAD = r"[\"'](?:\s|\\[nrt]|<\?xml[^<>]*\?>)*"
# Before a string that is a part of JSON; and what nobody writes in one that is none.
_KEY = re.compile(r"\"\s*:\s*\Z|[\[,]\s*\Z")
_ESCAPED = re.compile(r"\\[\"\\]|\\u[0-9a-fA-F]{4}|>\s*\\[nrt]")

_TAG = re.compile(r"<[\w.:-]+\s[^<>]*>")
_ATTRIBUTE = re.compile(r"=\s*\\([\"'])(?:[^\"'\\<>]*\\\1)?")
# Where a string in single quotes begins and does not end.
_OPEN = re.compile(r"(?:\A|[:,=(\[{])\s*'[^']*\Z")
_MAY_BE = "a \\ there may be an escape of JSON or not"


class Garbled(Exception):
    """Says why nobody knows what the string holds."""


def unwrapped(text: str, root: str) -> str | None:
    """The text, with the string of JSON that begins with the root decoded; None where there is no
    such string. Raises Garbled where its escapes may be some or not."""
    begins = re.search(rf"{_AHEAD}<(?:[\w.-]{{1,40}}:)?{re.escape(root)}\b", text)
    if begins is None:
        _held_to_escapes(text, root)
        return None
    at = begins.start()
    try:
        said, end = _DECODER.raw_decode(text, at)
    except ValueError:
        said, end = "", at
    is_json = _KEY.search(text[max(at - 100, 0) : at]) or _ESCAPED.search(text, at, end)
    if is_json and re.search(rf"{re.escape(root)}\s*>\s*\Z", said):
        return f"{text[:at]}\n{said}\n{text[end:]}"
    if "\\" in text[at:]:
        raise Garbled(f"<{root}> stands between quotes, and {_MAY_BE}")
    return None


def _held_to_escapes(text: str, root: str) -> None:
    """Raises Garbled where the root stands further on in a string, or attributes in it have quotes
    that are escaped, and there may be more escapes."""
    begins = re.search(rf"<\s?(?:[\w.-]{{1,40}}:)?{re.escape(root)}\b", text, re.IGNORECASE)
    if begins is None or "\\" not in text:
        return
    before, inside = text[: begins.start()], text[begins.start() :]
    if re.sub(r"\\.", "", before).count('"') % 2 or _OPEN.search(before):
        raise Garbled(f"<{root}> may stand in a string, and {_MAY_BE}")
    plain = _TAG.sub(lambda tag: _ATTRIBUTE.sub("", tag[0]), inside)
    if plain != inside and "\\" in plain:
        raise Garbled(f"<{root}> has attributes in quotes that are escaped, and {_MAY_BE}")
