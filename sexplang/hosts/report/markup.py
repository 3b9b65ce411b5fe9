"""HTML with escaped text.

Law: a str is escaped wherever it goes; only this module makes markup. No text of a model or a
program can become a tag, steer the page or hide in it.
"""

import re
from base64 import b64encode
from hashlib import sha256
from html import escape

from sexplang.hosts.terminal.show import draw_hidden
from sexplang.runtime.journal.redaction import clean

_STEERING = re.compile("[<>&]|[^\x00-\x7f]")


class Html(str):
    """Markup."""

    __slots__ = ()


def text(words: str) -> Html:
    """Return escaped text, with a visible sign for each character that would be obeyed or
    hidden."""
    if isinstance(words, Html):
        return words
    return Html(escape(draw_hidden(clean(words), keep="\n\t"), quote=True))


def start(name: str, /, **attributes: "str | int | float | bool | None") -> Html:
    """Return a start tag.

    Attributes that are None or False are left out. `_` in a name becomes `-`, and one at the end is
    dropped.
    """
    parts = [name]
    for key, value in attributes.items():
        if value is None or value is False:
            continue
        key = key.rstrip("_").replace("_", "-")
        parts.append(key if value is True else f'{key}="{text(str(value))}"')
    return Html(f"<{' '.join(parts)}>")


def tag(name: str, /, *below: str, **attributes: "str | int | float | bool | None") -> Html:
    """Return an element; its content is escaped unless it is markup."""
    return Html(f"{start(name, **attributes)}{''.join(map(text, below))}</{name}>")


def inline_json(json: str) -> Html:
    """Return JSON for a script element: `<` and characters that steer or hide text are escaped."""
    return Html(_STEERING.sub(_escape, json))


def _escape(found: re.Match[str]) -> str:
    char = found[0]
    if char in "<>&" or draw_hidden(char) != char:
        units = char.encode("utf-16-be", "surrogatepass")
        return "".join([f"\\u{units[at : at + 2].hex()}" for at in range(0, len(units), 2)])
    return char


def digest(code: str) -> str:
    """Return the hash of a style or a script for a content security policy."""
    return f"'sha256-{b64encode(sha256(code.encode()).digest()).decode()}'"
