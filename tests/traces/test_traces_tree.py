"""Spans = effects, each with the right parent, whatever the schedule."""

from random import Random

import pytest
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from support.traced_programs import Made, Place, Played, made, played

from sexplang.runtime.traces.spans import Spans
from sexplang.runtime.traces.tree import Trace

PROGRAMS, SCHEDULES = 100, 10


@pytest.mark.parametrize(
    "tens", [0, 1, 2, *[pytest.param(at, marks=pytest.mark.long) for at in range(3, 10)]]
)
def test_spans_are_the_effects_in_a_thousand_schedules(tens):
    """Each request that was performed has one span; each branch, task and named piece of work has
    one; nothing else has; and each stands where the program says. All thousand with -m long."""
    for seed in range(10 * tens, 10 * tens + 10):
        program = made(Random(seed))
        compiled = program.program
        for schedule in range(SCHEDULES):
            spans, run = traced(program, compiled, Random(f"{seed} {schedule}"))
            agree(spans, run, f"program {seed}, schedule {schedule}: {program.text}")


def test_tracing_changes_nothing():
    """A run asks the same, under the same identities and in the same order, whether or not anybody
    traces it."""
    for seed in range(0, PROGRAMS, 4):
        program = made(Random(seed))
        compiled = program.program
        _, one = traced(program, compiled, Random(seed))
        spans, other = traced(program, compiled, Random(seed), told=False)

        assert asked(one) == asked(other), program.text
        assert len(other.asked) + 1 == len(spans), program.text


def asked(run: Played) -> list[tuple[str, str]]:
    return [(request.id, request.operation) for request, _ in run.asked]


def traced(
    program: Made, compiled: object, random: Random, *, told: bool = True
) -> tuple[list[ReadableSpan], Played]:
    exporter = InMemorySpanExporter()
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    trace = Trace(Spans(provider, "program", "run", lambda: None))
    run = played(program, compiled, random, trace, traced=told)
    return list(exporter.get_finished_spans()), run


def agree(spans: list[ReadableSpan], run: Played, where: str) -> None:
    by_id = {span.context.span_id: span for span in spans}
    (root,) = [span for span in spans if span.parent is None]
    requests = {
        span.attributes["sexplang.request.id"]: span
        for span in spans
        if "sexplang.request.id" in span.attributes
    }

    assert len({span.context.trace_id for span in spans}) == 1, where
    assert len(by_id) == len(spans), where
    assert all(span.start_time <= span.end_time for span in spans), where
    assert all(is_within(span, by_id[span.parent.span_id]) for span in spans if span.parent), where
    assert sorted(requests) == sorted(request.id for request, _ in run.asked), where
    stands: dict[int, Place] = {}
    for request, place in run.asked:
        expected = place.chain()
        found = above(requests[request.id], by_id)
        assert [each.name for each in found[:-1]] == [each.name for each in expected[:-1]], where
        assert found[-1] is root, where
        for span, each in zip(found, expected, strict=True):
            # One place, one span: not two branches in one, nor one branch in two.
            known = stands.setdefault(span.context.span_id, each)
            assert known is each, where
    assert len(stands) == len({id(place) for place in stands.values()}), where
    reached = {*stands, *(span.context.span_id for span in requests.values())}
    for span in spans:
        if run.asked and span.context.span_id not in reached:
            assert is_idle(span, spans), where


def above(span: ReadableSpan, by_id: dict[int, ReadableSpan]) -> list[ReadableSpan]:
    """What a span stands in, innermost first."""
    found = []
    while span.parent is not None:
        span = by_id[span.parent.span_id]
        found.append(span)
    return found


def is_within(span: ReadableSpan, parent: ReadableSpan) -> bool:
    """Nothing outlives what it began in. What is done on behalf of something that is over, such as
    the body of a `catch`, begins after it."""
    return span.end_time <= parent.end_time or span.start_time >= parent.end_time


def is_idle(span: ReadableSpan, spans: list[ReadableSpan]) -> bool:
    """What was cut short before its first request was performed; or held nothing else."""
    inner = [each for each in spans if each.parent and each.parent.span_id == span.context.span_id]
    return bool(
        span.attributes.get("sexplang.cancelled")
        or (inner and all(is_idle(each, spans) for each in inner))
    )
