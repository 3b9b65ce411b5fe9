"""What was said in a conversation is there for the next, byte for byte as it was sent."""

import json

from support.messages_server import MessagesServer

import sexplang

ASSISTANT = """
(defatom assistant
  (params q)
  (system "You answer questions about orders.")
  (instructions "{{q}}")
  (allowed_tools look_up))
"""
TWICE = f"""{ASSISTANT}
(define first-turn (call-atomic-task 'assistant inputs: {{q: "What is order 17?"}} history: []))
(define past first-turn.notes.history)
(define second-turn
  (call-atomic-task 'assistant inputs: {{q: "What does it cost?"}} history: past))
second-turn.notes.history
"""


def look_up(order: int) -> dict:
    """Looks an order up."""
    return {"order": order, "what": "tea", "price": 5}


def calls(order: int, *before: dict) -> dict:
    """A reply that looks an order up."""
    use = {"type": "tool_use", "id": f"toolu_{order}", "name": "look_up", "input": {"order": order}}
    return {"content": [*before, use], "stop_reason": "tool_use"}


def said(body: bytes) -> str:
    """The bytes of the messages of a request, without the end of their list."""
    text = body.decode()
    at = text.index('"messages":') + len('"messages":')
    _, end = json.JSONDecoder().raw_decode(text, at)
    return text[at : end - 1]


def check_prefixes(server: MessagesServer) -> None:
    """Each request begins as the one before it, and has the same beside its messages."""
    for before, after in zip(server.bodies, server.bodies[1:], strict=False):
        assert said(after).startswith(said(before))
    beside = [{**body, "messages": ()} for body in server.journal]
    assert all(each == beside[0] for each in beside)


def test_what_a_tool_gave_is_known_in_the_next_turn():
    """An agent that has looked an order up knows it in the next turn."""
    with MessagesServer(calls(17), "It is tea.", "Five.") as server:
        history = sexplang.run(TWICE, model=server.url, tools=[look_up])

    third = server.journal[2]["messages"]
    kinds = [block["type"] for message in third for block in message["content"]]
    assert ["text", "tool_use", "tool_result", "text", "text"] == kinds
    assert '"price": 5' in third[2]["content"][0]["content"]
    assert third == history[:5]
    assert "Five." == history[-1]["content"][0]["text"]
    check_prefixes(server)


def test_blocks_that_the_protocol_wants_back_are_sent_back():
    """Thinking with its signature, and blocks of kinds that nobody here knows."""
    thinking = {"type": "thinking", "thinking": "It is {5}.", "signature": "c2ln"}
    odd = {"type": "container_upload", "file_id": "f1", "größe": 1.5}
    script = [calls(17, thinking, odd), {"content": [thinking, {"type": "text", "text": "Tea."}]}]
    with MessagesServer(*script, "Five.") as server:
        sexplang.run(TWICE, model=server.url, tools=[look_up])

    third = server.journal[2]["messages"]
    assert [thinking, odd] == third[1]["content"][:2]
    assert thinking == third[3]["content"][0]
    check_prefixes(server)


def test_a_question_that_was_asked_again_stays_in_the_history():
    """What was sent was sent: without it, the prefix would be another one."""
    program = ASSISTANT.replace("(allowed_tools look_up)", "(returns {price: integer})") + (
        TWICE.removeprefix(ASSISTANT)
    )
    with MessagesServer("Tea.", '{"price": 5}', '{"price": 6}') as server:
        history = sexplang.run(program, model=server.url)

    assert 6 == len(history)
    check_prefixes(server)
