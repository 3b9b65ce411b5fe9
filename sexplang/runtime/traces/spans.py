"""OpenTelemetry spans with explicit parents and times; the current context is not used."""

from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from opentelemetry.context import Context
from opentelemetry.trace import (
    Span,
    SpanKind,
    Status,
    StatusCode,
    Tracer,
    TracerProvider,
    format_span_id,
    format_trace_id,
    set_span_in_context,
)
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from sexplang.runtime.driver.events import Retrying
from sexplang.runtime.journal.rows import Row
from sexplang.runtime.traces import content, span_attributes
from sexplang.terms.classes.node import define, field
from sexplang.terms.effect import Request
from sexplang.terms.model.roles import Models
from sexplang.terms.values.value import Record
from sexplang.terms.work import Work


def _version() -> str | None:
    try:
        return version("sexplang")
    except PackageNotFoundError:  # a checkout
        return None


@define(eq=False)
class Spans:
    """The spans of one run. `models` are the models that answer to names, `parent` is the host's
    W3C `traceparent`, and `close` flushes the provider."""

    provider: TracerProvider
    name: str
    run_id: str
    close: Callable[[], None]
    models: Models = Models()
    parent: str | None = None
    content: bool = field(factory=content.is_wanted)
    _tracer: Tracer = field(init=False)

    def __attrs_post_init__(self) -> None:
        self._tracer = self.provider.get_tracer("sexplang", _version())

    def run(self, at: float) -> Span:
        carrier = {"traceparent": self.parent} if self.parent else {}
        around = TraceContextTextMapPropagator().extract(carrier, Context())
        name, known = span_attributes.of_run(self.name, self.run_id)
        return self._tracer.start_span(name, around, attributes=known, start_time=_ns(at))

    def work(self, work: Work, parent: Span, at: float) -> Span:
        name, known = span_attributes.of_work(work, self.content)
        return self._start(name, SpanKind.INTERNAL, known, parent, at)

    def request(self, request: Request, parent: Span, at: float) -> Span:
        name, kind, known = span_attributes.of_request(request, self.models, self.content)
        return self._start(name, kind, known, parent, at)

    def record_retry(self, span: Span, event: Retrying, at: float) -> None:
        """Record a failed attempt that another one follows."""
        _, known = span_attributes.of_error(event.error, self.content)
        more: dict[str, Any] = {"sexplang.attempt": event.attempt, "sexplang.wait": event.wait}
        span.add_event("retry", {**known, **more}, timestamp=_ns(at))

    def record_reply(self, span: Span, row: Row) -> None:
        """Record the reply of a request."""
        span.set_attributes(span_attributes.of_reply(row, self.content))

    def end(self, span: Span, at: float, error: Record | None, *, cut: bool) -> None:
        """End a span: well, with an error, or `cut` short."""
        if error is not None:
            words, known = span_attributes.of_error(error, self.content)
            span.set_attributes(known)
            span.set_status(Status(StatusCode.ERROR, words))
        elif cut:
            span.set_attribute("sexplang.cancelled", True)
        span.end(_ns(at))

    def ids(self, span: Span) -> dict[str, str]:
        """Return the ids of a span for logs."""
        context = span.get_span_context()
        trace, own = format_trace_id(context.trace_id), format_span_id(context.span_id)
        return {"trace_id": trace, "span_id": own}

    def _start(
        self, name: str, kind: SpanKind, known: span_attributes.Facts, parent: Span, at: float
    ) -> Span:
        around = set_span_in_context(parent, Context())
        return self._tracer.start_span(name, around, kind, known, start_time=_ns(at))


def _ns(seconds: float) -> int:
    return int(seconds * 1e9)
