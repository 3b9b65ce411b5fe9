"""Text → the same text without the API key, and without what cannot be written.

Law: whatever is recorded, written, printed or put into an error passes here first, and whatever
a model replies.
"""

import os
from typing import Any

SECRETS = ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN")
HEADERS = ("OTEL_EXPORTER_OTLP_HEADERS", "OTEL_EXPORTER_OTLP_TRACES_HEADERS")
"""What goes with traces to their collector, as `name=value,…`: its key is among it."""
MARK = "[redacted]"

_SHORTEST = 8
"""A shorter value is a placeholder such as `x`; blotting it out would garble every text."""


def secrets() -> list[str]:
    """The values that must never leave, as far as the environment knows any."""
    found = [os.environ.get(name, "").strip() for name in SECRETS]
    for name in HEADERS:
        found += _values(os.environ.get(name, ""))
    return [value for value in found if len(value) >= _SHORTEST]


def _values(headers: str) -> list[str]:
    """The last word of each header's value, as it is and as it is sent: `Basic KEY` is `KEY`."""
    if not headers:
        return []
    from urllib.parse import unquote

    written = [part.partition("=")[2].strip() for part in headers.split(",")]
    words = [word for value in written for word in (value, unquote(value))]
    return [word.replace("%20", " ").split()[-1] for word in words if word]


def redacted(text: str) -> str:
    """The text with every secret replaced by `[redacted]`."""
    for secret in secrets():
        if secret in text:
            text = text.replace(secret, MARK)
    return text


def clean(text: str) -> str:
    """Redacted text; half of a surrogate pair, which UTF-8 cannot write, becomes `?`."""
    if not text.isascii():
        text = text.encode("utf-8", "replace").decode()
    return redacted(text)


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
                place[key] = {clean(str(name)): part for name, part in item.items()}
                work.append(place[key])
            elif isinstance(item, (list, tuple)):
                place[key] = list(item)
                work.append(place[key])
    return root[0]
