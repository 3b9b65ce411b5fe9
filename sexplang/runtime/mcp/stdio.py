"""The message streams of a server that runs as a command, over its pipes.

The library's own transport ends only a process group and reads lines of any length. Here the server
runs under the supervisor of scripts, and messages are bounded.
"""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any

import anyio
from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCError, JSONRPCRequest, JSONRPCResponse

from sexplang.guards.secrets import longest
from sexplang.runtime.mcp.messages import KEPT, MOST_BYTES, read_message, replace_large
from sexplang.runtime.mcp.results import TOLD
from sexplang.runtime.scripts.process import Command, Process, supervise
from sexplang.terms.classes.node import define

PATIENCE = 2.0
"""Seconds for a server to end by itself after its input was closed; then it is killed."""

LONGEST = 100_000_000
"""Bytes of a message after which the server is ended."""


@define(eq=False)
class _Asked:
    """The requests that were sent. The library numbers them from 1."""

    last: int = 0

    def note(self, message: Any) -> None:
        if isinstance(message, JSONRPCRequest):
            self.last = int(message.id)

    def find_unknown_id(self, message: Any) -> object:
        """Return the id of an answer to none of them, or None."""
        if not isinstance(message, JSONRPCResponse | JSONRPCError) or message.id is None:
            return None
        is_one = str(message.id).isdecimal() and 0 < int(message.id) <= self.last
        return None if is_one else message.id


@asynccontextmanager
async def open_streams(
    command: Command, said: bytearray, on_end: Callable[[str], None]
) -> AsyncIterator[Any]:
    """Yield a pair of streams from and to a server. Its standard error is collected in `said`. A
    message of more than MOST_BYTES becomes an error of its request. `on_end` is called with what
    the server did when no more is read: it ended, exceeded LONGEST, or sent something that answers
    no request. Raises OSError if it cannot be started.
    """
    async with supervise(command) as process, anyio.create_task_group() as group:
        arriving, incoming = anyio.create_memory_object_stream[SessionMessage | Exception](0)
        outgoing, leaving = anyio.create_memory_object_stream[SessionMessage](0)
        asked = _Asked()
        group.start_soon(_read, process, arriving, asked, on_end)
        group.start_soon(_write, process, leaving, asked, on_end)
        group.start_soon(_listen, process, said)
        try:
            yield incoming, outgoing
        finally:
            with anyio.CancelScope(shield=True), anyio.move_on_after(PATIENCE):
                process.close_input()
                await process.wait_for_end()
            group.cancel_scope.cancel()
            for stream in (arriving, incoming, outgoing, leaving):
                stream.close()


async def _read(
    process: Process, arriving: Any, asked: _Asked, on_end: Callable[[str], None]
) -> None:
    with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
        async with arriving:
            on_end(await _forward(process, arriving, asked))


async def _forward(process: Process, arriving: Any, asked: _Asked) -> str:
    """Forward the server's messages, one per line. Return why there are no more."""
    rest, size = bytearray(), 0
    while piece := await process.receive():
        *lines, last = piece.split(b"\n")
        for line in lines:
            rest += line
            message: SessionMessage | Exception | None = None
            if size + len(line) > MOST_BYTES:
                message = replace_large(bytes(rest))
                if message is None:
                    return f"sent a message of more than {MOST_BYTES:,} bytes"
            elif rest.strip():
                message = read_message(bytes(rest))
            unknown = asked.find_unknown_id(getattr(message, "message", None))
            if unknown is not None:
                return f"answered a request that it was never sent, with the id {unknown}"
            if message is not None:
                await arriving.send(message)
            rest.clear()
            size = 0
        rest += last
        size += len(last)
        if size > MOST_BYTES:
            del rest[MOST_BYTES:-KEPT]
        if size > LONGEST:
            return f"sent a message of more than {LONGEST:,} bytes"
    return "ended"


async def _write(
    process: Process, leaving: Any, asked: _Asked, on_end: Callable[[str], None]
) -> None:
    async with leaving:
        with suppress(OSError, ValueError):  # the process or its input has ended
            async for each in leaving:
                asked.note(each.message)
                data = each.message.model_dump_json(by_alias=True, exclude_unset=True)
                await process.send(data.encode() + b"\n")
        on_end("ended")


async def _listen(process: Process, said: bytearray) -> None:
    while piece := await process.receive(errors=True):
        said += piece
        del said[: -TOLD - longest()]  # what is cut is redacted before
