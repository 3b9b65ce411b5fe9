"""A command → the two streams of messages that the protocol's client wants, over its pipes.

The library's own way of starting a server ends a process group, and reads lines of any length. Here
the server runs under the supervisor of scripts, and a message has an end.
"""

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any

import anyio
from mcp.shared.message import SessionMessage
from mcp_types import INTERNAL_ERROR, jsonrpc_message_adapter

from sexplang.runtime.scripts.process import Command, Process, supervised

PATIENCE = 2.0
"""Seconds for a server to end by itself when its input does; then it is ended."""

TOLD = 2000
"""Bytes of the end of what it says on standard error, for when it has failed."""


@asynccontextmanager
async def speaking(command: Command, most: int, said: bytearray) -> AsyncIterator[Any]:
    """A pair of streams to a server and from it. What it says beside them is left in `said`; a
    message of more than `most` bytes ends it. Raises OSError if it cannot be started."""
    async with supervised(command) as process, anyio.create_task_group() as group:
        arriving, incoming = anyio.create_memory_object_stream[SessionMessage | Exception](0)
        outgoing, leaving = anyio.create_memory_object_stream[SessionMessage](0)
        group.start_soon(_read, process, arriving, most, said)
        group.start_soon(_write, process, leaving)
        group.start_soon(_listen, process, said)
        try:
            yield incoming, outgoing
        finally:
            with anyio.CancelScope(shield=True), anyio.move_on_after(PATIENCE):
                process.close_input()
                await process.ended()
            group.cancel_scope.cancel()
            for stream in (arriving, incoming, outgoing, leaving):
                stream.close()


async def _read(process: Process, arriving: Any, most: int, said: bytearray) -> None:
    """Its messages, one to a line."""
    rest = bytearray()
    with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
        async with arriving:
            while piece := await process.receive():
                *lines, last = piece.split(b"\n")
                for line in lines:
                    rest += line
                    if rest.strip():
                        await arriving.send(_message(bytes(rest)))
                    rest.clear()
                rest += last
                if len(rest) > most:
                    said += f"a message of more than {most:,} bytes".encode()
                    return


def _message(line: bytes) -> SessionMessage | Exception:
    """One message. An answer that is none of the protocol's is an error of what was asked, which
    nobody would answer else."""
    try:
        return SessionMessage(_parsed(line))
    except ValueError as error:
        asked = _answered(line)
        if asked is None:
            return error
        flaw = b'"error": {"code": %d, "message": "its answer is none of the protocol"}'
        made = b'{"jsonrpc": "2.0", "id": %b, ' + flaw + b"}"
        return SessionMessage(_parsed(made % (asked, INTERNAL_ERROR)))


_PARTS = re.compile(rb'"(?:[^"\\]|\\.)*+(?:"|\Z)|[\[{]|[\]}]', re.DOTALL)
_NAMED = re.compile(rb'\s*:\s*(-?[0-9]{1,15}(?![\w.])|"[\w.:/-]{1,100}")?')


def _answered(line: bytes) -> bytes | None:
    """The id, as it is written, of what a message answers, however deep and long the rest of it is;
    None if it answers nothing."""
    depth, found = 0, None
    for part in _PARTS.finditer(line):
        if part[0] in (b"{", b"["):
            depth += 1
        elif part[0] in (b"}", b"]"):
            depth -= 1
        elif depth == 1 and part[0] in (b'"id"', b'"method"'):
            named = _NAMED.match(line, part.end())
            if named is not None and part[0] == b'"method"':
                return None
            found = named[1] if named is not None else found
    return found


def _parsed(line: bytes) -> Any:
    return jsonrpc_message_adapter.validate_json(line, by_name=False)


async def _write(process: Process, leaving: Any) -> None:
    with suppress(OSError, ValueError):  # it has ended, or its input has
        async with leaving:
            async for each in leaving:
                data = each.message.model_dump_json(by_alias=True, exclude_unset=True)
                await process.send(data.encode() + b"\n")


async def _listen(process: Process, said: bytearray) -> None:
    while piece := await process.receive(errors=True):
        said += piece
        del said[:-TOLD]
