"""The message streams of a server at an address, over streamable HTTP.

The library's transport ends the whole connection when one request of HTTP fails, and says little of
a status. Here each failure is the error of its own request, and bodies are bounded.
"""

import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from http import HTTPStatus
from typing import Any

from httpx2 import (
    AsyncClient,
    ConnectError,
    ConnectTimeout,
    PoolTimeout,
    ReadTimeout,
    Request,
    RequestError,
    Response,
    Timeout,
)
from mcp.client.streamable_http import streamable_http_client
from mcp_types import REQUEST_TIMEOUT, JSONRPCError, JSONRPCResponse

from sexplang.runtime.mcp.messages import (
    CUT_OFF,
    MALFORMED,
    MOST_BYTES,
    NO_SESSION,
    NOT_SENT,
    TOO_LARGE,
    WORDS,
    parse,
)
from sexplang.runtime.mcp.results import problem

_SESSION = "mcp-session-id"
_JSON = "application/json"


@asynccontextmanager
async def open_streams(
    url: str, headers: Mapping[str, str], start: float, seconds: float
) -> AsyncIterator[Any]:
    """Yield a pair of streams from and to a server. `start` bounds the seconds of a connection,
    `seconds` those of a silence."""
    async with (
        _Client(timeout=Timeout(start, read=seconds), headers=headers) as client,
        streamable_http_client(url, http_client=client, max_sse_event_size=MOST_BYTES) as streams,
    ):
        yield streams


class _Client(AsyncClient):
    """The library's client of HTTP. A message that gets no answer gets an error in its place."""

    async def send(self, request: Request, **options: Any) -> Response:
        if request.method != "POST":
            return await super().send(request, **options)
        try:
            response = await super().send(request, **options)
            return await _check(response)
        except (ConnectError, ConnectTimeout, PoolTimeout) as error:
            return _make_error(request, NOT_SENT, problem(error))
        except ReadTimeout as error:
            return _make_error(request, REQUEST_TIMEOUT, problem(error))
        except RequestError as error:
            return _make_error(request, CUT_OFF, problem(error))


async def _check(response: Response) -> Response:
    """Return a response that the library reads as it is meant. Raises RequestError."""
    status, request = response.status_code, response.request
    is_json = response.headers.get("content-type", "").lower().startswith(_JSON)
    if status < 400 and not (status == HTTPStatus.OK and is_json):
        return response  # events, whose size is bounded, or nothing that is read
    body = await _read(response)
    if body is None:
        return _make_error(request, TOO_LARGE, WORDS[TOO_LARGE])
    message = _parse(body) if is_json else None
    if status in (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN):
        return _make_error(request, status, f"HTTP {status}")
    if status == HTTPStatus.NOT_FOUND and _SESSION in request.headers:
        return _make_error(request, NO_SESSION, "it has forgotten the session")
    if isinstance(message, JSONRPCError):
        error = message.error
        return _make_error(request, error.code, error.message)
    if status >= 400:
        return _make_error(request, status, f"HTTP {status} {response.reason_phrase}".rstrip())
    if not isinstance(message, JSONRPCResponse):
        return _make_error(request, MALFORMED, WORDS[MALFORMED])
    asked = json.loads(request.content).get("id")
    if message.id != asked:
        return _make_error(request, MALFORMED, f"its answer has the id {message.id}, not {asked}")
    session = {_SESSION: response.headers[_SESSION]} if _SESSION in response.headers else {}
    headers = {"content-type": _JSON, **session}
    return Response(status, headers=headers, content=body, request=request)


async def _read(response: Response) -> bytes | None:
    """Return the body, or None if it is too large."""
    body = bytearray()
    try:
        async for piece in response.aiter_bytes():
            body += piece
            if len(body) > MOST_BYTES:
                return None
    finally:
        await response.aclose()
    return bytes(body)


def _parse(body: bytes) -> Any:
    try:
        return parse(body)
    except ValueError:
        return None


def _make_error(request: Request, code: int, words: str) -> Response:
    """Return a response whose error is that of the request, whatever its id."""
    error = {"jsonrpc": "2.0", "id": None, "error": {"code": code, "message": words}}
    return Response(HTTPStatus.SERVICE_UNAVAILABLE, json=error, request=request)
