"""Many model calls at once: as wide as is asked for, in few threads, and cheap while they wait."""

import threading
import tracemalloc
from copy import deepcopy
from functools import reduce

import anyio
import pytest
from runtime_support import ASK, begun, par, perform, table
from support.messages_server import MessagesServer
from support.sources import no_files
from support.wide_server import WideServer

from sexplang.machine import start
from sexplang.pipeline.pipeline import build
from sexplang.runtime import Endpoint, Journal, adrive, drive
from sexplang.runtime.driver.events import Started
from sexplang.runtime.driver.run import Run
from sexplang.runtime.models.adapters.stream_accumulator import StreamAccumulator
from sexplang.terms.source import Source


def wide(branches, model="m"):
    text = f"""(length (par-map (lambda (n)
      (model {{max_tokens: 9 messages: [{{role: "user" content: (format "tea ~a" n)}}]}}))
      (range {branches})))"""
    return start(build(Source("wide", text), no_files))


@pytest.mark.parametrize(("branches", "parallel"), [(300, 300), (301, 7)])
def test_as_many_calls_are_open_at_the_server_as_may_be(branches, parallel):
    """The server answers when so many are open; each is sent once. No branch has a thread."""
    threads, before = set(), threading.active_count()

    def watch(event):
        if isinstance(event, Started):
            threads.add(threading.active_count())

    with WideServer(together=parallel) as server:
        performers = table(model=f"{server.url}#m", endpoint=Endpoint())
        outcome = drive(wide(branches), performers, parallel=parallel, on_event=watch)
        counts = server.counts()

    assert branches == outcome.value
    assert {"requests": branches, "distinct": branches, "most": parallel} == counts
    assert max(threads) - before < 40


@pytest.mark.parametrize("library", ["asyncio", "trio"])
def test_whichever_loop_a_caller_has(library):
    """The connections that asyncio gets are not for trio, which has others."""
    with WideServer() as server:

        async def main():
            return await adrive(wide(20), table(model=f"{server.url}#m", endpoint=Endpoint()))

        assert 20 == anyio.run(main, backend=library).value


def test_a_call_that_waits_for_its_place_is_little_more_than_its_request():
    """10,000 branches, of which 16 are under way."""

    async def never():
        await anyio.sleep(3600)

    outcome = wide(10_000)
    tracemalloc.start()
    run = Run(outcome, {"model": lambda request: never()}, Journal())
    while run.step():
        pass
    held, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert 16 == len(run.awaitables)
    assert held < 10_000 * 1_000
    run.abandon()


def test_a_run_that_is_left_leaves_the_calls_that_wait_unmade():
    """Also those that have no place yet."""
    program = par(*[perform("model", {**ASK, "max_tokens": at + 1}) for at in range(30)])
    with MessagesServer({"fail": "hang"}) as server:

        async def main():
            with anyio.move_on_after(0.5):
                performers = table(model=f"{server.url}#m", endpoint=Endpoint())
                await adrive(begun(program), performers, parallel=3)

        anyio.run(main)
        assert len(server.journal) <= 3


def grown(*events):
    pieces = []
    reply = StreamAccumulator(watch=lambda kind, piece: pieces.append(piece))
    for event in deepcopy(events):
        reply.take(event)
    return reply, pieces


START = {"type": "message_start", "message": {"content": [], "usage": {"input_tokens": 5}}}


def block(at, start, *deltas):
    yield {"type": "content_block_start", "index": at, "content_block": start}
    for delta in deltas:
        yield {"type": "content_block_delta", "index": at, "delta": delta}
    yield {"type": "content_block_stop", "index": at}


