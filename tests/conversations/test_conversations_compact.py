"""A conversation whose window is full goes on: its oldest results are emptied, its newest never."""

import json
from itertools import pairwise

import pytest
from support.messages_server import MessagesServer
from test_conversations_history import said

import sexplang
from sexplang.tasks.prompt.compaction import compact

DIGGER = """
(defatom digger (instructions "Dig.") (limits max_turns: 300) (allowed_tools dig))
(defatom short-sighted (instructions "Dig.") (model "gpt-3.5-turbo") (allowed_tools dig))
"""
LARGE = 20_000


def dig(place: int) -> str:
    """Digs."""
    return (f"gold at {place} and " * LARGE)[:LARGE]


class Miner:
    """A model that digs so often, and counts tokens as a provider does."""

    def __init__(self, turns: int) -> None:
        self.turns, self.asked = turns, 0

    def __call__(self, body: dict) -> dict:
        self.asked += 1
        usage = {"input_tokens": len(json.dumps(body["messages"])) // 4, "output_tokens": 30}
        if self.asked > self.turns:
            return {"content": [{"type": "text", "text": "Rich."}], "usage": usage}
        use = {"id": f"toolu_{self.asked}", "name": "dig", "input": {"place": self.asked}}
        content = [{"type": "tool_use", **use}]
        return {"content": content, "stop_reason": "tool_use", "usage": usage}


def changed(server: MessagesServer) -> list[int]:
    """The requests that do not begin with the bytes of the one before."""
    bodies = map(said, server.bodies)
    return [at for at, (one, two) in enumerate(pairwise(bodies), 1) if not two.startswith(one)]


def results(body: dict) -> list[str]:
    """What the tools gave, as the model is told."""
    return [
        block["content"]
        for message in body["messages"]
        for block in message["content"]
        if block["type"] == "tool_result"
    ]


def test_a_long_conversation_with_large_results_comes_to_its_end(tmp_path):
    """The prefix is the same, byte for byte, between compactions, which are rare; the newest
    result is whole in every turn."""
    program = (
        f"{DIGGER} (define r (call-task digger)) [(answer r) r.notes.compacted r.notes.metrics]"
    )
    record = tmp_path / "run.jsonl"
    with MessagesServer(Miner(30)) as server:
        answer, compacted, metrics = sexplang.run(
            program, model=server.url, tools=[dig], record=record
        )

    assert ("Rich.", 31) == (answer, metrics["turns"]["used"])
    assert all(results(body)[-1] == dig(at) for at, body in enumerate(server.journal) if at)
    other = changed(server)
    assert len(other) == len(compacted) == 2
    for at, done in zip(other, compacted, strict=True):
        body = server.journal[at]
        emptied = [text for text in results(body) if len(text) < 100]
        assert {"[result emptied to fit the window: 20,000 characters]"} == set(emptied)
        assert len(emptied) == done["results"][-1]["turn"]
        assert done["tokens"]["after"] <= done["tokens"]["limit"] // 2 < done["tokens"]["before"]
    assert [each["turn"] for each in compacted[0]["results"]] == list(range(1, 10))
    notes = [json.loads(line) for line in record.read_text().splitlines()]
    told = [line["name"] for line in notes if line.get("kind") == "compaction"]
    assert len(told) == 2
    assert told[0].startswith("9 results emptied (dig; turns 1 to 9): 180,000 characters; ")


def conversation(*sizes: int) -> tuple:
    """A question, and turns with results of so many characters."""
    messages: list = [{"role": "user", "content": "Dig."}]
    for at, size in enumerate(sizes):
        use = {"type": "tool_use", "id": f"t{at}", "name": "dig", "input": {}}
        result = {"type": "tool_result", "tool_use_id": f"t{at}", "content": "x" * size}
        messages += [
            {"role": "assistant", "content": (use,)},
            {"role": "user", "content": (result,)},
        ]
    return tuple(messages)


def sizes(messages: tuple) -> list[int]:
    return [len(each["content"][0]["content"]) for each in messages[2::2]]


def test_the_oldest_results_are_emptied_first_down_to_half_of_the_window():
    """Small ones stay, for a mark takes as much; so does the newest turn, and what is empty."""
    mark = len("[result emptied to fit the window: 3,500 characters]")
    messages = conversation(3500, 70, 3500, 3500, 3500)

    assert [mark, 70, mark, 3500, 3500] == sizes(compact(messages, 3500, 4000))
    assert [mark, 70, 3500, 3500, 3500] == sizes(compact(messages, 2400, 4000))
    assert [mark, 70, mark, mark, 3500] == sizes(compact(messages, 4000, 100))
    once = compact(messages, 4000, 100)
    assert once == compact(once, 4000, 100)


def test_what_is_emptied_says_what_it_was():
    image = {"type": "image", "source": {"type": "base64", "data": "AAAA"}}
    content = ({"type": "text", "text": "tea"}, image, image)
    messages = conversation(9, 9)
    result = {"type": "tool_result", "tool_use_id": "t0", "content": content, "is_error": False}
    messages = (*messages[:2], {"role": "user", "content": (result,)}, *messages[3:])

    (emptied,) = compact(messages, 4000, 10)[2]["content"]
    assert "[result emptied to fit the window: 3 characters, 2 images]" == emptied["content"]
    assert {**result, "content": None} == {**emptied, "content": None}


def test_a_full_window_of_words_alone_ends_the_task():
    """There is nothing that may be emptied without asking the program."""
    program = f"{DIGGER} (define r (call-task digger)) (continue r (long))"
    words = {"long": lambda: "tea and more tea " * 20_000}
    with pytest.raises(sexplang.Failed, match="does not fit into the context window"):
        sexplang.run(program, model=["Hello."], primitives=words, tools=[dig])


@pytest.mark.parametrize(
    "call",
    ["(continue r words)", "(call-atomic-task 'asker inputs: {q: words} history: r.notes.history)"],
)
def test_the_next_call_finds_room_too(call: str):
    """Earlier turns that leave no room for its words are emptied like those of its own."""
    program = f"""
(defatom asker (params q) (instructions "{{{{q}}}}") (allowed_tools dig))
(define r (call-atomic-task 'asker inputs: {{q: "Dig."}} history: []))
(define words (string-join (map (lambda (n) "and more of it ") (range 5000)) ""))
(define next {call})
[next.content next.notes.compacted (length next.notes.history)]"""
    model = Miner(12)
    with MessagesServer(*[model] * 13, "Well.") as server:
        content, compacted, count = sexplang.run(program, model=server.url, tools=[dig])

    assert ("Well.", 1, 28) == (content, len(compacted), count)
    assert [1, 2, 3, 4, 5] == [each["turn"] for each in compacted[0]["results"]][:5]
    assert server.journal[-1]["messages"][-1]["content"][0]["text"] == "and more of it " * 5000


def test_a_handler_says_what_to_go_on_with():
    """It may drop turns, and do what is done without it, too."""
    program = f"""{DIGGER}
(handle (call-task digger)
  ((compact messages used limit) resume
    (resume (cons (first messages) (drop messages (- (length messages) 2)))))
  (return r [(answer r) (map (lambda (each) each.messages) r.notes.compacted)]))"""
    with MessagesServer(Miner(20)) as server:
        answer, messages = sexplang.run(program, model=server.url, tools=[dig])

    assert ("Rich.", [{"before": 33, "after": 3}]) == (answer, messages)
    assert [dig(16)] == results(server.journal[16])

    forwarded = f"""{DIGGER}
(handle (digger)
  ((compact messages used limit) resume (forward resume compact messages used limit)))"""
    with MessagesServer(Miner(20)) as server:
        assert "Rich." == sexplang.run(forwarded, model=server.url, tools=[dig])


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ("nil", "no list of messages"),
        ('"none"', "no list of messages"),
        ("[]", "begin and end"),
        ("(take messages 2)", "begin and end"),
        ("(drop messages 2)", "one result for each call"),
        ('[{role: "user" content: ""}]', "is empty"),
        ('[{role: "user" content: [{type: "txt" text: "x"}]}]', "there is no type `txt`"),
        ('[{role: "user" content: [{type: "image"}]}]', "`image` has no source"),
        (
            '(append messages [{role: "user" content: [{type: "tool_use"}]}])',
            "call of an assistant",
        ),
    ],
)
def test_an_answer_that_no_provider_takes_is_named(given: str, words: str):
    program = f"""{DIGGER}
(handle (short-sighted) ((compact messages used limit) resume (resume {given})))"""
    with MessagesServer(Miner(20)) as server, pytest.raises(sexplang.Failed) as failed:
        sexplang.run(program, model=server.url, tools=[dig])

    error = failed.value.error.fields
    assert "bad-compaction" == error["reason"]
    assert error["hint"].startswith('write (resume [{role: "user" content: "…"} …])')
    assert words in error["message"]


