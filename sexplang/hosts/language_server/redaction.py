"""Messages to the same messages without credentials."""

from typing import Any

from sexplang.guards.secrets import silent

_OWN = frozenset(["newText", "uri"])
"""What goes into the person's own text, and the names of documents: they stay as they are."""


def mask_message(message: dict[str, Any]) -> dict[str, Any]:
    """The message without credentials, wherever they stand in it."""
    work: list[Any] = [message]
    while work:
        place = work.pop()
        for key, item in list(place.items() if isinstance(place, dict) else enumerate(place)):
            if isinstance(item, str) and key not in _OWN:
                place[key] = silent(item)
            elif isinstance(item, (dict, list)):
                work.append(item)
    return message
