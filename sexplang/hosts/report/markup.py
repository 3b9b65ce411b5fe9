"""Text → HTML. Law: a str is escaped wherever it goes; only what is made here is markup.

So nothing that a model or a program wrote can become a tag, steer the page or hide in it.
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
    """Words as they are, with whatever would be obeyed or hidden drawn as a visible sign."""
    if isinstance(words, Html):
        return words
    return Html(escape(draw_hidden(clean(words), keep="\n\t"), quote=True))


def start(name: str, /, **attributes: "str | int | float | bool | None") -> Html:
    """The beginning of an element; an attribute that is None or False is left out. `_` stands for
    `-`, and one at the end for nothing."""
    parts = [name]
    for key, value in attributes.items():
        if value is None or value is False:
            continue
        key = key.rstrip("_").replace("_", "-")
        parts.append(key if value is True else f'{key}="{text(str(value))}"')
    return Html(f"<{' '.join(parts)}>")


def tag(name: str, /, *below: str, **attributes: "str | int | float | bool | None") -> Html:
    """An element; what is below it is escaped, unless it is markup."""
    return Html(f"{start(name, **attributes)}{''.join(map(text, below))}</{name}>")


def inline_json(json: str) -> Html:
    """JSON as it may stand in a script element: a `<` in it, or what would steer or hide text, is
    only ever part of a string, and an escape there."""
    return Html(_STEERING.sub(_escape, json))


def _escape(found: re.Match[str]) -> str:
    char = found[0]
    if char in "<>&" or draw_hidden(char) != char:
        units = char.encode("utf-16-be", "surrogatepass")
        return "".join([f"\\u{units[at : at + 2].hex()}" for at in range(0, len(units), 2)])
    return char


def digest(code: str) -> str:
    """How a content security policy names a style or a script."""
    return f"'sha256-{b64encode(sha256(code.encode()).digest()).decode()}'"
