"""The message streams of a server that runs as a command, over its pipes.

The library's own transport ends only a process group and reads lines of any length. Here the server
runs under the supervisor of scripts, and messages are bounded.
"""

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any

import anyio
from mcp.shared.message import SessionMessage
from mcp_types import INTERNAL_ERROR, jsonrpc_message_adapter

from sexplang.runtime.mcp.results import too_large
from sexplang.runtime.scripts.process import Command, Process, supervise

PATIENCE = 2.0
"""Seconds for a server to end by itself after its input was closed; then it is killed."""

TOLD = 2000
"""Bytes of the end of a server's standard error that an error message may contain."""

LONGEST = 100_000_000
"""Bytes of a message after which the server is ended."""

_LAST = 300
"""Bytes kept from the end of a message that is too large; the id of the request may be there."""


@asynccontextmanager
async def open_streams(command: Command, most: int, said: bytearray) -> AsyncIterator[Any]:
    """Yield a pair of streams from and to a server. Its standard error is collected in `said`. A
    message of more than `most` bytes becomes an error of its request. The server is ended if the
    request is unknown, or if the message exceeds LONGEST. Raises OSError if it cannot be started.
    """
    async with supervise(command) as process, anyio.create_task_group() as group:
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
                await process.wait_for_end()
            group.cancel_scope.cancel()
            for stream in (arriving, incoming, outgoing, leaving):
                stream.close()


async def _read(process: Process, arriving: Any, most: int, said: bytearray) -> None:
    """Forward the server's messages, one per line."""
    rest, size = bytearray(), 0
    with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
        async with arriving:
            while piece := await process.receive():
                *lines, last = piece.split(b"\n")
                for line in lines:
                    rest += line
                    message: SessionMessage | Exception | None = None
                    if size + len(line) > most:
                        message = _too_large(bytes(rest), most)
                        if message is None:
                            said += f"a message of more than {most:,} bytes".encode()
                            return
                    elif rest.strip():
                        message = _message(bytes(rest))
                    if message is not None:
                        await arriving.send(message)
                    rest.clear()
                    size = 0
                rest += last
                size += len(last)
                if size > most:
                    del rest[most:-_LAST]
                if size > LONGEST:
                    said += f"a message of more than {LONGEST:,} bytes".encode()
                    return


def _message(line: bytes) -> SessionMessage | Exception:
    """Return one message. A malformed answer becomes an error of its request, which would otherwise
    get no answer."""
    try:
        return SessionMessage(_parse(line))
    except ValueError as error:
        asked = _find_id(line)
        return error if asked is None else _make_error(asked, "its answer is none of the protocol")


def _too_large(line: bytes, most: int) -> SessionMessage | None:
    """Return the error message that replaces a message of which only beginning and end are kept."""
    asked = _find_id(line[:most])
    if asked is None:
        last = _ENDS.search(line[-_LAST:])
        asked = last[1] if last is not None else None
    return None if asked is None else _make_error(asked, too_large(most))


def _make_error(asked: bytes, words: str) -> SessionMessage:
    made = b'{"jsonrpc": "2.0", "id": %b, "error": {"code": %d, "message": "%b"}}'
    return SessionMessage(_parse(made % (asked, INTERNAL_ERROR, words.encode())))


_PARTS = re.compile(rb'"(?:[^"\\]|\\.)*+(?:"|\Z)|[\[{]|[\]}]', re.DOTALL)
_ID = rb'(-?[0-9]{1,15}(?![\w.])|"[\w.:/-]{1,100}")'
_NAMED = re.compile(rb"\s*:\s*" + _ID + rb"?")
_ENDS = re.compile(rb'[,{]\s*"id"\s*:\s*' + _ID + rb'\s*(?:,\s*"jsonrpc"\s*:\s*"2\.0"\s*)?\}\s*\Z')


def _find_id(line: bytes) -> bytes | None:
    """Return the id of the request that a message answers, as written, or None. Works on messages
    of any depth and length."""
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


def _parse(line: bytes) -> Any:
    return jsonrpc_message_adapter.validate_json(line, by_name=False)


async def _write(process: Process, leaving: Any) -> None:
    with suppress(OSError, ValueError):  # the process or its input has ended
        async with leaving:
            async for each in leaving:
                data = each.message.model_dump_json(by_alias=True, exclude_unset=True)
                await process.send(data.encode() + b"\n")


async def _listen(process: Process, said: bytearray) -> None:
    while piece := await process.receive(errors=True):
        said += piece
        del said[:-TOLD]
