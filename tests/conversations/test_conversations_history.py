"""What was said in a conversation is there for the next, byte for byte as it was sent."""

import json

import pytest
from support.messages_server import MessagesServer

import sexplang
from sexplang.analysis.slips.kinds import TAKES

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
    # The mark of a cache comes when there is much to keep, and changes nothing before it.
    beside = [{**body, "messages": (), "cache_control": ()} for body in server.journal]
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


def test_a_turn_that_says_more_words_needs_no_second_template():
    """The task's system prompt, tools, model and format stay, and the words are all that is new."""
    program = f"""{ASSISTANT}
(define asked (call-atomic-task 'assistant inputs: {{q: "What is order 17?"}} max_turns: 2))
(define second-turn (continue asked "What does it cost?"))
(define other (continue asked [{{type: "text" text: "And 18?"}}]))
(list asked.content second-turn.content other.content second-turn.usage.input_tokens
  other.notes.metrics.turns)"""
    with MessagesServer(calls(17), "It is tea.", "Five.", calls(18), "Cups.") as server:
        found = sexplang.run(program, model=server.url, tools=[look_up])

    assert ["It is tea.", "Five.", "Cups.", 7, {"used": 2, "limit": 2}] == found
    second, other = server.journal[2]["messages"], server.journal[3]["messages"]
    assert second[:4] == other[:4]
    assert "What does it cost?" == second[4]["content"][0]["text"]
    assert "And 18?" == other[4]["content"][0]["text"]
    first, told, going, aside, last = map(said, server.bodies)
    assert told.startswith(first)
    assert going.startswith(told)
    assert aside.startswith(told)
    assert last.startswith(aside)


def test_what_a_continuation_returns_is_of_the_tasks_type():
    """It is asked again for what does not fit, as the call before."""
    program = """
(defatom rate (params text) (instructions "Rate {{text}}") (returns {stars: integer}))
(define rated (call-task rate "tea"))
(define again (continue rated "And cold?"))
[again.parsed_content (answer again) again.notes.repairs]"""
    script = ['{"stars": 4}', "One star.", '{"stars": 1}']
    with MessagesServer(*script) as server:
        content, answer, repairs = sexplang.run(program, model=server.url)

    assert {"stars": 1} == content == answer
    assert 1 == len(repairs)
    check_prefixes(server)


@pytest.mark.parametrize(
    ("program", "reason"),
    [
        ('(continue (attempt (chat "x")) "y")', "no-conversation"),
        ('(continue (system:run_script "echo" ["x"]) "y")', "no-conversation"),
        ('(continue (json-parse "{}") "y")', "wrong-type"),
        ('(continue (call-task chat "x") (json-parse "5"))', "wrong-type"),
        ('(continue (call-task chat "x") [{type: "text"}])', "input_validation_failure"),
    ],
)
def test_what_cannot_go_on_is_said(program: str, reason: str):
    task = '(defatom chat (params q) (instructions "{{q}}"))'
    caught = f"{task} (try {program} (catch (err) [err.reason err.hint]))"
    permissions = sexplang.Permissions(run=["echo"])

    def replied(payload: dict) -> str:
        if "attempt" in program:
            raise ValueError("no model")
        return "ok"

    found, hint = sexplang.run(caught, model=replied, permissions=permissions)
    assert reason == found
    assert "(continue r" in hint


def test_an_answer_is_no_result_says_check():
    program = '(defatom chat (params q) (instructions "{{q}}"))(continue (chat "x") "y")'
    (found,) = sexplang.check(program)

    assert "`continue` takes a TaskResult, not the answer of `chat`" == found.title
    assert "`(call-task chat …)` gives" in found.hint


def test_a_history_that_is_nil_is_said():
    """Notes have none where none was given; nothing is sent without what was said before."""
    program = """
(defatom chat (params q) (instructions "{{q}}"))
(define r (call-task chat "My name is Ada."))
(call-atomic-task 'chat inputs: {q: "And my name?"} history: r.notes.history)"""
    with MessagesServer("Hello.") as server, pytest.raises(sexplang.Failed) as failed:
        sexplang.run(program, model=server.url)

    message = failed.value.error.fields["message"]
    assert "write `history: []` for the first call" in message
    assert '`(continue r "words")`' in message
    assert 1 == len(server.journal)