def test_a_reply_grows_out_of_its_events():
    """Texts and inputs in pieces, citations one by one; counts at the end replace those before."""
    citation = {"type": "char_location", "start_char_index": 0}
    reply, pieces = grown(
        START,
        *block(
            0,
            {"type": "thinking", "thinking": ""},
            {"type": "thinking_delta", "thinking": "hm"},
            {"type": "signature_delta", "signature": "abc"},
        ),
        *block(
            1,
            {"type": "text", "text": ""},
            {"type": "text_delta", "text": "te"},
            {"type": "citations_delta", "citation": citation},
            {"type": "text_delta", "text": "a"},
        ),
        *block(
            2,
            {"type": "tool_use", "id": "t", "name": "look", "input": {}},
            {"type": "input_json_delta", "partial_json": '{"a": [1'},
            {"type": "input_json_delta", "partial_json": ", 2]}"},
        ),
        *block(3, {"type": "tool_use", "id": "u", "name": "now", "input": {}}),
        *block(4, {"type": "something_new", "data": [1]}, {"type": "new_delta", "more": 2}),
        {
            "type": "message_delta",
            "delta": {"stop_reason": "tool_use", "stop_sequence": None},
            "usage": {"output_tokens": 9, "input_tokens": None},
        },
        {"type": "message_stop"},
    )

    assert reply.is_complete
    assert "hmtea" == "".join(pieces)[:5]
    assert [
        {"type": "thinking", "thinking": "hm", "signature": "abc"},
        {"type": "text", "text": "tea", "citations": [citation]},
        {"type": "tool_use", "id": "t", "name": "look", "input": {"a": [1, 2]}},
        {"type": "tool_use", "id": "u", "name": "now", "input": {}},
        {"type": "something_new", "data": [1]},
    ] == reply.message["content"]
    assert {"input_tokens": 5, "output_tokens": 9} == reply.message["usage"]
    assert "tool_use" == reply.message["stop_reason"]


FLAWED = ['{"a": 1, "a": 2', f'{{"a": {"9" * 5_000}', '{"a": 1, "a": 2} {}', '["\\ud800"']


@pytest.mark.parametrize(
    "text", [*['{"a": 1, "b": [2, 3', '{"a": 1}}', '{"a": 1} {}', '{"a": NaN}'], *FLAWED]
)
def test_of_an_input_that_is_not_whole_nothing_is_kept(text):
    """Half a list of files is another list."""
    start = {"type": "tool_use", "id": "t", "name": "look", "input": {}}
    reply, _ = grown(START, *block(0, start, {"type": "input_json_delta", "partial_json": text}))

    assert reply.has_cut_input
    assert {} == reply.message["content"][0]["input"]


@pytest.mark.parametrize(
    "events",
    [
        [{"type": "message_stop"}],
        [{"type": "content_block_start", "index": 0, "content_block": {}}],
        [START, {"type": "content_block_delta", "index": 3, "delta": {"type": "text_delta"}}],
        [START, *block(0, {"type": "text"}, {"text": "x"})],
        [{"no": "type"}],
        [{"type": "message_start", "message": 3}],
        [START, *block(0, {"type": "text"}, {"type": "text_delta", "text": 3})],
    ],
    ids=range(7),
)
def test_events_out_of_order_are_no_reply(events):
    """Nobody guesses what they might mean."""
    with pytest.raises((KeyError, IndexError, TypeError, AttributeError, ValueError)):
        grown(*events)


def given(text):
    """What a tool is called with, and whether it is no whole JSON."""
    reply, _ = grown(
        START,
        *block(
            0,
            {"type": "tool_use", "id": "t", "name": "look", "input": {}},
            {"type": "input_json_delta", "partial_json": text},
        ),
    )
    (made,) = reply.message["content"]
    return made["input"], reply.has_cut_input


@pytest.mark.parametrize(
    "text",
    [
        '{"a": 1, "a": 2}',
        '{"a": {"b": 1, "b": 1}}',
        f'{{"a": {"9" * 4_250}}}',
        f'{{"a": {"9" * 5_000}}}',
        f'{{"a": -{"9" * 50_000}}}',
        '{"a": 1e400}',
        '{"a": [-12E+309]}',
        f'{{"a": {"9" * 250}e99}}',
        f'{{"a": {"[" * 20_000}{"]" * 20_000}}}',
    ],
    ids=len,
)
def test_an_input_that_nobody_can_hold_stays_a_text(text):
    """For the task to tell its model; it is no part of a call."""
    assert (text, False) == given(text)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"a": "\\ud800"}', {"a": "?"}),
        (f'{{"a": "{"9" * 5_000}"}}', {"a": "9" * 5_000}),
        (f'{{"a": {"9" * 4_200}}}', {"a": int("9" * 4_200)}),
        (f'{{"a": 0.{"9" * 5_000}}}', {"a": 1.0}),
        ('{"a": 1e308, "b": "1e400", "c": 1e-400}', {"a": 1e308, "b": "1e400", "c": 0.0}),
        (f'{{"a": {"[" * 300}{"]" * 300}}}', {"a": reduce(lambda x, _: [x], range(299), [])}),
    ],
    ids=["half", "text", "integer", "float", "large", "deep"],
)
def test_an_input_that_can_be_held_is_what_it_says(text, value):
    """Digits in a text are no integer; half of a surrogate pair is `?`."""
    assert (value, False) == given(text)
