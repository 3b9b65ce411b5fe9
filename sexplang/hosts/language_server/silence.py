"""Messages to the same messages without credentials."""

from typing import Any

from pygls.protocol import LanguageServerProtocol

from sexplang.secrets import silent

_OWN = frozenset(["newText", "uri"])
"""What goes into the person's own text, and the names of documents: they stay as they are."""


class Silent(LanguageServerProtocol):
    """The protocol; whatever is sent passes here as it becomes plain data."""

    def _serialize_message(self, data: Any) -> dict[str, Any]:
        message = super()._serialize_message(data)
        return _silenced(message) if isinstance(message, dict) else message


def _silenced(message: dict[str, Any]) -> dict[str, Any]:
    work: list[Any] = [message]
    while work:
        place = work.pop()
        for key, item in list(place.items() if isinstance(place, dict) else enumerate(place)):
            if isinstance(item, str) and key not in _OWN:
                place[key] = silent(item)
            elif isinstance(item, (dict, list)):
                work.append(item)
    return message
