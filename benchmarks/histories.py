"""What conversations send again: tokens of whole programs, how much of them a prompt cache knows,
and a long conversation with large results to its end.

The model is a function, tokens are estimated as the language does. Known to a cache is what begins
a request byte for byte as the one before it, with the same tools and system prompt.

    python benchmarks/histories.py [--turns 200]

Ends with 1 if the long conversation does not come to its end, if a request between two compactions
does not begin with the bytes of the one before, or if what a frozen chat holds grows with the
square of its turns.
"""

import argparse
import json
import sys
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import sexplang

BYTES_IN_TOKEN = 3.5
LARGE = 20_000

CHAT = """
(defatom clerk (params q) (system "You answer questions about orders.") (instructions "{{q}}")
  (allowed_tools look_up))
(define (chat turn past)
  (if (= turn 10) (length past)
    (let ((r (call-atomic-task 'clerk inputs: {q: (str "Question " turn)} history: past)))
      (chat (+ turn 1) r.notes.history))))
(chat 0 [])"""

FLIGHTS = """
(defatom find-flight (params wish) (system "You find flights.") (instructions "{{wish}}")
  (allowed_tools list_flights))
(define (ask wish past) (call-atomic-task 'find-flight inputs: {wish: wish} history: past))
(define first-try (ask "From SFO to ANC, on 10 January." []))
(define second-try (ask "The flight should have origin SFO, not BOS." first-try.notes.history))
(answer second-try)"""

IMPROVE = """
(defatom write-it (params before) (instructions "Write a sign. So far: {{before}}"))
(defatom judge (params sign) (instructions "Is it good? {{sign}}") (returns {success: boolean}))
(director-evaluator-loop max_iterations: 3 initial: "nothing"
  director: (lambda (input i) input)
  executor: (lambda (plan i) (write-it plan))
  evaluator: (lambda (execution plan i) (judge execution))
  controller: (lambda (evaluation plan execution i)
    (if evaluation.success ['stop execution] ['continue execution])))"""

LONG = """
(defatom digger (instructions "Dig.") (limits max_turns: 1000) (allowed_tools dig))
(define r (call-task digger))
[(answer r) r.notes.compacted]"""

KEPT = """
(defatom chat (params q) (instructions "{{q}}"))
(define (talk turn results)
  (if (= turn 0) results (talk (- turn 1) (cons (continue (first results) (str turn)) results))))
(define all (talk TURNS [(call-task chat "0")]))
(read-file "wait")
(length all)"""

Model = Callable[[dict[str, Any]], Any]


def look_up(order: int) -> str:
    """Looks an order up."""
    return f"order {order}: tea, 5 euros; " * 40


def list_flights(date: str) -> str:
    """The flights of a day."""
    return "\n".join(f"AA{at} from BOS to ANC at {at}:00" for at in range(100))


def dig(place: int) -> str:
    """Digs."""
    return (f"gold at {place} and " * LARGE)[:LARGE]


def asking(payload: dict[str, Any]) -> bool:
    """Whether the last message is a question and no result of a tool."""
    content = payload["messages"][-1]["content"]
    return isinstance(content, str) or content[0]["type"] == "text"


def using(name: str, given: dict[str, Any]) -> Model:
    """A model that uses its tool once for each question."""

    def reply(payload: dict[str, Any]) -> Any:
        if asking(payload):
            return {"tool_use": {"name": name, "input": given}}
        return "It is so."

    return reply


def improving(payload: dict[str, Any]) -> Any:
    if payload["task"] == "judge":
        return json.dumps({"success": "fine fine" in json.dumps(payload["messages"])})
    return "A fine sign." if "nothing" in json.dumps(payload["messages"]) else "A fine fine sign."


def watched(model: Model, asked: list[dict[str, Any]]) -> Model:
    def reply(payload: dict[str, Any]) -> Any:
        asked.append(payload)
        return model(payload)

    return reply


def sent(payload: dict[str, Any]) -> str:
    """A request's bytes as they grow: what stands before the messages, and these."""
    before = json.dumps([payload.get("tools"), payload.get("system")])
    return before + json.dumps(payload["messages"])[:-1]


def known(asked: list[dict[str, Any]]) -> tuple[int, int, int]:
    """Requests; tokens of all; and of those, what the request before begins with."""
    texts = [sent(each) for each in asked]
    total = sum(map(len, texts))
    cached = sum(len(one) for one, two in pairwise(texts) if two.startswith(one))
    return len(texts), round(total / BYTES_IN_TOKEN), round(cached / BYTES_IN_TOKEN)


def programs() -> None:
    """Tokens of three programs."""
    print(f"{'':22}{'requests':>10}{'tokens':>10}{'known':>10}")
    for name, program, model in (
        ("chat of 10 turns", CHAT, using("look_up", {"order": 17})),
        ("flights, one retry", FLIGHTS, using("list_flights", {"date": "10 January"})),
        ("director-evaluator", IMPROVE, improving),
    ):
        asked: list[dict[str, Any]] = []
        sexplang.run(program, model=watched(model, asked), tools=[look_up, list_flights])
        print(f"{name:22}{known(asked)[0]:10,}{known(asked)[1]:10,}{known(asked)[2]:10,}")


def long(turns: int) -> bool:
    """A conversation of so many turns, each with a result of 20 KB."""
    asked: list[dict[str, Any]] = []
    count = 0

    def digging(payload: dict[str, Any]) -> Any:
        nonlocal count
        count += 1
        usage = {"input_tokens": len(json.dumps(payload["messages"])) // 4, "output_tokens": 30}
        if count == turns:
            return {
                "content": [{"type": "text", "text": "Rich."}],
                "stop_reason": "end_turn",
                "usage": usage,
            }
        use = {"type": "tool_use", "id": f"t{count}", "name": "dig", "input": {"place": count}}
        return {"content": [use], "stop_reason": "tool_use", "usage": usage}

    said, compacted = sexplang.run(LONG, model=watched(digging, asked), tools=[dig])
    texts = [sent(each) for each in asked]
    other = sum(not two.startswith(one) for one, two in pairwise(texts))
    requests, tokens, cached = known(asked)
    print(f"\n{turns} turns with results of {LARGE:,} characters: {said}")
    print(
        f"{len(compacted)} compactions, {other} requests that begin otherwise than the one before"
    )
    print(f"{tokens:,} tokens in {requests} requests, {cached:,} known from the one before")
    for each in compacted[:3]:
        print(f"  {len(each['results'])} results emptied: {each['tokens']}")
    return bool(said == "Rich." and len(compacted) == other)


def kept(turns: int) -> bool:
    """What a run holds that keeps the result of each turn, frozen."""
    sizes = []
    for count in (turns // 2, turns):
        program = sexplang.build(KEPT.replace("TURNS", str(count)))
        outcome = sexplang.start(program)
        while outcome.requests[0].operation == "model":
            outcome = outcome.resume(outcome.requests[0].id, "Words. " * 100)
        sizes.append(len(json.dumps(sexplang.freeze(outcome))))
    print(
        f"\na chat that keeps the results of all {turns // 2} and {turns} turns, frozen: ", end=""
    )
    print(" and ".join(f"{size:,} bytes" for size in sizes))
    return sizes[1] < 3 * sizes[0]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--turns", type=int, default=200)
    turns = parser.parse_args().turns
    programs()
    return 0 if long(turns) & kept(turns) else 1


if __name__ == "__main__":
    sys.exit(main())
