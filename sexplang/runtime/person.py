"""The performer of `ask-user`: the person at the terminal."""

import os
from collections.abc import Callable
from typing import Any

from sexplang.runtime.driver.requests import Performer
from sexplang.runtime.files.surrogates import require_text
from sexplang.runtime.refusal import Refusal, refuse
from sexplang.terms.classes.node import frozen
from sexplang.terms.effect import Request
from sexplang.terms.values.boundary import value_of
from sexplang.terms.values.text import text


@frozen
class Person:
    """A person at a terminal. `lines` is the descriptor of their input; `say` writes to them."""

    lines: int
    say: Callable[[str], None]


def make_ask_user(person: Person | None) -> Performer:
    """Return the performer of `(ask-user prompt choices)`: the person's answer, or one of the
    choices, as text."""
    turns: list[Any] = []

    def perform(request: Request) -> Any:
        prompt, choices = (*request.arguments, None, None)[:2]
        if prompt is None:
            raise refuse(
                "wrong-type",
                "`ask-user` takes a question",
                hint='for example (ask-user "How large?")',
            )
        if choices is not None and not isinstance(choices, (list, tuple)):
            raise refuse(
                "wrong-type",
                "`ask-user` takes a list of choices",
                hint='for example (ask-user "How large?" ["small" "large"])',
            )
        words = _line(prompt)
        if person is None:
            raise _refuse_question(f"nobody is there to answer: {words}")
        return _read_answer(person, words, [_line(choice) for choice in choices or ()], turns)

    return perform


def _line(value: Any) -> str:
    line: str = require_text(text(value_of(value)), "ask-user")
    return line


async def _read_answer(person: Person, prompt: str, choices: list[str], turns: list[Any]) -> str:
    import anyio

    if not turns:
        turns.append(anyio.Lock())
    async with turns[0]:  # one question at a time over all branches
        person.say(f"{prompt}\n")
        for number, choice in enumerate(choices, 1):
            person.say(f"  {number} {choice}\n")
        while True:
            person.say("? ")
            answer = await _read_typed_line(person)
            if not choices or answer in choices:
                return answer
            if answer.isascii() and answer.isdigit() and 0 < int(answer[:9]) <= len(choices):
                return choices[int(answer) - 1]
            person.say(f"One of these, or a number from 1 to {len(choices)}.\n")


async def _read_typed_line(person: Person) -> str:
    """Return one line without its end."""
    import anyio

    line = b""
    while not line.endswith(b"\n"):
        await anyio.wait_readable(person.lines)
        more = os.read(person.lines, 65_536)
        if not more:
            person.say("\n")
            raise _refuse_question("the person gave no answer")
        line += more
    return line.decode("utf-8", "replace").strip()


def _refuse_question(why: str) -> Refusal:
    return refuse(
        "no-answer",
        f"`ask-user`: {why}",
        hint="run it at a terminal, or answer in the program: "
        "(handle … ((ask-user prompt choices) resume (resume …)))",
    )
