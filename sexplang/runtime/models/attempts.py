"""The failed attempts of a model call: their usage and text, merged into the reply or the error.

A server counts what it has read and written, even if the reply does not arrive. An attempt that may
have been sent and has no input count is one of the `uncounted` in a usage.
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
    """The failed attempts of one call, and the current one."""

    usage: dict[str, int] = field(factory=dict)
    """The sum of the counts of all failed attempts."""
    text: str = ""
    """The last text that a failed attempt received."""
    model: str = ""
    """The model's own name in the last attempt that reported one."""
    current: StreamAccumulator | None = None
    """The partial reply of the current attempt."""
    has_begun: bool = False
    """Whether an attempt was started."""

    def begin(self) -> StreamAccumulator:
        """Start an attempt and return its empty reply."""
        self.current, self.has_begun = StreamAccumulator(), True
        return self.current

    def fail(self, refusal: Refusal) -> dict[str, int]:
        """End the current attempt without a whole reply. Return its counts."""
        assert self.current is not None
        took, part = self.current.usage, self.so_far()
        if refusal.sent and not _has_input(took):
            took = {**took, "uncounted": 1}
        self.usage, self.text, self.model = _sum(self.usage, took), part["text"], part["model"]
        self.current = None
        return took

    def so_far(self) -> Part:
        """Return the partial reply of the call."""
        if not self.has_begun:
            return dict(UNMADE)
        if self.current is None:
            return {"usage": dict(self.usage), "text": self.text, "model": self.model}
        took, name = self.current.usage, self.current.message.get("model")
        part: Part = {
            "usage": _sum(self.usage, took),
            "text": clean(self.current.text) or self.text,
            "model": clean(name) if isinstance(name, str) else self.model,
        }
        return part if _has_input(took) else {**part, "uncounted": True}

    def add_usage(self, reply: dict[str, Any]) -> dict[str, Any]:
        """Return the reply with the usage of all attempts; `lost` is the part of the failed
        ones."""
        if not self.usage:
            return reply
        usage = reply.get("usage")
        whole = None if usage is None else {**usage, **_sum(self.usage, usage)}
        return {**reply, "usage": whole, "lost": dict(self.usage)}

    def add_partial(self, refusal: Refusal) -> Refusal:
        """Return the refusal with the partial text as content and the usage in its details."""
        refusal.error = cut_off(refusal.error, with_sent(self.so_far()))
        return refusal


_INPUT = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")


def _has_input(usage: dict[str, int]) -> bool:
    """Whether a server has counted its input. Some report 0 until the end of a reply."""
    return any(usage.get(name) for name in _INPUT)


def _sum(one: dict[str, int], other: dict[str, Any]) -> dict[str, int]:
    """Return the sum of two usages; other values than integers are ignored."""
    counts = {name: count for name, count in other.items() if type(count) is int}
    return {name: one.get(name, 0) + counts.get(name, 0) for name in {**one, **counts}}
