"""The text of a reply as it arrives: its pieces, what is whole of it, and who reads it late."""

import json
import threading
from collections import deque
from contextlib import closing
from itertools import pairwise

import anyio
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from runtime_support import ASK
from support.chat_server import chat_server
from support.messages_server import MessagesServer

import sexplang
from sexplang.guards.secrets import KNOWN, learn
from sexplang.runtime.driver.partial_json import read_partial
from sexplang.runtime.driver.text_stream import TextStream, text_of
from sexplang.runtime.journal.redaction import clean
from sexplang.runtime.models.adapters.stream_accumulator import StreamAccumulator
from sexplang.terms.effect import Request

SECRETS = ("sk-test-0123456789abcdef", "p4ss word/with=signs", "aaab-aaab-aaac-00")

ASKING = '(defatom say (params q) (instructions "{{q}}")) (say "tea?")'


@pytest.fixture
def _secrets():
    before = dict(KNOWN.given)
    KNOWN.given.clear()
    learn(SECRETS)
    yield
    KNOWN.given.clear()
    learn([*before, "a credential of nobody"])


def _listen(events):
    """The text of each request, joined as a listener would: anew after each failed attempt."""
    texts = {}
    for event in events:
        if isinstance(event, sexplang.Retrying):
            texts[event.id] = ""
        elif isinstance(event, sexplang.Said):
            texts[event.id] = texts.get(event.id, "") + event.text
    return texts


def _told(pieces):
    """What listeners are told of a reply whose text arrives in pieces, and the whole reply."""
    events, reply = [], StreamAccumulator()
    stream = TextStream(Request("0", "model", (ASK,)), events.append)
    reply.watch = stream.take
    block = {"type": "text", "text": ""}
    reply.take({"type": "message_start", "message": {"content": []}})
    reply.take({"type": "content_block_start", "index": 0, "content_block": block})
    for piece in pieces:
        delta = {"type": "text_delta", "text": piece}
        reply.take({"type": "content_block_delta", "index": 0, "delta": delta})
    reply.take({"type": "content_block_stop", "index": 0})
    whole = clean(text_of(reply.message))
    for event in events:
        event.has_content = True
    shown = [event.text for event in events]
    stream.finish({"content": whole})
    for event in events:
        event.has_content = True
    return shown, "".join(event.text for event in events), whole


