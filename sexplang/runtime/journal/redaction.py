"""Text and plain data without credentials and without surrogate halves.

Law: all text that is recorded, written, printed or put into an error passes through this module.
"""

from typing import Any

from sexplang.guards.secrets import redact_text
from sexplang.terms.values.value import distinct


def shorten(text: str, most: int) -> str:
    """Return the beginning of a text. It contains no beginning of a credential either."""
    return redact_text(text)[:most]


def clean(text: str) -> str:
    """Redact a text. A surrogate half, which UTF-8 cannot write, becomes `?`."""
    if not text.isascii():
        text = text.encode("utf-8", "replace").decode()
    return redact_text(text)


def clean_data(data: Any) -> Any:
    """Clean all text in plain data of any depth."""
    root = [data]
    work: list[Any] = [root]
    while work:
        place = work.pop()
        for key, item in list(place.items() if isinstance(place, dict) else enumerate(place)):
            if isinstance(item, str):
                place[key] = clean(item)
            elif isinstance(item, dict):
                place[key] = distinct({str(name): part for name, part in item.items()}, clean)
                work.append(place[key])
            elif isinstance(item, (list, tuple)):
                place[key] = list(item)
                work.append(place[key])
    return root[0]
