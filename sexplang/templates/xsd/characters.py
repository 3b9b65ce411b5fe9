"""The characters of a reply's text: entities, and marks that begin none."""

import re
from collections.abc import Callable

_REFERENCE = re.compile(
    r"&(?:#(?P<decimal>\d{1,7});|#[xX](?P<hex>[0-9a-fA-F]{1,6});|(?P<name>[A-Za-z]\w{1,31});)?"
)
_XML = {"amp": "&", "lt": "<", "gt": ">", "quot": '"', "apos": "'"}
# Characters that no XML document can hold.
_NO_CHARACTER = re.compile("[\0-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")
_SURROGATE = re.compile("[\ud800-\udfff]")
# A reference without its end, or to nothing: a reference or text.
_CUT = re.compile(r"&(?:#\w{1,8};?|\w{2,32};|(?P<open>\w{2,32})(?!\w))")

Note = Callable[[str], None]


class Doubtful(Exception):
    """The failure of a text with an uncertain reference."""


def whole(text: str, note: Note) -> str:
    """Return the text with XML's line breaks and whole characters only."""
    if _SURROGATE.search(text):
        note("replaced half characters (lone surrogates)")
        text = _SURROGATE.sub("\ufffd", text)
    return text.replace("\r\n", "\n").replace("\r", "\n")


def forbidden(text: str) -> str | None:
    """Return the first character that XML does not allow, as `U+0000`. Else None."""
    found = _NO_CHARACTER.search(text)
    return None if found is None else f"U+{ord(found[0]):04X}"


def unescape(text: str, note: Note) -> str:
    """Return the text with its references replaced. A & that begins none stands for itself. Raises
    Doubtful."""
    if "&" not in text:
        return text

    def replace(match: re.Match[str]) -> str:
        name = match["name"]
        if name in _XML:
            return _XML[name]
        found = _character(match) if name is None else _html(name)
        if found is not None:
            if name is not None:
                note(f"took &{name}; for the character {found}")
            return found
        cut = _CUT.match(text, match.start())
        if cut is not None and (cut["open"] is None or _may_lack_its_end(cut["open"])):
            raise Doubtful(f"{cut[0]} may be a character or text (then write its & as &amp;)")
        note("took a bare & as text")
        return match[0]

    return _REFERENCE.sub(replace, text)


def _character(match: re.Match[str]) -> str | None:
    digits = match["decimal"] or match["hex"]
    if not digits:
        return None
    number = int(digits, 10 if match["decimal"] else 16)
    if number > 0x10FFFF or 0xD800 <= number <= 0xDFFF:
        return None
    return None if forbidden(chr(number)) else chr(number)


def _html(name: str) -> str | None:
    from html.entities import html5

    return html5.get(f"{name};")


def _may_lack_its_end(name: str) -> bool:
    """Return whether HTML reads the name without a `;`."""
    from html.entities import html5

    return name.casefold() in _XML or name in html5