def _cut(text, places):
    """A text in pieces, cut between UTF-16 units: a character may be in two of them."""
    units = text.encode("utf-16-le", "surrogatepass")
    ends = sorted({0, len(units), *[2 * (place % (len(units) // 2 + 1)) for place in places]})
    return [units[start:end].decode("utf-16-le", "surrogatepass") for start, end in pairwise(ends)]


texts = st.lists(
    st.one_of(
        st.text(max_size=12),
        st.sampled_from(SECRETS),
        st.sampled_from([each[: len(each) // 2] for each in SECRETS]),
        st.sampled_from([json.dumps(each)[1:-1].replace("s", "\\u0073") for each in SECRETS]),
        st.sampled_from(["\\", "%", "\\u00", "\U0001f375", "\ud83c"]),
    ),
    max_size=8,
).map("".join)


@pytest.mark.usefixtures("_secrets")
@settings(max_examples=500)
@given(texts, st.lists(st.integers(0, 500), max_size=12))
@example("key sk-test-0123456789abcdef.", [14])
@example("\U0001f375 tea", [1])
def test_the_pieces_of_a_reply_are_the_reply(text, places):
    """Wherever it is cut: inside a character, a credential or an escape."""
    shown, joined, whole = _told(_cut(text, places))

    assert whole == joined
    assert not any(secret in piece for piece in shown for secret in SECRETS)


@pytest.mark.usefixtures("_secrets")
def test_what_may_begin_a_credential_is_held_back():
    """And what cannot is not."""
    shown, _, _ = _told(["the key is sk-", "test-0123456789ab", "cdef, tee", " is not"])

    assert ["the key is ", "", "[redacted], tee", " is not"] == shown


BOTH = pytest.mark.parametrize(
    ("server_of", "model_of", "before"),
    [
        (MessagesServer, "{}#m", 2),
        (chat_server, "openai:{}#m", 1),
    ],
    ids=["messages", "openai"],
)
"""A server, the name of its model, and its events before the first text."""


@BOTH
def test_a_stream_that_is_cut_anywhere_has_the_same_text(server_of, model_of, before):
    """The bytes on the wire: inside an event, its JSON or a character."""
    words = ["The tea ", "is \U0001f375 and wärm", ", ", '"quoted"\n', "at five."]
    content = [{"type": "text", "text": "".join(words), "pieces": words}]
    script = [{"chunks": [at, 7, at % 50 + 1], "content": content} for at in range(20, 900, 60)]
    with server_of(*script) as server:
        events = []
        program = f"{ASKING[:-13]} (map (lambda (n) (say (str n))) (range {len(script)}))"
        answers = sexplang.run(
            program,
            model=model_of.format(server.url),
            on_event=events.append,
            event_content=True,
            parallel=1,
        )

    assert {"".join(words)} == {*answers} == {*_listen(events).values()}
    assert len(script) == len(answers) == len(_listen(events))


@BOTH
def test_each_word_is_heard_before_the_next_is_sent(server_of, model_of, before):
    """A hundred listeners, of which one never reads; it has its text at the end, in one event."""
    words = [f"word{at} " for at in range(40)]
    heard, lock = [], threading.Condition()
    queues = [sexplang.EventQueue() for _ in range(99)]

    def hear(event):
        with lock:
            heard.extend([event.text] if isinstance(event, sexplang.Said) else [])
            lock.notify_all()

    def pace(number):
        said = max(0, number - before)
        with lock:
            assert lock.wait_for(lambda: len(heard) >= min(said, len(words)), 10), number

    reading = [threading.Thread(target=deque, args=(queue, 0), daemon=True) for queue in queues[1:]]
    for thread in reading:
        thread.start()
    content = [{"type": "text", "text": "".join(words), "pieces": words}]
    with server_of({"paced": pace, "content": content}) as server:
        model = model_of.format(server.url)
        sexplang.run(ASKING, model=model, on_event=[hear, *queues], event_content=True)
    for thread in reading:
        thread.join(10)

    unread = [*queues[0]]
    assert words == heard
    assert ["Started", "Said", "Finished"] == [type(event).__name__ for event in unread]
    assert "".join(words) == unread[1].text


def test_the_local_model_is_heard_word_by_word():
    """In the thread of the run, and the words are those of its answer."""
    events, threads = [], set()

    def hear(event):
        threads.add(threading.get_ident())
        events.append(event)

    ask = '(defatom say (instructions "Say hello.")) (call-task say)'
    result = sexplang.run(ask, model="local", on_event=hear, event_content=True)

    said = [event for event in events if isinstance(event, sexplang.Said)]
    assert len(said) > 2 and 1 == len(threads)
    assert text_of(events[-1].reply) == "".join(event.text for event in said)
    assert result.usage["output_tokens"] > 2


def test_a_queue_is_read_in_an_event_loop_too():
    """In the loop of the run, and in another while the run is in a thread."""

    async def read(queue):
        return [type(event).__name__ async for event in queue]

    async def main():
        seen = []
        for run in (sexplang.arun, _in_thread):
            queue = sexplang.EventQueue()

            async def note(queue=queue):
                seen.append(await read(queue))

            async with anyio.create_task_group() as group:
                group.start_soon(note)
                await run(ASKING, model=lambda payload: "yes", on_event=queue)
        return seen

    expected = ["Started", "Said", "Finished"]
    assert [expected, expected] == anyio.run(main)


def test_a_reader_whose_loop_is_busy_holds_no_run_up():
    """It has all events when its loop goes on."""
    queue, seen = sexplang.EventQueue(), []
    busy, done, over = threading.Event(), threading.Event(), threading.Event()

    async def read():
        seen.extend([type(event).__name__ async for event in queue])

    async def main():
        async with anyio.create_task_group() as group:
            group.start_soon(read)
            await anyio.sleep(0.01)
            busy.set()
            done.wait(30)  # nothing else goes on in this loop
            over.set()

    reader = threading.Thread(target=anyio.run, args=(main,))
    reader.start()
    assert busy.wait(10)
    sexplang.run(ASKING, model=lambda payload: "yes", on_event=queue)
    assert not over.is_set()
    done.set()
    reader.join(10)

    assert ["Started", "Said", "Finished"] == seen


def test_a_reader_that_gave_up_waiting_breaks_no_run():
    queue = sexplang.EventQueue()

    async def wait():
        with anyio.move_on_after(0.01):
            await anext(aiter(queue))

    anyio.run(wait)
    sexplang.run(ASKING, model=lambda payload: "yes", on_event=queue)

    assert ["Started", "Said", "Finished"] == [type(event).__name__ for event in queue]


async def _in_thread(program, **options):
    await anyio.to_thread.run_sync(lambda: sexplang.run(program, **options))


def test_a_queue_gives_nothing_in_vain():
    """It waits as long as its reader says; after the run it is at its end."""
    queue = sexplang.EventQueue()

    assert queue.get(0.001) is None
    with closing(queue):
        pass
    assert queue.get() is None and [] == [*queue]


def test_a_listener_that_fails_ends_the_run():
    """It is no failure of the server, and the model is not asked again."""

    def fail(event):
        if isinstance(event, sexplang.Said):
            raise ValueError("no room")

    with MessagesServer("hello") as server, pytest.raises(ValueError, match="no room"):
        sexplang.run(ASKING, model=f"{server.url}#m", on_event=fail)
    assert 1 == len(server.journal)


def test_content_is_seen_by_those_who_ask_for_it():
    """The arguments, the text, the value and the reply; else each is None."""
    program = (
        '(defatom rate (instructions "Rate it.") (returns [{stars: integer  why: string}])) (rate)'
    )
    answer = '{"answer": [{"stars": 4, "why": "hot"}, {"stars": 1, "why": "col'
    pieces = [answer[:30], answer[30:], 'd"}]}']
    content = [{"type": "text", "text": "".join(pieces), "pieces": pieces}]
    for is_asked in (True, False):
        events = []
        with MessagesServer({"content": content}) as server:
            options = {"on_event": events.append, "event_content": is_asked}
            sexplang.run(program, model=f"{server.url}#m", **options)
        started, *said, finished = events
        if is_asked:
            assert "Rate it." in json.dumps(started.arguments)
            assert [[], [{"stars": 4, "why": "hot"}]] == [each.value for each in said[:2]]
            assert (
                2 == len(said[2].value) and "".join(pieces) == finished.reply["content"][0]["text"]
            )
        else:
            assert [None, None] == [started.arguments, finished.reply]
            assert {(None, None)} == {(each.text, each.value) for each in said}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"a": [1, 2', {"a": [1]}),
        ('{"a": [1, 2,', {"a": [1, 2]}),
        ('{"a": {"b": "x", "c": tr', {"a": {"b": "x"}}),
        ('[{"a": 1}, {"a": 2', [{"a": 1}]),
        ("[[1], [2", [[1]]),
        ('["a{b", "c[', ["a{b"]),
        ('{"a": "x\\', {}),
        ('Here it is: {"a": 1} [2', {"a": 1}),
        ("no JSON", None),
        ("", None),
    ],
)
def test_what_is_whole_of_a_json_text(text, value):
    assert value == read_partial(text)


names = st.text(max_size=3)
values = st.recursive(
    st.none() | st.booleans() | st.integers(-99, 99) | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=3),
    max_leaves=8,
)


@given(st.lists(values, max_size=4) | st.dictionaries(names, values, max_size=4), st.data())
def test_a_part_of_a_value_is_its_beginning(value, data):
    """The items of a list are whole and the first; the last open one is left out."""
    written = json.dumps(value)
    part = read_partial(written[: data.draw(st.integers(1, len(written)))])

    assert _begins(part, value) and value == read_partial(written + " and so on]")


def _begins(part, whole):
    if isinstance(whole, dict) and isinstance(part, dict):
        return all(key in whole and _begins(item, whole[key]) for key, item in part.items())
    if isinstance(whole, list) and isinstance(part, list):
        return part == whole[: len(part)]
    return part == whole
