"""A call's `history` and what its template says of it → the messages before its prompt.

A conversation keeps nothing when it is over; who wants to go on with one hands its messages in
(inventory 3.4: HistoryConfigSettings).
"""

from collections.abc import Callable
from typing import Any

from sexplang.tasks.failures import bad_input
from sexplang.tasks.request import fields_of, snake
from sexplang.tasks.session import Block, HandlerSession
from sexplang.terms.node import evolve
from sexplang.terms.template import HistoryConfig
from sexplang.terms.value import Value

ROLES = ("user", "assistant")


def is_history(value: Value) -> bool:
    """Whether a value is a list of messages, `{role content}`."""
    return isinstance(value, (tuple, list)) and all(_is_message(item) for item in value)


def _is_message(value: Value) -> bool:
    fields = fields_of(value)
    if fields is None or fields.get("role") not in ROLES:
        return False
    content = fields.get("content")
    return isinstance(content, str) or (
        isinstance(content, tuple) and all(fields_of(block) is not None for block in content)
    )


def configured(template: HistoryConfig, request: Value) -> HistoryConfig:
    """The template's settings and, stronger, the request's. Raises Fault."""
    given = {snake(key): value for key, value in (fields_of(request) or {}).items()}
    chosen: dict[str, Any] = {key: value for key, value in given.items() if value is not None}
    wrong = [key for key, value in chosen.items() if key not in _FITS or not _FITS[key](value)]
    if wrong:
        raise bad_input(
            f"history_config has no such setting or value: {', '.join(wrong)}",
            "write use_session_history: true|false history_turns_to_include: 5 "
            "record_in_session_history: true|false; there is at least 1 turn to include, and "
            "use_session_history: false leaves all out",
            fields=tuple(f"history_config.{name}" for name in wrong),
        )
    return evolve(template, **chosen)


def _is_bool(value: Value) -> bool:
    return isinstance(value, bool)


_FITS: dict[str, Callable[[Value], bool]] = {
    "use_session_history": _is_bool,
    "record_in_session_history": _is_bool,
    "history_turns_to_include": lambda value: type(value) is int and value > 0,
}


def shown(history: tuple[Block, ...], settings: HistoryConfig) -> tuple[Block, ...]:
    """The messages that the model sees: all, the last N questions with their answers, or none."""
    if not settings.use_session_history:
        return ()
    most = settings.history_turns_to_include
    if most is None:
        return history
    asked = [at for at, message in enumerate(history) if message["role"] == "user"]
    return history[asked[-most] :] if len(asked) > most else history


def recorded(session: HandlerSession, text: str) -> tuple[Block, ...] | None:
    """The history with this conversation's question and answer; None where none is kept."""
    setup = session.setup
    if setup.history is None:
        return None
    answer: Block = {"role": "assistant", "content": ({"type": "text", "text": text},)}
    return (*setup.history, session.messages[setup.earlier], answer)
