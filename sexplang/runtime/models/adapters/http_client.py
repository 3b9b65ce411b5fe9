"""A server's address → the connections through which a drive asks it.

The SDK says where the server is, as whom it is asked and in which version of the protocol; a
request is one POST. Under asyncio the connections are aiohttp's: those that the SDK takes by
default cost more for each one that is open, and at a thousand of them most of the time goes there.
"""

from base64 import b64encode
from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager
from json import dumps
from typing import TYPE_CHECKING, Any

from sexplang.runtime.models.server_failures import not_a_reply
from sexplang.terms.classes.node import frozen

if TYPE_CHECKING:
    from sexplang.runtime.models.adapters.messages import Target


PLAIN = ("accept", "anthropic-version")
"""Those of the SDK's headers that a server is sent which no person named: others may be what
ANTHROPIC_CUSTOM_HEADERS says."""


_BETA = "anthropic-beta"


@frozen
class Server:
    """Where requests go, and what opens it."""

    http: Any
    url: Any
    headers: dict[str, str]

    def send(
        self, body: dict[str, Any], betas: Sequence[str] = ()
    ) -> AbstractAsyncContextManager[Any]:
        """The response to a request, whose body has not arrived yet. No redirect is followed: where
        it leads, nobody has permitted. `betas` name what the server has on trial."""
        headers = self.headers
        if betas:
            known = headers.get(_BETA)
            headers = {**headers, _BETA: ",".join([known, *betas] if known else betas)}
        data = dumps(body, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode()
        asked: AbstractAsyncContextManager[Any] = self.http.stream(
            "POST", self.url, content=data, headers=headers, follow_redirects=False
        )
        return asked


def server_at(at: "Target", silence: float) -> Server:
    """One per server and drive; its connections are closed when the drive ends. `silence` is in
    seconds."""
    from sexplang.runtime.driver.event_loop import keep

    def make() -> Server:
        from anthropic import AsyncAnthropic

        http = _connections(silence)
        # The SDK would put a slash at its end, which is the query's.
        base_url, _, query = (at.base_url or "").partition("?")
        client = AsyncAnthropic(
            api_key=at.api_key,
            auth_token=at.auth_token,
            base_url=base_url or None,
            http_client=http,
        )
        said = {name.lower(): value for name, value in client.default_headers.items()}
        if not at.has_secrets:
            said = {name: said[name] for name in PLAIN}
        said |= {name.lower(): value for name, value in client.auth_headers.items()}
        if at.user:
            said["authorization"] = f"Basic {b64encode(at.user.encode()).decode()}"
        headers = {name: value for name, value in said.items() if isinstance(value, str)}
        base = client.base_url
        url = base.copy_with(path=f"{base.path.rstrip('/')}/v1/messages")
        url = url.copy_with(query=query.encode()) if query else url
        return Server(http, url, {**headers, "content-type": "application/json"})

    async def close(server: Server) -> None:
        await server.http.aclose()

    key = at.base_url, at.user, at.api_key, at.auth_token, at.has_secrets
    return keep(key, make, close)  # type: ignore[no-any-return]


def _connections(silence: float) -> Any:
    from anthropic import DefaultAioHttpClient, DefaultAsyncHttpxClient
    from httpx2 import Limits
    from sniffio import current_async_library

    if current_async_library() != "asyncio":
        return DefaultAsyncHttpxClient(timeout=silence)
    # No bound of its own: how many calls are in flight is decided before they come here.
    return DefaultAioHttpClient(timeout=silence, limits=Limits(max_connections=0))


@frozen
class Bounded:
    """A response whose body ends as a Refusal where it grows too large."""

    response: Any
    server: str
    most: int

    async def aiter_bytes(self) -> AsyncIterator[bytes]:
        """Its parts as they arrive."""
        size = 0
        async for part in self.response.aiter_bytes():
            size += len(part)
            if size > self.most:
                raise not_a_reply(self.server, f"it is too large: more than {self.most:,} bytes")
            yield part

    async def whole(self) -> bytes:
        """All of it."""
        return b"".join([part async for part in self.aiter_bytes()])
