"""A program against a server of models on the loopback."""

from typing import Any

from support.messages_server import MessagesServer

import sexplang


def run_served(program: Any, *script: Any, **options: Any) -> tuple[Any, list[Any]]:
    """The value of a program, and what the server was sent."""
    with MessagesServer(*script) as server:
        value = sexplang.run(program, model=server.url, **options)
    return value, server.journal
