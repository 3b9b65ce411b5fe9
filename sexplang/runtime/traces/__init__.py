"""A run → spans for whoever collects traces: OpenTelemetry, derived from the tree of effects.

Nothing here is loaded by a run that nobody traces.
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
"""Where spans go: the address of a collector, a file, or a provider of the host's."""

PATH = "/v1/traces"
"""Where a collector takes traces, below its address."""


@frozen
class Tracing:
    """What the traces of a run are to be."""

    target: "Target | None"
    """None is what the environment says: OTEL_EXPORTER_OTLP_ENDPOINT and its kin."""
    name: str
    """What the run is called: its program."""
    run_id: str
    models: Models = Models()
    """Who answers to the names of models."""
    parent: str | None = None
    """The host's W3C `traceparent`."""
    since: float | None = None
    """When the run began, in seconds since the epoch; None is now."""
    warn: Callable[[str], None] = lambda words: None
    """Takes what is to be said of spans that cannot be delivered."""
    unwritten: Callable[[str], None] | None = None
    """The same of those that a file could not take; without it, `warn` does."""


def is_wanted(target: "Target | None") -> bool:
    """Whether a run is to be traced: somebody names a target, or the environment does."""
    if os.environ.get("OTEL_SDK_DISABLED", "").strip().lower() == "true":
        return False
    if target is not None:
        return True
    if os.environ.get("OTEL_TRACES_EXPORTER", "otlp").strip().lower() == "none":
        return False
    names = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")
    return any(os.environ.get(name, "").strip() for name in names)


def start_trace(tracing: Tracing, *beside: "Sink") -> "Trace | None":
    """The trace of a run that begins now, for a collector if one is wanted, and for those beside
    it; None if there is nobody. Raises a Refusal `trace-failed`."""
    spans = _spans(tracing) if is_wanted(tracing.target) else None
    sinks = beside if spans is None else (spans, *beside)
    if not sinks:
        return None
    from sexplang.runtime.traces.sink import SinkGroup
    from sexplang.runtime.traces.tree import Trace

    return Trace(sinks[0] if len(sinks) == 1 else SinkGroup(sinks), tracing.since)


def _spans(tracing: Tracing) -> "Spans | None":
    """Spans for a collector; None where only the environment wants some and they cannot be had."""
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


def _provider(tracing: Tracing) -> tuple["TracerProvider", Callable[[], None]]:
    """Who makes the spans, and what hands over the last of them."""
    target = tracing.target
    if target is not None and not isinstance(target, (str, os.PathLike)):
        return target, lambda: None
    from opentelemetry.sdk.resources import SERVICE_NAME, Resource
    from opentelemetry.sdk.trace import TracerProvider

    from sexplang.runtime.traces.batch_processor import BatchProcessor
    from sexplang.runtime.traces.environment import not_done

    exporter, to = _exporter(None if target is None else os.fspath(target))
    to_file = target is not None and to == os.fspath(target)
    for words in not_done(to_file=to_file):
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
    """What delivers spans, and how to call the place where they go."""
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
    """A file that is made here is for nobody else: traces may hold content."""
    try:
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600))
    except OSError as error:
        raise refuse(
            "trace-failed",
            f"the traces cannot be written to {path}: {error.strerror}",
            hint="name a file in a folder that exists, or a collector: --trace http://HOST:4318",
        ) from None


__all__ = ["Refusal", "Target", "Tracing", "is_wanted", "start_trace"]
