"""Inputs from a terminal: history, completion, colours, several lines."""

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from prompt_toolkit import PromptSession
from prompt_toolkit.completion import CompleteEvent, Completer, Completion, PathCompleter
from prompt_toolkit.document import Document
from prompt_toolkit.history import FileHistory, History, InMemoryHistory
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent

from sexplang.hosts.repl.colon_commands import ORDERS
from sexplang.hosts.repl.definitions import candidates
from sexplang.hosts.repl.input_lines import MORE, PROMPT, indentation, is_whole
from sexplang.hosts.repl.session import Session
from sexplang.package.signals import is_ending

if TYPE_CHECKING:
    from prompt_toolkit.lexers import Lexer

_WORD = re.compile(r"""[^\s,()\[\]{}"';`~]*$""")


def texts(session: Session, environment: Mapping[str, str]) -> Iterator[str]:
    """Yield each input until Ctrl-D."""
    prompt: PromptSession[str] = PromptSession(
        PROMPT,
        multiline=True,
        history=_history(environment),
        completer=_Names(session),
        complete_while_typing=False,
        prompt_continuation=MORE,
        key_bindings=_keys(),
        lexer=_colours(environment),
    )
    while True:
        try:
            text = prompt.prompt()
        except KeyboardInterrupt:
            if is_ending():
                raise
            continue
        except EOFError:
            return
        if text.strip():
            yield text


def _keys() -> KeyBindings:
    keys = KeyBindings()

    @keys.add("enter")
    def _(event: KeyPressEvent) -> None:
        buffer = event.current_buffer
        if is_whole(buffer.text):
            buffer.validate_and_handle()
        else:
            spaces = indentation(buffer.document.text_before_cursor)
            buffer.insert_text("\n" + " " * spaces)

    @keys.add("escape", "enter")
    def _(event: KeyPressEvent) -> None:
        event.current_buffer.insert_text("\n")

    return keys


class _Names(Completer):
    """Completes names of the session and of the language, colon commands, and files after
    `:load`."""

    def __init__(self, session: Session) -> None:
        self.session = session

    def get_completions(self, document: Document, event: CompleteEvent) -> Iterable[Completion]:
        before = document.text_before_cursor
        if before.startswith(":load "):
            path = Document(before.removeprefix(":load ").lstrip())
            yield from PathCompleter(expanduser=True).get_completions(path, event)
            return
        found = _WORD.search(before)
        typed = found[0] if found else ""
        if before.startswith(":") and typed == before:
            names = [order for order in ORDERS if order.startswith(typed)]
        else:
            names = candidates(typed, self.session.growing.names) if typed else []
        for name in names:
            yield Completion(name, -len(typed))


def _history(environment: Mapping[str, str]) -> History:
    """Return the history of earlier sessions. Only its owner may read the file."""
    home = environment.get("XDG_STATE_HOME") or os.path.expanduser("~/.local/state")
    path = os.path.join(home, "sexplang", "history")
    with suppress(OSError):
        os.makedirs(os.path.dirname(path), 0o700, exist_ok=True)
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600))
        return FileHistory(path)
    return InMemoryHistory()


def _colours(environment: Mapping[str, str]) -> "Lexer | None":
    if environment.get("NO_COLOR"):
        return None
    try:
        from prompt_toolkit.lexers import PygmentsLexer

        lexer: Any = __import__("sexplang.hosts.lexer", fromlist=["SexplangLexer"]).SexplangLexer
    except ModuleNotFoundError:
        return None
    return PygmentsLexer(lexer)
