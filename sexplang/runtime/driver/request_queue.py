"""The queue of open requests that are not started yet."""

from collections import OrderedDict, deque
from collections.abc import Iterable

from sexplang.terms.classes.node import define, field
from sexplang.terms.effect import Request


@define(eq=False)
class RequestQueue:
    """The waiting requests of a run, in order. With `models_first`, model calls precede other
    requests that were opened at the same time."""

    models_first: bool = False
    calls: "OrderedDict[str, Request]" = field(factory=OrderedDict)
    """Model calls that wait for fewer calls in flight. No events exist for them but Queued."""
    _new: "deque[Request]" = field(factory=deque)
    """Requests that have not been looked at."""
    withdrawn_ids: set[str] = field(factory=set)
    """New requests that were withdrawn."""

    def add(self, requests: Iterable[Request]) -> None:
        """Append requests that were opened at the same time."""
        self._new.extend(_models_first(requests) if self.models_first else requests)

    def put_models_first(self) -> None:
        """Sort model calls first from now on."""
        self.models_first = True
        self._new = deque(_models_first(self._new))

    def is_at_model(self) -> bool:
        """Whether the next new request is a model call."""
        return bool(self._new) and self._new[0].operation == "model"

    def take(self) -> Request | None:
        """Remove and return the next new request, or None."""
        return self._new.popleft() if self._new else None

    def take_all(self) -> "deque[Request]":
        """Remove and return all new requests."""
        fresh, self._new = self._new, deque()
        return fresh

    def take_call(self) -> Request:
        """Remove and return the model call that has waited longest."""
        return self.calls.popitem(last=False)[1]

    def put_call_first(self, call: Request) -> None:
        """Put a model call at the head of the waiting calls."""
        self.calls[call.id] = call
        self.calls.move_to_end(call.id, last=False)

    def find_new(self, ids: Iterable[str]) -> list[Request]:
        """Return the new requests among these, which nobody has begun."""
        wanted = set(ids) if self._new else ()
        return [each for each in self._new if each.id in wanted]

    def withdraw(self, id: str) -> None:
        """Mark a new request as withdrawn."""
        self.withdrawn_ids.add(id)

    def forget(self, id: str) -> None:
        """Drop the mark of a withdrawn request after it was reported."""
        self.withdrawn_ids.discard(id)

    def clear(self) -> None:
        """Drop all new requests and marks."""
        self._new.clear()
        self.withdrawn_ids.clear()


def _models_first(requests: Iterable[Request]) -> list[Request]:
    return sorted(requests, key=lambda request: request.operation != "model")