def test_messages_that_do_not_fit_all_the_same_end_the_task():
    program = f"""{DIGGER}
(handle (digger) ((compact messages used limit) resume
  (resume [{{role: "user" content: (string-join (map str (range 100000)) " ")}}])))"""
    with MessagesServer(Miner(20)) as server, pytest.raises(sexplang.Failed) as failed:
        sexplang.run(program, model=server.url, tools=[dig])

    error = failed.value.error.fields
    assert ("RESOURCE_EXHAUSTION", "context") == (error["type"], error["reason"])


def test_a_chat_goes_on_after_a_compaction_with_what_it_left():
    """Turn after turn: what was emptied stays so, and the rest is sent as it was."""
    program = f"""{DIGGER}
(define (talk result turn) (if (= turn 0) result (talk (continue result "More.") (- turn 1))))
(answer (talk (call-task digger) 3))"""

    class Chat(Miner):
        def __call__(self, body: dict) -> dict:
            is_full = len(body["messages"]) % 26 == 25  # twelve results, then words
            self.turns = self.asked if is_full else self.asked + 1
            return super().__call__(body)

    with MessagesServer(Chat(0)) as server:
        sexplang.run(program, model=server.url, tools=[dig])

    assert 4 * 13 == len(server.bodies)
    other = changed(server)
    assert len(other) == 4
    assert all(results(body)[-1].startswith("gold at ") for body in server.journal[1:])
