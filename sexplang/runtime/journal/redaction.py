"""Text and plain data → the same without credentials, and without what cannot be written.

Law: whatever is recorded, written, printed or put into an error passes here first.
"""

from typing import Any

from sexplang.guards.secrets import redact_text
from sexplang.terms.values.value import distinct


def shorten(text: str, most: int) -> str:
    """The beginning of a text, which holds no beginning of a credential either."""
    return redact_text(text)[:most]


def clean(text: str) -> str:
    """Redacted text; half of a surrogate pair, which UTF-8 cannot write, becomes `?`."""
    if not text.isascii():
        text = text.encode("utf-8", "replace").decode()
    return redact_text(text)


def clean_data(data: Any) -> Any:
    """Plain data with all its text clean, however deep it is."""
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
