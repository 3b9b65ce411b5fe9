"""Equal model calls that are sent once, and the partial replies of calls in flight."""

from typing import TYPE_CHECKING

from sexplang.runtime.journal.journal import Row, digest, make_withdrawal_row
from sexplang.terms.classes.node import define, field
from sexplang.terms.effect import UNCOUNTED, UNMADE, Part, Request
from sexplang.terms.values.value import Record, Value

if TYPE_CHECKING:
    from sexplang.runtime.journal.replay_order import PendingCall
    from sexplang.runtime.models.attempts import Attempts


ZERO_USAGE: dict[str, Value] = {"input_tokens": 0, "output_tokens": 0}


@define(eq=False)
class SingleFlight:
    """The groups of equal open calls. The first of a group is sent; the others get its reply."""

    _equal: dict[str, dict[str, Request]] = field(factory=dict)
    """Open calls by id, grouped by the digest of the request."""
    _keys: dict[str, str] = field(factory=dict)

    def join(self, request: Request) -> bool:
        """Register a call. Return True if an equal call is already in flight."""
        key = self._keys[request.id] = digest(request.operation, request.arguments)
        equal = self._equal.setdefault(key, {})
        equal[request.id] = request
        return len(equal) > 1

    def share_reply(self, id: str, value: Value, failed: bool) -> list[tuple[str, Value]]:
        """Return replies for the calls coalesced with a finished call, by id. Each reports zero
        usage and names the original in `shared`. The list is empty if the call failed on its own
        deadline or budget."""
        first, *waited = self._equal.get(self._keys.get(id, ""), {}) or [""]
        said = _as_shared(id, value, failed) if first == id and waited else None
        if said is None:
            return []
        for other in waited:
            self._forget(other)
        return [(other, said) for other in waited]

    def release(self, id: str) -> Request | None:
        """Remove a finished or withdrawn call. Return the equal call to send next, or None."""
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
    """The partial replies of model calls in flight, and of those withdrawn by the last delivery."""

    calls: dict[str, Request] = field(factory=dict)
    """Requests in flight, by id."""
    withdrawal_rows: dict[str, Row] = field(factory=dict)
    """Rows of the calls that the last delivery withdrew, by id."""
    _progress: dict[str, tuple[Request, "Attempts | PendingCall"]] = field(factory=dict)

    def follow(self, request: Request, lost: "Attempts | PendingCall") -> None:
        """Register the source of a call's partial reply."""
        self._progress[request.id] = request, lost

    def finish(self, id: str) -> None:
        """Remove a call that has its reply or error."""
        self.calls.pop(id, None)
        self._progress.pop(id, None)

    def take_part(self, id: str) -> tuple[Request | None, Part]:
        """Remove a call and return its request and partial reply. The usage of a host's own
        function is unknown."""
        request, lost = self._progress.pop(id, (self.calls.get(id), None))
        if lost is None:
            return request, dict(UNMADE if request is None else UNCOUNTED)
        return request, lost.so_far()

    def so_far(self, id: str) -> Part:
        """Return the partial reply of a call that is withdrawn now."""
        if id in self.withdrawal_rows:  # an earlier, interrupted delivery has taken it
            return self.withdrawal_rows[id].reply  # type: ignore[no-any-return]
        request, part = self.take_part(id)
        asked = ""
        if request is not None and "unmade" not in part:
            asked = digest(request.operation, request.arguments)
        self.withdrawal_rows[id] = make_withdrawal_row(id, asked, part)
        return part


def _as_shared(id: str, value: Value, failed: bool) -> Value:
    """Return a reply as another caller gets it, or None if the failure concerns its caller
    alone."""
    if not failed and not isinstance(value, dict):
        return value
    if not failed:
        reply = {name: part for name, part in value.items() if name != "lost"}
        return {**reply, "usage": dict(ZERO_USAGE), "shared": id}
    assert isinstance(value, Record)
    details = value.fields["details"]
    if value.fields["type"] != "TASK_FAILURE" or "stopped" in details:
        return None
    known = {name: part for name, part in details.items() if name != "usage"}
    return Record(value.kind, {**value.fields, "details": {**known, "shared": id}})
