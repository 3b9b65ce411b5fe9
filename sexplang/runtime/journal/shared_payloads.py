"""Payloads that say again what an earlier one said → what is new in them, and back.

A conversation sends all that was said before with each turn; a recording that kept that would
grow with the square of its turns.
"""

from typing import Any

from sexplang.terms.classes.node import define, field
from sexplang.terms.json.tagged import dump

LIKE = "like"
"""Where a shortened row says which earlier row its payload continues."""


@define(eq=False)
class PayloadShortener:
    """The payloads of a recording so far, as JSON data."""

    _last: dict[str, tuple[str, dict[str, Any]]] = field(factory=dict)
    """By their first message: the row's id and the payload of the last one."""

    def shorten(self, row: dict[str, Any]) -> dict[str, Any]:
        """The row, without what the payload of an earlier one has as well: `like` names that row
        and says how many of its messages come first."""
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
    """The payloads of a recording that have been read so far."""

    _payloads: dict[str, dict[str, Any]] = field(factory=dict)
    """By the ids of their rows."""

    def arguments(self, row: dict[str, Any]) -> list[Any]:
        """All that the row's request was given. Raises KeyError, TypeError or ValueError."""
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
    """What a model was given, if it holds messages."""
    given = row["arguments"][0] if row["operation"] == "model" and row["arguments"] else None
    if not isinstance(given, dict) or not isinstance(given.get("messages"), list):
        return None
    return given if given["messages"] else None


def _common(old: list[Any], new: list[Any]) -> int:
    """With how many equal messages they begin."""
    count = 0
    for before, now in zip(old, new, strict=False):
        if not _same(before, now):
            break
        count += 1
    return count


def _same(one: Any, other: Any) -> bool:
    """As JSON: to Python, 1 and true are the same."""
    return one is other or dump(one) == dump(other)
