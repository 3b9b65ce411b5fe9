"""The example's plan through the real client, from a server that speaks the protocol."""

import json
from collections import Counter
from itertools import count, pairwise

import pytest
from support.command import sexplang
from support.markdown import ROOT
from support.messages_server import MessagesServer

import sexplang as package

FOLDER = ROOT / "examples" / "plan"
OPENINGS = {"Organise ": "organise", "Arrange this": "arrange"}


class Model:
    """Replies as the example's script does, told from the requests that arrive alone."""

    def __init__(self):
        self.rules = json.loads((FOLDER / "replies.json").read_text())
        self.taken = Counter()
        self.ids = count(1)

    def __call__(self, body):
        text, task = json.dumps(body["messages"]), task_of(body)
        for at, rule in enumerate(self.rules):
            fits = rule["task"] == task and rule.get("contains", "") in text
            if fits and self.taken[at] < rule.get("times", 99):
                self.taken[at] += 1
                return self.said(rule["reply"])
        raise AssertionError(text)

    def said(self, reply):
        if isinstance(reply, str):
            return reply
        return [{"type": "tool_use", "id": f"toolu_{next(self.ids)}", **reply["tool_use"]}]


def task_of(body):
    """Whose conversation a request is, by how its first message begins."""
    (first, *_) = [block["text"] for block in blocks(body["messages"][0])]
    return next((name for words, name in OPENINGS.items() if first.startswith(words)), "find-out")


def blocks(message):
    content = message["content"]
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


@pytest.fixture(scope="module")
def ran():
    """The example's value, and the requests as they arrived."""
    with MessagesServer(Model()) as server:
        value = package.run(FOLDER / "plan.sexp", model=f"{server.url}#m")
    return value, server.journal


def test_the_plan_grows_as_with_the_script(ran):
    """To the last letter; one request for each call."""
    value, journal = ran
    script = ("--model", f"scripted:{FOLDER}/replies.json", "--quiet")

    assert sexplang("run", f"{FOLDER}/plan.sexp", *script).stdout == value + "\n"
    assert {"organise": 3, "arrange": 2, "find-out": 5} == Counter(map(task_of, journal))


def test_each_call_of_a_tool_is_answered_by_its_id(ran):
    """In the message that follows it; a plan that was refused is answered as an error."""
    _, journal = ran
    answers = {}
    for body in journal:
        for one, other in pairwise(body["messages"]):
            uses = [block["id"] for block in blocks(one) if block["type"] == "tool_use"]
            results = [block for block in blocks(other) if block["type"] == "tool_result"]
            assert uses == [block["tool_use_id"] for block in results]
            answers |= {block["tool_use_id"]: block.get("is_error", False) for block in results}

    assert 3 == len(answers)
    assert [True, False, False] == sorted(answers.values(), reverse=True)
    assert answers["toolu_1"]


def test_what_was_sent_once_is_sent_again_as_the_same_bytes(ran):
    """A conversation's next request begins with the one before."""
    _, journal = ran
    for task in ("organise", "arrange"):
        sent = [json.dumps(body["messages"])[:-1] for body in journal if task_of(body) == task]

        assert all(after.startswith(before) for before, after in pairwise(sent))


def test_subtasks_are_asked_in_the_order_that_the_plan_wants(ran):
    """And know nothing of the conversation that proposed them."""
    _, journal = ran
    asked = [(task_of(body), json.dumps(body)) for body in journal]

    def at(words, task="find-out"):
        return next(at for at, (name, text) in enumerate(asked) if name == task and words in text)

    assert at("which day") < min(at("arrange the music", "arrange"), at("rains"))
    assert at("arrange the music", "arrange") < min(at("choir sing"), at("brass band play on"))
    assert max(at("rains"), at("brass band play on")) < at("Sum up")
    assert not any("street party" in text for name, text in asked if name == "find-out")
