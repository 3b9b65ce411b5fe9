"""Tasks in the oracle: a call of one is a conversation, which asks for others than its caller does.

For whom something is asked goes with the evaluation, as the machine's context does: a call hands
it on, a clause that mentions its continuation takes that of whoever performed, and what is resumed
keeps its own.
"""

from typing import Any
from zlib import crc32

from attrs import frozen
from support.computation import Clause, Computation, Fork, Pure, ask, bind, handle, later
from support.running import UNANSWERED, answer

from sexplang.terms.effect import Request
from sexplang.terms.task import error_record, is_mistake
from sexplang.terms.values.boundary import plain

WHOM = "for whom"
"""What an environment holds the conversations under; no name of a program."""

DEEPEST = 5

DEFINED = "".join(
    f"""(defatom {name} (params (n any)) (instructions "{{{{n}}}}") (allowed_tools look))
(define (call-{name} n)
  (let ((said ({name} (if (number? n) n 0)))) (if (string? said) (string->number said) said)))
"""
    for name in ("one", "two")
)


@frozen
class Task:
    """A task that asks its model at most twice: it may use its tool once."""

    name: str


def called(task: Task, given: Any, whom: tuple[Any, ...]) -> Computation:
    """Its answer. A conversation that fails is over before its error is performed."""
    own = task.name, given
    if len(whom) >= DEEPEST or own in whom:
        return ask("error", error_record("TASK_FAILURE", "execution_halted", ""), whom=whom)
    inner = (*whom, own)
    raised = Clause("error", "never", lambda values, _: ask("error", values[0], whom=whom))

    def turn(number: int) -> Computation:
        payload = {"task": task.name, "given": given, "turn": number}
        return bind(ask("model", payload, whom=inner), replied)

    def heard(error: Any) -> Computation:
        """The model is told; a mistake of the program passes it."""
        return ask("error", error, whom=inner) if is_mistake(error) else Pure(None)

    def replied(reply: Any) -> Computation:
        if isinstance(reply, str):
            return Pure(reply)
        ignored = Clause("error", "never", lambda values, _: heard(values[0]))
        used = later(lambda: handle(ask("tool", "look", reply, whom=inner), [ignored], None))
        return bind(Fork(1, whom=inner).of([used]), lambda _: turn(1))

    return handle(turn(0), [raised], None)


# -- The world ----------------------------------------------------------------------------------


def told(request: Request) -> tuple[str, tuple[Any, ...]]:
    """What is compared of a request: of a task's model call, whose it is and which turn; and whom
    it is for."""
    arguments = tuple(plain(argument) for argument in request.arguments)
    if request.operation == "timer":
        return request.operation, arguments
    payload = arguments[0] if arguments else None
    if request.operation == "model" and isinstance(payload, dict):
        messages = payload["messages"]
        given = int(messages[0]["content"][0]["text"])
        arguments = ({"task": payload["task"], "given": given, "turn": len(messages) // 2},)
    names = tuple(each.name for each in request.context.conversations)
    return request.operation, (*arguments, names)


def said(operation: str, arguments: tuple[Any, ...]) -> Any:
    """What the host says: a model fails, uses its tool or gives a number; all else is as ever."""
    if operation == "timer":
        return answer(operation, arguments)
    *arguments, _ = arguments
    payload = arguments[0] if arguments else None
    if operation != "model" or not isinstance(payload, dict):
        return answer(operation, tuple(arguments))
    chance = crc32(repr(sorted(payload.items())).encode())
    if chance % 3 == 0:
        return UNANSWERED
    number = chance // 16 % 8
    return {"n": number} if chance % 3 == 1 and payload["turn"] == 0 else str(number)


def as_reply(operation: str, arguments: tuple[Any, ...]) -> Any:
    """The same in the words of the protocol."""
    reply = said(operation, arguments)
    if operation != "model" or not isinstance(reply, (str, dict)):
        return reply
    if isinstance(reply, str):
        return {"content": ({"type": "text", "text": reply},), "stop_reason": "end_turn"}
    use = {"type": "tool_use", "id": "a", "name": "look", "input": reply}
    return {"content": (use,), "stop_reason": "tool_use"}
