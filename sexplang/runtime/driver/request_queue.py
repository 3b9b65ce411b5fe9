"""Requests that are open and not begun: in which order they are begun."""

from collections import OrderedDict, deque
from collections.abc import Iterable

from sexplang.terms.classes.node import define, field
from sexplang.terms.effect import Request


@define(eq=False)
class RequestQueue:
    """The requests of a run that wait to be begun. With `models_first`, of those that were opened
    at the same time the model calls come first."""

    models_first: bool = False
    calls: "OrderedDict[str, Request]" = field(factory=OrderedDict)
    """Model calls that wait until fewer are in flight: nothing of them exists but the request."""
    _fresh: "deque[Request]" = field(factory=deque)
    """Requests that nobody has looked at yet."""
    _gone: set[str] = field(factory=set)
    """Those of them that were withdrawn before that."""

    def add(self, requests: Iterable[Request]) -> None:
        """They were opened at the same time."""
        self._fresh.extend(_models_first(requests) if self.models_first else requests)

    def put_models_first(self) -> None:
        """From now on, model calls come first."""
        self.models_first = True
        self._fresh = deque(_models_first(self._fresh))

    def is_at_model(self) -> bool:
        """Whether the next one that nobody has looked at is a model call."""
        return bool(self._fresh) and self._fresh[0].operation == "model"

    def take(self) -> Request | None:
        """The next one that nobody has looked at."""
        return self._fresh.popleft() if self._fresh else None

    def take_all(self) -> "deque[Request]":
        """All that nobody has looked at."""
        fresh, self._fresh = self._fresh, deque()
        return fresh

    def take_call(self) -> Request:
        """The model call that has waited longest."""
        return self.calls.popitem(last=False)[1]

    def put_call_first(self, call: Request) -> None:
        """A model call is the next."""
        self.calls[call.id] = call
        self.calls.move_to_end(call.id, last=False)

    def withdraw(self, id: str) -> None:
        """A request that nobody has looked at is not wanted any more."""
        self._gone.add(id)

    def is_withdrawn(self, id: str) -> bool:
        return id in self._gone

    def forget(self, id: str) -> None:
        """What became of a request has been noted."""
        self._gone.discard(id)

    def clear(self) -> None:
        """Nothing waits any more."""
        self._fresh.clear()
        self._gone.clear()


def _models_first(requests: Iterable[Request]) -> list[Request]:
    return sorted(requests, key=lambda request: request.operation != "model")
