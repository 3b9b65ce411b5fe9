"""Attempts at a model call that gave no reply → what the one that did, or the error, says of them.

A server counts what it has read and written, whether all of it arrives or not. An attempt that may
have been sent, and of which no input was counted, is one of the `uncounted` in a usage.
"""

from typing import Any

from sexplang.runtime.journal.redaction import clean
from sexplang.runtime.models.adapters.stream_accumulator import StreamAccumulator
from sexplang.runtime.refusal import Refusal
from sexplang.terms.classes.node import define, field
from sexplang.terms.effect import UNMADE, Part, with_sent
from sexplang.terms.task import cut_off


@define(eq=False)
class Attempts:
    """What the attempts of one call have come to: those that failed, and the one under way."""

    usage: dict[str, int] = field(factory=dict)
    """Counts by their names, of all attempts that failed."""
    text: str = ""
    """What the model had said, in the last of them in which it said anything."""
    model: str = ""
    """Who had counted, as they call themselves."""
    reply: StreamAccumulator | None = None
    """What arrives in the attempt that is under way."""
    is_made: bool = False
    """Whether an attempt has begun."""

    def begin(self) -> StreamAccumulator:
        """Another attempt begins: its reply, which grows."""
        self.reply, self.is_made = StreamAccumulator(), True
        return self.reply

    def fail(self, refusal: Refusal) -> dict[str, int]:
        """The reply to the attempt will not be whole. Gives what was counted of it."""
        assert self.reply is not None
        took, part = self.reply.usage, self.so_far()
        if refusal.sent and not _has_input(took):
            took = {**took, "uncounted": 1}
        self.usage, self.text, self.model = _sum(self.usage, took), part["text"], part["model"]
        self.reply = None
        return took

    def so_far(self) -> Part:
        """What the call has got until now."""
        if not self.is_made:
            return dict(UNMADE)
        if self.reply is None:
            return {"usage": dict(self.usage), "text": self.text, "model": self.model}
        took, name = self.reply.usage, self.reply.message.get("model")
        part: Part = {
            "usage": _sum(self.usage, took),
            "text": clean(self.reply.text) or self.text,
            "model": clean(name) if isinstance(name, str) else self.model,
        }
        return part if _has_input(took) else {**part, "uncounted": True}

    def add_usage(self, reply: dict[str, Any]) -> dict[str, Any]:
        """A reply whose usage is that of all attempts; `lost` says how much of it is theirs."""
        if not self.usage:
            return reply
        usage = reply.get("usage")
        whole = None if usage is None else {**usage, **_sum(self.usage, usage)}
        return {**reply, "usage": whole, "lost": dict(self.usage)}

    def add_partial(self, refusal: Refusal) -> Refusal:
        """The refusal that says it: the text as its content, the usage in its details."""
        refusal.error = cut_off(refusal.error, with_sent(self.so_far()))
        return refusal


_INPUT = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")


def _has_input(usage: dict[str, int]) -> bool:
    """Whether a server has counted what it read. Some say 0 until the end of a reply."""
    return any(usage.get(name) for name in _INPUT)


def _sum(one: dict[str, int], other: dict[str, Any]) -> dict[str, int]:
    """Both, of what can be counted."""
    counts = {name: count for name, count in other.items() if type(count) is int}
    return {name: one.get(name, 0) + counts.get(name, 0) for name in {**one, **counts}}
