"""A document inside a string of JSON to the document as it was before it became one."""

import json
import re

_DECODER = json.JSONDecoder(strict=False)
_AHEAD = r"\"(?:\s|\\[nrt]|<\?xml[^<>]*\?>)*"


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
    if re.search(rf"{re.escape(root)}\s*>\s*\Z", said):
        return f"{text[:at]}\n{said}\n{text[end:]}"
    if "\\" in text[at:]:
        raise Garbled(f"<{root}> stands in a string of JSON whose quotes do not match")
    return None
