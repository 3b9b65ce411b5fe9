"""Requests that are open. Equal model calls → one call, and its reply for all of them; those that
are withdrawn → rows of what they had got.
"""

from typing import TYPE_CHECKING

from sexplang.runtime.journal.journal import Row, digest, make_withdrawal_row
from sexplang.terms.classes.node import define, field
from sexplang.terms.effect import UNCOUNTED, UNMADE, Part, Request
from sexplang.terms.values.value import Record, Value

if TYPE_CHECKING:
    from sexplang.runtime.journal.replay_order import PendingCall
    from sexplang.runtime.models.attempts import Attempts


NOTHING: dict[str, Value] = {"input_tokens": 0, "output_tokens": 0}


@define(eq=False)
class SingleFlight:
    """Which calls are made, and which wait for the reply to an equal one."""

    _equal: dict[str, dict[str, Request]] = field(factory=dict)
    """By the digest of what is asked, those that are open, by their ids: the first is made."""
    _keys: dict[str, str] = field(factory=dict)

    def joins(self, request: Request) -> bool:
        """Whether a call that has just been asked for is not made, because an equal one is."""
        key = self._keys[request.id] = digest(request.operation, request.arguments)
        equal = self._equal.setdefault(key, {})
        equal[request.id] = request
        return len(equal) > 1

    def replies(self, id: str, value: Value, failed: bool) -> list[tuple[str, Value]]:
        """What those get, by their ids, that waited for a call which is over: they have used
        nothing, and say in `shared` whose reply it is. None of them where it failed for reasons
        of its own: its deadline, its budget."""
        first, *waited = self._equal.get(self._keys.get(id, ""), {}) or [""]
        said = _share_reply(id, value, failed) if first == id and waited else None
        if said is None:
            return []
        for other in waited:
            self._forget(other)
        return [(other, said) for other in waited]

    def release(self, id: str) -> Request | None:
        """A call is over, or was withdrawn: the one that has to be made in its place, if any."""
        equal = self._equal.get(self._keys.get(id, ""), {})
        is_made = next(iter(equal), None) == id
        self._forget(id)
        return next(iter(equal.values()), None) if is_made else None

    def _forget(self, id: str) -> None:
        key = self._keys.pop(id, None)
        if key is not None:
            del self._equal[key][id]
            if not self._equal[key]:
                del self._equal[key]


@define(eq=False)
class InFlight:
    """What calls have got that are in flight, and what those had that were withdrawn."""

    made: dict[str, Request] = field(factory=dict)
    """Those that are in flight, by their ids."""
    cut: dict[str, Row] = field(factory=dict)
    """By their ids, the rows of those that the last delivery withdrew."""
    _calls: dict[str, tuple[Request, "Attempts | PendingCall"]] = field(factory=dict)

    def follow(self, request: Request, lost: "Attempts | PendingCall") -> None:
        """What a call gets that is made is in `lost`."""
        self._calls[request.id] = request, lost

    def over(self, id: str) -> None:
        """A call has its reply, or its error."""
        self.made.pop(id, None)
        self._calls.pop(id, None)

    def part(self, id: str) -> tuple[Request | None, Part]:
        """A call that was made, and what it had got, for the last time. What a host's own function
        had got, nobody knows."""
        request, lost = self._calls.pop(id, (self.made.get(id), None))
        if lost is None:
            return request, dict(UNMADE if request is None else UNCOUNTED)
        return request, lost.so_far()

    def so_far(self, id: str) -> Part:
        """What a call had got that is withdrawn now."""
        if id in self.cut:  # it was asked before, by a delivery that did not come to its end
            return self.cut[id].reply  # type: ignore[no-any-return]
        request, part = self.part(id)
        asked = ""
        if request is not None and "unmade" not in part:
            asked = digest(request.operation, request.arguments)
        self.cut[id] = make_withdrawal_row(id, asked, part)
        return part


def _share_reply(id: str, value: Value, failed: bool) -> Value:
    """A reply as it is for others than the one that asked for it, or None."""
    if not failed and not isinstance(value, dict):
        return value
    if not failed:
        reply = {name: part for name, part in value.items() if name != "lost"}
        return {**reply, "usage": dict(NOTHING), "shared": id}
    assert isinstance(value, Record)
    details = value.fields["details"]
    if value.fields["type"] != "TASK_FAILURE" or "stopped" in details:
        return None
    known = {name: part for name, part in details.items() if name != "usage"}
    return Record(value.kind, {**value.fields, "details": {**known, "shared": id}})
