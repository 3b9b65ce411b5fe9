"""The performer of `fetch`: a page by GET, over redirects that are permitted."""

import socket
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from functools import cache
from http import HTTPStatus
from typing import Any

import anyio
from httpx2 import (
    AsyncHTTPTransport,
    ConnectError,
    ConnectTimeout,
    HTTPError,
    InvalidURL,
    Response,
    TimeoutException,
    create_ssl_context,
)
from httpx2 import (
    Request as HttpRequest,
)

from sexplang.runtime.permissions import Permissions
from sexplang.runtime.refusal import refuse
from sexplang.runtime.web.page_address import PageAddress, permit_addresses, read_address
from sexplang.runtime.web.page_text import read_body, read_text, refuse_page
from sexplang.terms.effect import Request
from sexplang.terms.values.value import Value

MOST_REDIRECTS = 5

SECONDS = 30.0
"""The most seconds of a fetch with all its redirects."""

CONNECTING = 10.0
"""The most seconds until a connection is there."""

_SENT = {"accept": "*/*", "accept-encoding": "gzip, deflate", "user-agent": "sexplang"}
_REDIRECTS = {
    HTTPStatus.MOVED_PERMANENTLY,
    HTTPStatus.FOUND,
    HTTPStatus.SEE_OTHER,
    HTTPStatus.TEMPORARY_REDIRECT,
    HTTPStatus.PERMANENT_REDIRECT,
}

Headers = Mapping[str, Mapping[str, str]]
"""The headers that a person gives for requests to a host, by HOST or HOST:PORT."""


def make_fetch(
    permissions: Permissions, headers: Headers, seconds: float = SECONDS
) -> Callable[[Request], Awaitable[Value]]:
    """Return the performer of `fetch`. It gives `{status url type text truncated}` for every status
    of HTTP. `headers` hold credentials, which their own host gets over TLS or on the loopback."""

    async def perform(request: Request) -> Value:
        given = request.arguments[0] if request.arguments else None
        if not isinstance(given, str):
            raise refuse(
                "wrong-type",
                "`fetch` takes the address of a page",
                hint='for example (fetch "https://example.org/tea.html")',
            )
        page = read_address(given, permissions)
        try:
            with anyio.fail_after(seconds):
                return await _follow(page, permissions, headers)
        except (TimeoutError, TimeoutException):
            raise refuse_page(page.host, f"it did not arrive within {seconds:g} seconds") from None

    return perform


async def _follow(page: PageAddress, permissions: Permissions, headers: Headers) -> Value:
    """Return the page behind the redirects."""
    for _ in range(MOST_REDIRECTS + 1):
        async with _open(page, permissions, headers) as response:
            place = response.headers.get("location")
            if response.status_code not in _REDIRECTS or place is None:
                return await _read(page, response)
        following = read_address(place, permissions, before=page.url)
        if page.url.scheme == "https" and following.url.scheme == "http":
            raise refuse_page(page.host, f"it leads from https to http://{following.host}")
        page = following
    raise refuse_page(page.host, f"it is behind more than {MOST_REDIRECTS} redirects")


async def _read(page: PageAddress, response: Response) -> Value:
    kind = response.headers.get("content-type", "")
    compression = response.headers.get("content-encoding", "").strip().lower()
    parts: Any = response.stream  # as it arrives, compressed
    try:
        body = await read_body(aiter(parts), compression, page.host)
    except TimeoutException:
        raise
    except HTTPError as error:
        raise refuse_page(page.host, f"it is cut off: {_words(error)}") from None
    return {
        "status": response.status_code,
        "url": str(page.url),
        "type": kind.partition(";")[0].strip().lower()[:100],
        "text": read_text(body, kind, page.host),
        "truncated": body.truncated,
    }


@asynccontextmanager
async def _open(
    page: PageAddress, permissions: Permissions, headers: Headers
) -> AsyncIterator[Response]:
    """Yield the response of a page, whose body has not arrived. Nothing is kept between two: no
    connection and no cookie. Proxies of the environment are not asked, since they would resolve the
    name again."""
    addresses = permit_addresses(page, await _resolve(page), permissions)
    async with AsyncHTTPTransport(verify=_tls(), trust_env=False) as transport:
        response = await _ask(transport, page, addresses, headers)
        try:
            yield response
        finally:
            with anyio.CancelScope(shield=True):
                await response.aclose()


async def _resolve(page: PageAddress) -> list[str]:
    try:
        found = await anyio.getaddrinfo(page.host, page.port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        raise refuse_page(page.host, "the host name is unknown") from None
    return [str(each[4][0]) for each in found]


async def _ask(
    transport: AsyncHTTPTransport, page: PageAddress, addresses: tuple[str, ...], headers: Headers
) -> Response:
    """Return the response of the first address that takes a connection."""
    sent = {**_SENT, "host": page.url.netloc.decode("ascii"), **_own_headers(page, headers)}
    why = ""
    for address in addresses[:3]:
        request = HttpRequest("GET", page.url.copy_with(host=address), headers=sent)
        bounds = dict.fromkeys(("read", "write", "pool"), SECONDS)
        request.extensions = {
            "sni_hostname": page.host,
            "timeout": {**bounds, "connect": CONNECTING},
        }
        try:
            return await transport.handle_async_request(request)
        except (ConnectError, ConnectTimeout) as error:
            why = _words(error)
        except TimeoutException:
            raise
        except (HTTPError, InvalidURL) as error:
            raise refuse_page(page.host, _words(error)) from None
    raise refuse_page(page.host, f"there is no connection: {why}")


def _own_headers(page: PageAddress, headers: Headers) -> dict[str, str]:
    """Return the headers that a person gives for the host of a page."""
    if not page.is_private:
        return {}
    given = [pair for name in page.names for pair in headers.get(name, {}).items()]
    return {key.lower(): each for key, each in given}


@cache
def _tls() -> ssl.SSLContext:
    context: ssl.SSLContext = create_ssl_context()
    return context


def _words(error: Exception) -> str:
    said: Any = str(error) or type(error).__name__
    return " ".join(said.split())[:200]
