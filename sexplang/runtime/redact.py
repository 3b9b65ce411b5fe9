"""Text → the same text without the API key.

Law: whatever is recorded, printed or put into an error passes here first.
"""

import os
from typing import Any

SECRETS = ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN")
MARK = "[redacted]"

_SHORTEST = 8
"""A shorter value is a placeholder such as `x`; blotting it out would garble every text."""


def secrets() -> list[str]:
    """The values that must never leave, as far as the environment knows any."""
    found = (os.environ.get(name, "").strip() for name in SECRETS)
    return [value for value in found if len(value) >= _SHORTEST]


def redacted(text: str) -> str:
    """The text with every secret replaced by `[redacted]`."""
    for secret in secrets():
        if secret in text:
            text = text.replace(secret, MARK)
    return text


def redacted_data(data: Any) -> Any:
    """Plain data with every secret in its strings replaced; the data itself if there is none."""
    if not secrets():
        return data
    root = [data]
    work: list[Any] = [root]
    while work:
        place = work.pop()
        for key, item in list(place.items() if isinstance(place, dict) else enumerate(place)):
            if isinstance(item, str):
                place[key] = redacted(item)
            elif isinstance(item, dict):
                place[key] = {redacted(str(name)): part for name, part in item.items()}
                work.append(place[key])
            elif isinstance(item, (list, tuple)):
                place[key] = list(item)
                work.append(place[key])
    return root[0]