@pytest.mark.parametrize(
    ("history", "flaw"),
    [
        ('[{role: "user" content: [{type: "image"}]}]', "`image` has no source"),
        (
            '[{role: "user" content: [{type: "image" source: {type: "base64" data: "A"}}]}]',
            "`image` has no source",
        ),
        ('[{role: "user" content: [{type: "document" source: 5}]}]', "`document` has no source"),
        ('[{role: "user" content: [{type: "zzz" foo: 1}]}]', "there is no type `zzz`"),
        ('[{role: "assistant" content: "a"} {role: "assistant" content: "b"}]', "message 0 is"),
    ],
)
def test_a_message_that_no_provider_takes_is_sent_to_nobody(history: str, flaw: str):
    program = f"""
(defatom chat (params q) (instructions "{{{{q}}}}"))
(call-atomic-task 'chat inputs: {{q: "x"}} history: {history})"""
    with MessagesServer() as server, pytest.raises(sexplang.Failed) as failed:
        sexplang.run(program, model=server.url)

    assert flaw in failed.value.error.fields["message"]
    assert not server.journal


def test_images_by_their_address_and_uploaded_files_are_sent_as_they_are():
    content = """[{type: "image" source: {type: "url" url: "https://example.com/a.png"}}
  {type: "document" source: {type: "file" file_id: "f1"}}
  {type: "document" source: {type: "text" media_type: "text/plain" data: "Tea."}}
  {type: "container_upload" file_id: "f2"}]"""
    program = f"""
(defatom chat (params q) (instructions "{{{{q}}}}"))
(str (call-atomic-task 'chat inputs: {{q: "x"}} history: [{{role: "user" content: {content}}}]))"""
    with MessagesServer("Good.") as server:
        assert "Good." == sexplang.run(program, model=server.url)

    kinds = [block["type"] for block in server.journal[0]["messages"][0]["content"]]
    assert ["image", "document", "document", "container_upload"] == kinds


def test_what_an_attempt_gives_is_a_result_says_check():
    program = '(define r (attempt (error "x"))) (string-length r) (continue r "y")'

    assert "wrong-type" not in [each.code for each in sexplang.check(program)]


@pytest.mark.parametrize(
    "words", ["3", "nil", "true", "{a: 1}", "'a", "(lambda (x) x)", "rated", "(answer rated)"]
)
def test_words_that_are_none_says_check(words: str):
    program = f"""
(defatom chat (params q) (instructions "{{{{q}}}}"))
(defatom rate (instructions "Rate") (returns integer))
(define rated (call-task rate))
(continue (call-task chat "x") {words})"""
    (found,) = [each for each in sexplang.check(program) if each.code == "wrong-type"]

    assert found.title.startswith("`continue` takes a TaskResult and words, not ")
    assert 'write `(continue (call-task chat "x") "words")`' == found.hint


@pytest.mark.parametrize("name", TAKES)
def test_no_value_at_any_place_of_a_call_is_a_mistake_of_check(name: str):
    """Each function that check knows by the kinds that it takes gets each kind at each place."""
    fitting = {"function": "+", "list": "[1]", "text": '"a"', "number": "0", "table": "{a: 1}"}
    fitting |= {"result": "r"}
    others = ["nil", "true", "'a", "count", "(lambda (x) x)", *fitting.values()]
    places = [
        next(word for kind, word in fitting.items() if kind in kinds) for kinds in TAKES[name]
    ]
    places += ["[1]"] * (name == "apply")
    calls = [
        f"({name} {' '.join([*places[:at], word, *places[at + 1 :]])})"
        for at in range(len(places))
        for word in others
    ]
    task = '(defatom rate (instructions "Rate") (returns integer)) (define r (call-task rate))'
    found = sexplang.check(f"{task} (define count (rate)) (list {' '.join(calls)})")

    assert "wrong-type" in [each.code for each in found]


