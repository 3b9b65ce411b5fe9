"""The sinks of a trace: a collector, a recording, a terminal, or several of them."""

from collections.abc import Sequence
from typing import Any, Protocol

from sexplang.runtime.driver.events import Retrying
from sexplang.runtime.journal.rows import Row
from sexplang.terms.classes.node import frozen
from sexplang.terms.effect import Request
from sexplang.terms.values.value import Record
from sexplang.terms.work import Work


class Sink(Protocol):
    """The consumer of a run's tree while it grows. A span is any value that the sink returns. `at`
    is in seconds since the epoch."""

    def run(self, at: float) -> Any:
        """Return the outermost span."""

    def work(self, work: Work, parent: Any, at: float) -> Any:
        """Return the span of a piece of work."""

    def request(self, request: Request, parent: Any, at: float) -> Any:
        """Return the span of a request before it is performed."""

    def record_retry(self, span: Any, event: Retrying, at: float) -> None:
        """Record a failed attempt that another one follows."""

    def record_reply(self, span: Any, row: Row) -> None:
        """Record a reply, or by a row `cut` the partial reply of a withdrawn request."""

    def end(self, span: Any, at: float, error: Record | None, *, cut: bool) -> None:
        """End a span: well, with an error, or `cut` short."""

    def ids(self, span: Any) -> dict[str, str]:
        """Return the ids of a span for logs."""

    def close(self) -> None:
        """End the sink in bounded time."""


@frozen
class SinkGroup:
    """Several sinks as one. Its spans are lists of theirs."""

    sinks: Sequence[Sink]

    def run(self, at: float) -> Any:
        return [sink.run(at) for sink in self.sinks]

    def work(self, work: Work, parent: Any, at: float) -> Any:
        return [sink.work(work, above, at) for sink, above in zip(self.sinks, parent, strict=True)]

    def request(self, request: Request, parent: Any, at: float) -> Any:
        pairs = zip(self.sinks, parent, strict=True)
        return [sink.request(request, above, at) for sink, above in pairs]

    def record_retry(self, span: Any, event: Retrying, at: float) -> None:
        for sink, each in zip(self.sinks, span, strict=True):
            sink.record_retry(each, event, at)

    def record_reply(self, span: Any, row: Row) -> None:
        for sink, each in zip(self.sinks, span, strict=True):
            sink.record_reply(each, row)

    def end(self, span: Any, at: float, error: Record | None, *, cut: bool) -> None:
        for sink, each in zip(self.sinks, span, strict=True):
            sink.end(each, at, error, cut=cut)

    def ids(self, span: Any) -> dict[str, str]:
        found: dict[str, str] = {}
        for sink, each in zip(self.sinks, span, strict=True):
            found |= sink.ids(each)
        return found

    def close(self) -> None:
        for sink in self.sinks:
            sink.close()
