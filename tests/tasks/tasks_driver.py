"""Replies to conversations: the few lines that drive a task system in these tests."""

from collections.abc import Callable, Iterator
from typing import Any

from attrs import frozen

from sexplang.tasks import task_system
from sexplang.templates import json_schema, read_reply, xml_words
from sexplang.terms.task import (
    Broke,
    Conversation,
    Finished,
    Match,
    Perform,
    TaskSystem,
    error_record,
    make_failed_result,
)
from sexplang.terms.template import Param, Template
from sexplang.terms.values.boundary import value_of
from sexplang.terms.values.value import Record, Value


def system(**options: Any) -> TaskSystem:
    """A task system that reads replies as programs do."""
    return task_system(read_reply, json_schema, xml_words, **options)


def matching(request: Any, templates: tuple[Template, ...], asks: str | None = None) -> Any:
    """The task of a program that takes a request, or the error; `asks` is the task that asks."""
    around = () if asks is None else (Conversation(asks, "", 0),)
    found = system().knowing(templates).match(request, around)
    return found.template if isinstance(found, Match) else found


def template(instructions: str = "Do it.", *params: str, **fields: Any) -> Template:
    """A template with these parameters, all required."""
    fields.setdefault("name", "t")
    return Template(
        params=tuple(Param(name) for name in params), instructions=instructions, **fields
    )


def says(text: str, stop_reason: str | None = "end_turn", **fields: Any) -> dict[str, Value]:
    """A reply of one text."""
    return reply([{"type": "text", "text": text}], stop_reason, **fields)


def uses(*calls: tuple[str, str, Any], text: str = "") -> dict[str, Value]:
    """A reply with tool calls: id, name, input."""
    blocks: list[Any] = [{"type": "text", "text": text}] if text else []
    blocks += [{"type": "tool_use", "id": i, "name": n, "input": given} for i, n, given in calls]
    return reply(blocks, "tool_use")


def reply(blocks: list[Any], stop_reason: str | None, **fields: Any) -> dict[str, Value]:
    """A reply of the Messages protocol."""
    usage = {"input_tokens": 10, "output_tokens": 2}
    made = {"content": blocks, "stop_reason": stop_reason, "usage": usage, "model": "m", **fields}
    value: dict[str, Value] = value_of(made)
    return value


def failure(reason: str = "tool_execution_error", content: str = "") -> Record:
    """What an ask under `attempt` gets for an error."""
    return make_failed_result(
        error_record("TASK_FAILURE", reason, "it broke", content=content or None)
    )


@frozen
class Run:
    """A conversation that is over: how, and all that it asked."""

    end: Finished | Broke
    performed: list[Perform]
    conversation: Conversation
    session: Any

    @property
    def result(self) -> Record:
        assert isinstance(self.end, Finished), self.end
        return self.end.result

    @property
    def error(self) -> dict[str, Value]:
        assert isinstance(self.end, Broke), self.end
        return self.end.error.fields

    @property
    def notes(self) -> dict[str, Value]:
        notes: dict[str, Value] = self.result.fields["notes"]
        return notes

    @property
    def requests(self) -> list[dict[str, Value]]:
        """The payloads sent to the model."""
        return [
            ask.arguments[0]
            for perform in self.performed
            for ask in perform.asks
            if ask.operation == "model"
        ]


Script = list[Any]
Answer = Callable[[Perform], tuple[Value, ...]]


def converse(
    task: Template,
    script: Script,
    inputs: dict[str, Value] | None = None,
    overrides: dict[str, Value] | None = None,
    conversations: tuple[Conversation, ...] = (),
    **options: Any,
) -> Run:
    """Runs a task on a script: one entry for each Perform, a tuple where it asks for several. A
    window that is full is answered as in a program without a handler."""
    tasks = system(**options)
    conversation, session, want = tasks.begin(task, inputs or {}, overrides or {}, conversations)
    performed: list[Perform] = []
    answers: Iterator[Any] = iter(script)
    while isinstance(want, Perform):
        performed.append(want)
        if want.asks[0].operation == "compact":
            session, want = tasks.advance(session, (tasks.compact(*want.asks[0].arguments),))
            continue
        answer = next(answers)
        replies = answer if want.together and isinstance(answer, tuple) else (answer,)
        session, want = tasks.advance(session, replies)
    assert list(answers) == []
    return Run(want, performed, conversation, session)
