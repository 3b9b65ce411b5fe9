"""HTTP connections to a model's server, for the time of a drive.

The SDK supplies the address, the credentials and the protocol version; a request is one POST. Under
asyncio, aiohttp makes the connections: with a thousand open calls, the SDK's default client takes
most of the time.
"""

from base64 import b64encode
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from hashlib import sha256
from json import dumps
from typing import Any

from sexplang.runtime.driver.current_request import find_key
from sexplang.runtime.models.protocols import CHAT, MESSAGES, Target
from sexplang.runtime.models.server_failures import is_broken, refuse_bad_reply
from sexplang.terms.classes.node import define, frozen

PLAIN = ("accept", "anthropic-version")
"""SDK headers that are also sent to servers which no person named. Other headers may come from
variables of the environment."""

LISTING = 5.0
"""Seconds for a server to list its models."""

_BETA = "anthropic-beta"
_KEY = "idempotency-key"

_CLOSING = "llama.cpp"
"""A server that closes connections which it said it would keep."""


@define(eq=False)
class Server:
    """The address, headers and client for requests."""

    http: Any
    url: Any
    headers: dict[str, str]
    is_closing: bool = False
    """Whether the server is one of those."""
    closed: int = 0
    """The connections that it has closed and that the client keeps."""

    @asynccontextmanager
    async def send(
        self, body: dict[str, Any], betas: Sequence[str] = (), path: str | None = None
    ) -> AsyncIterator[Any]:
        """Give the response before its body has arrived. Redirects are not followed, since their
        target is not permitted. `betas` name beta features; `path` is another than that of
        conversations. On a closed connection, the request is sent again at once."""
        headers = self.headers
        if betas:
            known = headers.get(_BETA)
            headers = {**headers, _BETA: ",".join([known, *betas] if known else betas)}
        if self.is_closing:
            headers = {**headers, "connection": "close"}
        data = dumps(body, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode()
        key = find_key()
        if key is not None:  # one request may be sent to several models
            headers = {**headers, _KEY: sha256(key.encode() + data).hexdigest()}
        url = self._url_of(path)
        async with AsyncExitStack() as stack:
            while True:
                asked = self.http.stream(
                    "POST", url, content=data, headers=headers, follow_redirects=False
                )
                try:
                    response = await stack.enter_async_context(asked)
                    break
                # Each kind of connection has its own exceptions.
                except Exception as error:
                    if not self.closed or not is_broken(error):
                        raise
                    self.closed -= 1
            if response.headers.get("server") == _CLOSING:
                self.closed += "connection" not in headers
                self.is_closing = True
            yield response

    async def read_names(self) -> list[str]:
        """Return the names of the server's models; none if it does not tell them soon."""
        import anyio

        with anyio.move_on_after(LISTING):
            try:
                url = self._url_of("/models")
                found = await self.http.get(url, headers=self.headers, follow_redirects=False)
                return [str(each["id"]) for each in found.json()["data"]]
            # The error of the call itself is told, whatever goes wrong here.
            except Exception:
                return []
        return []

    def _url_of(self, path: str | None) -> Any:
        """Return the address of a path beside that of conversations; None is that itself."""
        if path is None:
            return self.url
        return self.url.copy_with(path=f"{self.url.path.removesuffix(CHAT.path)}{path}")


def server_at(at: Target, silence: float) -> Server:
    """Return the server, one per address and drive. Its connections are closed at the end of the
    drive. `silence` is in seconds."""
    from sexplang.runtime.driver.event_loop import keep_resource

    def make() -> Server:
        http = _connections(silence)
        # The SDK would append a slash to the query.
        base_url, _, query = (at.base_url or "").partition("?")
        client = _client(at, base_url or None, http)
        said = {name.lower(): value for name, value in client.default_headers.items()}
        if not at.has_secrets:
            said = {name: said[name] for name in PLAIN if name in said}
        said |= {name.lower(): value for name, value in client.auth_headers.items()}
        if at.user:
            said["authorization"] = f"Basic {b64encode(at.user.encode()).decode()}"
        headers = {name: value for name, value in said.items() if isinstance(value, str)}
        base = client.base_url
        url = base.copy_with(path=f"{base.path.rstrip('/')}{at.protocol.path}")
        url = url.copy_with(query=query.encode()) if query else url
        return Server(http, url, {**headers, "content-type": "application/json"})

    async def close(server: Server) -> None:
        await server.http.aclose()

    key = at.protocol.title, at.base_url, at.user, at.api_key, at.auth_token, at.has_secrets
    return keep_resource(key, make, close)  # type: ignore[no-any-return]


def _client(at: Target, base_url: str | None, http: Any) -> Any:
    """Return the client of the protocol's SDK, which knows addresses and headers."""
    if at.protocol is MESSAGES:
        from anthropic import AsyncAnthropic

        return AsyncAnthropic(
            api_key=at.api_key, auth_token=at.auth_token, base_url=base_url, http_client=http
        )
    from openai import AsyncOpenAI

    return AsyncOpenAI(api_key=at.api_key, base_url=base_url, http_client=http)


CONNECTING = 20.0
"""The most seconds until a connection is there."""


def _connections(silence: float) -> Any:
    from anthropic import DefaultAioHttpClient, DefaultAsyncHttpxClient
    from httpx2 import Limits, Timeout
    from sniffio import current_async_library

    timeout = Timeout(silence, connect=min(silence, CONNECTING))
    if current_async_library() != "asyncio":
        return DefaultAsyncHttpxClient(timeout=timeout)
    # No limit here: the driver limits the calls in flight.
    return DefaultAioHttpClient(timeout=timeout, limits=Limits(max_connections=0))


@frozen
class BoundedResponse:
    """A response with a bounded body. Raises Refusal if it is longer."""

    response: Any
    at: Target
    most: int

    async def aiter_bytes(self) -> AsyncIterator[bytes]:
        """Yield the body's parts as they arrive."""
        size = 0
        async for part in self.response.aiter_bytes():
            size += len(part)
            if size > self.most:
                raise refuse_bad_reply(self.at, f"it is too large: more than {self.most:,} bytes")
            yield part

    async def whole(self) -> bytes:
        """Return the whole body."""
        return b"".join([part async for part in self.aiter_bytes()])
