"""A conversation that is over, and another message of its user → the conversation that goes on."""

from itertools import chain

from sexplang.tasks.failures import bad_input
from sexplang.tasks.prompt.history import flaw_of
from sexplang.tasks.session import Block, HandlerSession, Rules
from sexplang.tasks.start.opening_request import check_depth
from sexplang.tasks.turns.turns import ask_again
from sexplang.terms.classes.node import evolve
from sexplang.terms.json.json_writer import json_text
from sexplang.terms.task import Conversation, Want, sign
from sexplang.terms.values.value import Value


def more(
    rules: Rules,
    before: Conversation,
    session: HandlerSession,
    words: Value,
    conversations: tuple[Conversation, ...],
) -> tuple[Conversation, HandlerSession, Want]:
    """The conversation, its session, and what it asks first; all but the words is as it was.
    Raises Fault."""
    setup = session.setup
    depth = conversations[-1].depth + 1 if conversations else 0
    if depth >= rules.max_task_depth or setup.max_depth is not None:
        check_depth(rules.max_task_depth, setup.task, depth, setup.max_depth)
    content = _content(words)
    past, messages = session, _messages_of(session)
    count = len(messages)
    asked = sign(f"{setup.task}\0{count}\0{json_text(content, canonical=True)}")
    session = HandlerSession(
        evolve(setup, depth=depth, earlier=count, past=past),
        session.payload,
        messages,
        session.taken,
    )
    return evolve(before, asked=asked, depth=depth), *ask_again(session, content)


def _messages_of(session: HandlerSession) -> tuple[Block, ...]:
    """All messages of a conversation that is over."""
    parts = []
    over: HandlerSession | None = session
    while over is not None:
        parts.append(over.messages)
        over = over.setup.past
    return tuple(chain.from_iterable(reversed(parts)))


def _content(words: Value) -> tuple[Block, ...]:
    """The blocks of a message: a text is one. Raises Fault."""
    content = ({"type": "text", "text": words},) if isinstance(words, str) else words
    flaw = flaw_of(({"role": "user", "content": content},))
    if flaw is not None:
        raise bad_input(
            f"the words with which a conversation goes on do not fit: {flaw}",
            'write (continue result "words"); a list of content blocks may stand for the words',
        )
    made: tuple[Block, ...] = content
    return made
