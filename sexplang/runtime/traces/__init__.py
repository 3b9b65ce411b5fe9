"""Traces: spans of a run for OpenTelemetry, derived from the tree of effects.

A run that is not traced loads nothing of this package.
"""

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeAlias

from sexplang.guards.secrets import credentials_of, learn
from sexplang.runtime.journal.redaction import clean
from sexplang.runtime.refusal import Refusal, refuse
from sexplang.terms.classes.node import frozen
from sexplang.terms.model.roles import Models
from sexplang.terms.texts.address import split_credentials

if TYPE_CHECKING:
    from opentelemetry.trace import TracerProvider

    from sexplang.runtime.traces.sink import Sink
    from sexplang.runtime.traces.spans import Spans
    from sexplang.runtime.traces.tree import Trace

Target: TypeAlias = "str | os.PathLike[str] | TracerProvider"
"""The destination of spans: a collector's address, a file, or a host's provider."""

PATH = "/v1/traces"
"""The path of the trace endpoint below a collector's address."""


@frozen
class TraceSettings:
    """The settings of a run's traces."""

    target: "Target | None"
    """None uses the environment: OTEL_EXPORTER_OTLP_ENDPOINT and related variables."""
    name: str
    """The name of the run: its program."""
    run_id: str
    models: Models = Models()
    """The models that answer to names."""
    parent: str | None = None
    """The host's W3C `traceparent`."""
    since: float | None = None
    """The start of the run in seconds since the epoch; None is now."""
    warn: Callable[[str], None] = lambda words: None
    """Called with warnings about spans that cannot be delivered."""
    unwritten: Callable[[str], None] | None = None
    """Called with warnings about spans that a file could not take; the default is `warn`."""


def is_wanted(target: "Target | None") -> bool:
    """Whether a target or the environment asks for traces."""
    if os.environ.get("OTEL_SDK_DISABLED", "").strip().lower() == "true":
        return False
    if target is not None:
        return True
    if os.environ.get("OTEL_TRACES_EXPORTER", "otlp").strip().lower() == "none":
        return False
    names = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")
    return any(os.environ.get(name, "").strip() for name in names)


def start_trace(tracing: TraceSettings, *beside: "Sink") -> "Trace | None":
    """Return the trace of a run that begins now, or None if it has no sinks. Raises a Refusal
    `trace-failed`."""
    spans = _spans(tracing) if is_wanted(tracing.target) else None
    sinks = beside if spans is None else (spans, *beside)
    if not sinks:
        return None
    from sexplang.runtime.traces.sink import SinkGroup
    from sexplang.runtime.traces.tree import Trace

    return Trace(sinks[0] if len(sinks) == 1 else SinkGroup(sinks), tracing.since)


def _spans(tracing: TraceSettings) -> "Spans | None":
    """Return spans for a collector. None if only the environment asks for them and they are
    unavailable."""
    try:
        from sexplang.runtime.traces.spans import Spans

        provider, close = _provider(tracing)
    except ModuleNotFoundError as missing:
        if (missing.name or "").partition(".")[0] not in ("opentelemetry", "google"):
            raise
        why = "traces need OpenTelemetry, which is not installed"
        hint = "type: pip install 'sexplang[otel]'"
    except ValueError as error:
        why = f"traces cannot be sent: {error}"
        hint = "correct the OTEL_… variables of the environment"
    else:
        return Spans(
            provider,
            tracing.name,
            tracing.run_id,
            close,
            models=tracing.models,
            parent=tracing.parent,
        )
    if tracing.target is not None:
        raise refuse("trace-failed", why, hint=hint)
    tracing.warn(clean(f"{why}; {hint}"))
    return None


def _provider(tracing: TraceSettings) -> tuple["TracerProvider", Callable[[], None]]:
    """Return the provider of spans and the function that flushes it."""
    target = tracing.target
    if target is not None and not isinstance(target, (str, os.PathLike)):
        return target, lambda: None
    from opentelemetry.sdk.resources import SERVICE_NAME, Resource
    from opentelemetry.sdk.trace import TracerProvider

    from sexplang.runtime.traces.batch_processor import BatchProcessor
    from sexplang.runtime.traces.environment import list_unsupported

    exporter, to = _exporter(None if target is None else os.fspath(target))
    to_file = target is not None and to == os.fspath(target)
    for words in list_unsupported(to_file=to_file):
        tracing.warn(clean(words))
    resource = Resource.create()
    if str(resource.attributes.get(SERVICE_NAME, "unknown_service")).startswith("unknown_service"):
        resource = resource.merge(Resource({SERVICE_NAME: "sexplang"}))
    provider = TracerProvider(resource=resource, shutdown_on_exit=False)
    sending = BatchProcessor(exporter, to)
    provider.add_span_processor(sending)

    def close() -> None:
        provider.shutdown()
        if sending.lost:
            reason = sending.why.rpartition("] ")[2].lower() if to_file else sending.why
            why = f": {reason}" if reason else ""
            tell = (to_file and tracing.unwritten) or tracing.warn
            spans = "1 span" if sending.lost == 1 else f"{sending.lost} spans"
            done = "written" if to_file else "delivered"
            tell(clean(f"{spans} could not be {done} to {to}{why}"))

    return provider, close


def _exporter(target: str | None) -> tuple[Any, str]:
    """Return the exporter, and a name of its destination for warnings."""
    if target is not None:
        learn(credentials_of(target))
    if target is not None and not target.startswith(("http://", "https://")):
        if "://" in target:
            raise refuse(
                "trace-failed",
                f"the traces cannot be sent to {split_credentials(target)[0]}",
                hint="name a collector by http:// or https://, or a file",
            )
        from opentelemetry.exporter.otlp.json.file import FileSpanExporter

        _make_private(target)
        return FileSpanExporter(target), target
    from urllib.parse import urlsplit

    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter

    if target is None:
        return OTLPSpanExporter(), "the collector that the environment names"
    try:
        parts = urlsplit(target)
    except ValueError as error:
        raise refuse(
            "trace-failed",
            f"the traces cannot be sent to {split_credentials(target)[0]}: {error}",
            hint="name a collector as http://HOST:4318, or a file",
        ) from None
    if not parts.path.endswith(PATH):
        parts = parts._replace(path=parts.path.rstrip("/") + PATH)
    host = parts.netloc.rpartition("@")[2]
    return OTLPSpanExporter(endpoint=parts.geturl()), f"{parts.scheme}://{host}{parts.path}"


def _make_private(path: str) -> None:
    """Create a file that only its owner can read: traces may contain content."""
    try:
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600))
    except OSError as error:
        raise refuse(
            "trace-failed",
            f"the traces cannot be written to {path}: {error.strerror}",
            hint="name a file in a folder that exists, or a collector: --trace http://HOST:4318",
        ) from None


__all__ = ["Refusal", "Target", "TraceSettings", "is_wanted", "start_trace"]
