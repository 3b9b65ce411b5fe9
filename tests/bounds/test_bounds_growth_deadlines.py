"""A deadline of a second holds around work on hostile replies, schemas and indexes."""

import json
from time import process_time

import pytest

import sexplang
from benchmarks.growth_index import SHAPES, make_index
from benchmarks.growth_replies import JSON, LIST, XML
from benchmarks.growth_schemas import doubling

LATE = 0.2
"""Seconds that a deadline may be late: twenty looks at the clock."""


def task(form):
    return f'(defatom t (instructions "List.") (output_format {form}))'


def run(text, **options):
    """Return the processor seconds of a run, and its value."""
    program = sexplang.build(text)
    begun = process_time()
    value = sexplang.run(program, **options)
    return process_time() - begun, value


@pytest.mark.parametrize(
    ("form", "reply"),
    [
        ('type: json schema: "integer[]"', JSON["lone quotes"](100_000)),
        (f"type: xml schema: {json.dumps(LIST.schema)}", XML["bare &"](9_000)),
        (
            f'\'((type "json") (schema {json.dumps(doubling(9))}))',
            json.dumps([1] * 1_000),
        ),
    ],
    ids=["JSON", "XML under an XSD", "a schema of many ways"],
)
def test_a_deadline_holds_around_a_hostile_reply(form, reply):
    text = f"{task(form)} (try (with-timeout 1 (begin (t) nil)) (catch (e) e.reason))"

    seconds, reason = run(text, model=lambda payload: reply)

    assert seconds < 1 + LATE
    assert reason in (None, "output_format_failure", "seconds")


@pytest.mark.parametrize("name", ["files of other words", "one long text"])
def test_a_deadline_holds_around_a_query_of_a_hostile_index(name):
    memory = make_index(SHAPES[name])(8_000)
    query = '(search-memory {query: "tea w1 f2 a"})'
    text = f'(try (with-timeout 1 (get {query} "error")) (catch (e) e.reason))'

    seconds, reason = run(text, memory=memory.index)

    assert seconds < 1 + LATE
    assert reason in (None, "seconds")
