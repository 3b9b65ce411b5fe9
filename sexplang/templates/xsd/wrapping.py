"""A document inside a string of JSON to the document as it was before it became one."""

import json
import re

_DECODER = json.JSONDecoder(strict=False)
_AHEAD = r"[\"'](?:\s|\\[nrt]|<\?xml[^<>]*\?>)*"
# Before a string that is a part of JSON; and what nobody writes in one that is none.
_KEY = re.compile(r"\"\s*:\s*\Z|[\[,]\s*\Z")
_ESCAPED = re.compile(r"\\[\"\\]|\\u[0-9a-fA-F]{4}|>\s*\\[nrt]")


class Garbled(Exception):
    """Says why nobody knows what the string holds."""


def unwrapped(text: str, root: str) -> str | None:
    """The text, with the string of JSON that begins with the root decoded; None where there is no
    such string. Raises Garbled where its escapes may be some or not."""
    begins = re.search(rf"{_AHEAD}<(?:[\w.-]{{1,40}}:)?{re.escape(root)}\b", text)
    if begins is None:
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
        raise Garbled(
            f"<{root}> stands between quotes, and a \\ there may be an escape of JSON or not"
        )
    return None