def test_a_result_is_gone_on_with_after_a_freeze_and_in_a_branch():
    """What a result keeps is a value like any other."""
    program = """
(defatom chat (params q) (instructions "{{q}}"))
(define r (call-task chat "one"))
(define waited (read-file "a.txt"))
(par-map (lambda (word) (answer (continue r word))) ["two" "three"])"""
    outcome = sexplang.start(sexplang.build(program))
    outcome = outcome.resume(outcome.requests[0].id, "ONE")
    outcome = sexplang.thaw(
        sexplang.build(program), json.loads(json.dumps(sexplang.freeze(outcome)))
    )
    outcome = outcome.resume(outcome.requests[0].id, "")
    asked = [request.arguments[0]["messages"] for request in outcome.requests]
    assert [["one", "ONE", "two"], ["one", "ONE", "three"]] == [
        [message["content"][0]["text"] for message in messages] for messages in asked
    ]


def test_a_retry_comes_with_the_list_of_flights():
    """What the model saw, and what it is told about its choice, stand in one conversation."""
    program = """
(defatom find-flight (params wish) (system "You find flights.") (instructions "{{wish}}")
  (allowed_tools list_flights) (returns {number: string  origin: string}))
(define (book result tries)
  (let ((flight (answer result)))
    (if (or (equal? flight.origin "SFO") (= tries 0)) flight
      (book (continue result (format "The flight should have origin SFO, not ~a." flight.origin))
        (- tries 1)))))
(book (call-task find-flight "From SFO to ANC.") 2)"""

    def list_flights() -> list:
        """All flights."""
        return [{"number": "AA1", "origin": "BOS"}, {"number": "AA2", "origin": "SFO"}]

    use = {"type": "tool_use", "id": "toolu_1", "name": "list_flights", "input": {}}
    script = [[use], '{"number": "AA1", "origin": "BOS"}', '{"number": "AA2", "origin": "SFO"}']
    with MessagesServer(*script) as server:
        flight = sexplang.run(program, model=server.url, tools=[list_flights])

    assert {"number": "AA2", "origin": "SFO"} == flight
    last = server.journal[2]["messages"]
    assert "AA2" in last[2]["content"][0]["content"]
    assert "The flight should have origin SFO, not BOS." == last[4]["content"][0]["text"]
    check_prefixes(server)


def test_a_chat_that_keeps_all_its_results_is_frozen_in_linear_room():
    """Each result has its own messages, and leads to those before."""

    def frozen(turns: int) -> int:
        program = f"""
(defatom chat (params q) (instructions "{{{{q}}}}"))
(define (talk turn results)
  (if (= turn 0) results (talk (- turn 1) (cons (continue (first results) (str turn)) results))))
(define all (talk {turns} [(call-task chat "0")]))
(read-file "wait")
(length all)"""
        outcome = sexplang.start(sexplang.build(program))
        for _ in range(turns + 1):
            (request,) = outcome.requests
            outcome = outcome.resume(request.id, "Words.")
        assert 2 * turns + 1 == len(request.arguments[0]["messages"])
        return len(json.dumps(sexplang.freeze(outcome)))

    assert frozen(100) < 2.1 * frozen(50)


def test_large_blocks_are_sent_again_as_they_were():
    """An image of 400 KB stands in the prefix of each later turn."""
    program = """
(define-input picture type: string)
(defatom chat (params q) (instructions "{{q}}"))
(define image {type: "image" source: {type: "base64" media_type: "image/png" data: picture}})
(define seen (continue (call-task chat "Hello.") [image {type: "text" text: "What is it?"}]))
(answer (continue (continue seen "And where?") "Thanks."))"""
    picture = "iVBORw0K" * 50_000
    with MessagesServer("Hello.", "Tea.", "Here.", "Bye.") as server:
        assert "Bye." == sexplang.run(program, model=server.url, inputs={"picture": picture})

    assert picture == server.journal[3]["messages"][2]["content"][0]["source"]["data"]
    check_prefixes(server)
