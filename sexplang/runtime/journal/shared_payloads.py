"""Payloads of a recording, stored as differences to an earlier payload.

A conversation repeats its messages in each turn. A recording of whole payloads would grow with the
square of the number of turns.
"""

from typing import Any

from sexplang.terms.classes.node import define, field
from sexplang.terms.json.tagged import dump

LIKE = "like"
"""The key of a shortened row that names the earlier row."""


@define(eq=False)
class PayloadShortener:
    """The payloads written so far, as JSON data."""

    _last: dict[str, tuple[str, dict[str, Any]]] = field(factory=dict)
    """Id and payload of the latest row, by the first message."""

    def shorten(self, row: dict[str, Any]) -> dict[str, Any]:
        """Return the row without the parts of its payload that an earlier payload has. `like` names
        the earlier row and the number of leading messages in common."""
        payload = _payload(row)
        if payload is None:
            return row
        first = dump(payload["messages"][0])
        before = self._last.get(first)
        self._last[first] = (row["id"], payload)
        if before is None or not before[1].keys() <= payload.keys():
            return row
        id, old = before
        count = _common(old["messages"], payload["messages"])
        new = {
            key: part
            for key, part in payload.items()
            if key not in old or not _same(part, old[key])
        }
        new["messages"] = payload["messages"][count:]
        return {**row, "arguments": [new], LIKE: {"row": id, "messages": count}}


@define(eq=False)
class PayloadRestorer:
    """The payloads read so far."""

    _payloads: dict[str, dict[str, Any]] = field(factory=dict)
    """Payloads by the id of their row."""

    def arguments(self, row: dict[str, Any]) -> list[Any]:
        """Return the complete arguments of a row. Raises KeyError, TypeError or ValueError."""
        given: list[Any] = row["arguments"]
        if LIKE in row:
            old = self._payloads[row[LIKE]["row"]]
            messages = [*old["messages"][: row[LIKE]["messages"]], *given[0]["messages"]]
            given = [{**old, **given[0], "messages": messages}]
        payload = _payload({**row, "arguments": given})
        if payload is not None:
            self._payloads[row["id"]] = payload
        return given


def _payload(row: dict[str, Any]) -> dict[str, Any] | None:
    """Return a model request's payload if it has messages, else None."""
    given = row["arguments"][0] if row["operation"] == "model" and row["arguments"] else None
    if not isinstance(given, dict) or not isinstance(given.get("messages"), list):
        return None
    return given if given["messages"] else None


def _common(old: list[Any], new: list[Any]) -> int:
    """Return the number of equal leading messages."""
    count = 0
    for before, now in zip(old, new, strict=False):
        if not _same(before, now):
            break
        count += 1
    return count


def _same(one: Any, other: Any) -> bool:
    """Whether two values are equal as JSON. For Python, 1 equals True."""
    return one is other or dump(one) == dump(other)
