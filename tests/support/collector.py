"""A collector of traces on the loopback: what is sent to it, decoded by the protocol's own library.

    with Collector() as collector:
        … collector.url, collector.spans

`answer` is the status of its replies; None is no reply at all.
"""

import gzip
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from attrs import field, frozen
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)


@frozen
class Span:
    """A span as it was received. Ids are hexadecimal, times nanoseconds."""

    id: str
    parent: str
    trace: str
    name: str
    kind: int
    began: int
    ended: int
    status: int
    words: str
    facts: dict[str, Any]
    events: list[tuple[str, dict[str, Any]]]
    resource: dict[str, Any] = field(repr=False)


class Collector:
    """Takes OTLP over HTTP, as protobuf."""

    def __init__(self, answer: int | None = 200) -> None:
        self.answer = answer
        self.spans: list[Span] = []
        self.paths: list[str] = []
        self.headers: list[dict[str, str]] = []
        self.raw = b""
        self.ended = threading.Event()
        owner = self

        class Handler(BaseHTTPRequestHandler):
            disable_nagle_algorithm = True  # headers and body are two packets: 40 ms between them

            def do_POST(self) -> None:
                owner._take(self)

            def log_message(self, *_: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._server.handle_error = lambda *_: None
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self) -> "Collector":
        threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()
        return self

    def __exit__(self, *_: Any) -> None:
        self.ended.set()
        self._server.shutdown()
        self._server.server_close()

    def named(self, name: str) -> Span:
        """The one span with this name."""
        (found,) = [span for span in self.spans if span.name == name]
        return found

    def below(self, span: Span) -> list[str]:
        """The names of a span's children, in the order in which they began."""
        children = [each for each in self.spans if each.parent == span.id]
        return [each.name for each in sorted(children, key=lambda each: (each.began, each.name))]

    def _take(self, to: BaseHTTPRequestHandler) -> None:
        body = to.rfile.read(int(to.headers["content-length"]))
        answer = self.answer  # a test that sees the delivery may give the next one another
        self.paths.append(to.path)
        self.headers.append({name.lower(): value for name, value in to.headers.items()})
        if answer is None:
            self.ended.wait(30)
            return
        if answer == 200:
            whole = gzip.decompress(body) if to.headers.get("content-encoding") else body
            self.raw += whole
            self.spans.extend(received(whole))
        to.send_response(answer)
        to.send_header("content-type", "application/x-protobuf")
        said = ExportTraceServiceResponse().SerializeToString()
        to.send_header("content-length", str(len(said)))
        to.end_headers()
        to.wfile.write(said)


def received(body: bytes) -> list[Span]:
    """The spans of one delivery."""
    asked = ExportTraceServiceRequest()
    asked.ParseFromString(body)
    return [
        Span(
            span.span_id.hex(),
            span.parent_span_id.hex(),
            span.trace_id.hex(),
            span.name,
            span.kind,
            span.start_time_unix_nano,
            span.end_time_unix_nano,
            span.status.code,
            span.status.message,
            _facts(span.attributes),
            [(event.name, _facts(event.attributes)) for event in span.events],
            _facts(resource.resource.attributes),
        )
        for resource in asked.resource_spans
        for scope in resource.scope_spans
        for span in scope.spans
    ]


def _facts(attributes: Any) -> dict[str, Any]:
    return {each.key: _value(each.value) for each in attributes}


def _value(value: Any) -> Any:
    kind = value.WhichOneof("value")
    if kind == "array_value":
        return [_value(each) for each in value.array_value.values]
    return getattr(value, kind)
