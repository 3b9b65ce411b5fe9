"""Attempts at a model call that gave no reply → what the one that did, or the error, says of them.

A server counts what it has read and written, whether all of it arrives or not.
"""

from typing import Any

from attrs import field

from sexplang.runtime.models.growing import Growing
from sexplang.runtime.redact import clean
from sexplang.runtime.refusal import Refusal
from sexplang.terms.node import define
from sexplang.terms.value import Record


@define(eq=False)
class Lost:
    """What the attempts of one call have come to that failed."""

    usage: dict[str, int] = field(factory=dict)
    """Counts by their names, of all attempts."""
    text: str = ""
    """What the model had said, in the last one in which it said anything."""
    model: str = ""
    """Who had counted, as they call themselves."""

    def take(self, reply: Growing) -> None:
        """The reply to an attempt will not be whole."""
        self.usage = _sum(self.usage, reply.usage)
        self.text = reply.text or self.text
        name = reply.message.get("model")
        self.model = name if isinstance(name, str) else self.model

    def added(self, reply: dict[str, Any]) -> dict[str, Any]:
        """A reply whose usage is that of all attempts; `lost` says how much of it is theirs."""
        if not self.usage:
            return reply
        usage = reply.get("usage")
        whole = None if usage is None else {**usage, **_sum(self.usage, usage)}
        return {**reply, "usage": whole, "lost": dict(self.usage)}

    def told(self, refusal: Refusal) -> Refusal:
        """The refusal that says it: the text as its content, the usage in its details."""
        fields = dict(refusal.error.fields)
        if self.usage:
            fields["details"] = {**fields["details"], "usage": dict(self.usage)}
        if self.usage and self.model:
            fields["details"]["model"] = clean(self.model)
        if self.text:
            fields["content"] = clean(self.text)
        refusal.error = Record("error", fields)
        return refusal


def _sum(one: dict[str, int], other: dict[str, Any]) -> dict[str, int]:
    """Both, of what can be counted."""
    counts = {name: count for name, count in other.items() if type(count) is int}
    return {name: one.get(name, 0) + counts.get(name, 0) for name in {**one, **counts}}
