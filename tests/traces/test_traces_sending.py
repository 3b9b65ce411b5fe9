"""Nothing is lost on the way to a collector, and one that is gone holds nobody up."""

import logging
import socket
import time

import pytest
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.trace import TracerProvider
from support.collector import Collector

import sexplang
from sexplang.runtime.traces import batch_processor
from sexplang.runtime.traces.batch_processor import BatchProcessor


@pytest.fixture
def nowhere():
    """An address where nobody listens."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        yield f"http://127.0.0.1:{taken.getsockname()[1]}"


@pytest.fixture
def impatient(monkeypatch):
    monkeypatch.setattr(batch_processor, "PATIENCE", 0.3)


def sent(url: str) -> tuple[TracerProvider, BatchProcessor]:
    provider = TracerProvider(shutdown_on_exit=False)
    made = BatchProcessor(OTLPSpanExporter(endpoint=url + "/v1/traces"), url)
    provider.add_span_processor(made)
    return provider, made


def spans_of(provider: TracerProvider, count: int, name: str = "one") -> None:
    tracer = provider.get_tracer("test")
    for _ in range(count):
        tracer.start_span(name).end()


def test_ten_thousand_fast_spans_arrive():
    """A run that does one thing after another without waiting loses none of its spans."""
    with Collector() as collector:
        sexplang.run("(loop 10000 (now))", trace=collector.url)
        names = [span.name for span in collector.spans]

    assert 10_001 == len({span.id for span in collector.spans}) == len(names)
    assert 10_000 == names.count("execute_tool now")


def test_branches_by_the_thousand_arrive():
    """Each of them, and what is done in it."""
    with Collector() as collector:
        sexplang.run("(par-map (lambda (x) (now)) (range 2000))", trace=collector.url)

    branches = {span.id for span in collector.spans if span.name.startswith("branch ")}
    parents = [span.parent for span in collector.spans if span.name == "execute_tool now"]
    assert 2000 == len(branches) == len(parents)
    assert branches == {*parents}


def test_whoever_is_too_fast_waits(monkeypatch):
    """With more spans than may wait, nobody goes on until some are delivered."""
    monkeypatch.setattr(batch_processor, "MOST", 100)
    monkeypatch.setattr(batch_processor, "BATCH", 40)
    with Collector() as collector:
        provider, made = sent(collector.url)
        spans_of(provider, 2000)
        provider.shutdown()

    assert (2000, 0) == (len(collector.spans), made.lost)


def test_a_delivery_that_failed_is_made_again(monkeypatch):
    """A collector that recovers gets everything, once."""
    monkeypatch.setattr(batch_processor, "DELAY", 0.01)
    with Collector(answer=400) as collector:
        provider, made = sent(collector.url)
        spans_of(provider, 10)
        until = time.monotonic() + 60
        while not collector.paths and time.monotonic() < until:
            time.sleep(0.01)
        collector.answer = 200
        assert provider.force_flush()
        provider.shutdown()

    assert (10, 0) == (len(collector.spans), made.lost)
    assert len(collector.paths) > 1


def test_a_dead_collector_costs_a_warning(nowhere, impatient, caplog):
    """The run gives its value all the same, and one warning says what was lost."""
    with caplog.at_level(logging.WARNING):
        value = sexplang.run("(begin (now) 7)", trace=nowhere)
    said = [record.getMessage() for record in caplog.records if record.name == "sexplang.traces"]

    assert 7 == value
    (words,) = said
    assert words.startswith(f"2 spans could not be delivered to {nowhere}/v1/traces")


def test_a_collector_that_never_answers_is_given_up(impatient, caplog):
    """It holds neither the run nor its end."""
    with Collector(answer=None) as collector:
        value = sexplang.run("(begin (now) 7)", trace=collector.url)

    assert 7 == value
    assert "2 spans could not be delivered" in caplog.text


def test_a_collector_that_refuses_is_given_up_at_once(caplog):
    """What it said stands in the warning."""
    with Collector(answer=401) as collector:
        value = sexplang.run("(begin (now) 7)", trace=collector.url)

    assert 7 == value
    assert "2 spans could not be delivered" in caplog.text
    assert "401" in caplog.text


def test_too_many_for_a_dead_collector(nowhere, impatient, monkeypatch):
    """A run waits for it once, and then goes on without."""
    monkeypatch.setattr(batch_processor, "MOST", 50)
    provider, made = sent(nowhere)
    spans_of(provider, 500)
    provider.shutdown()

    assert 500 == made.lost
