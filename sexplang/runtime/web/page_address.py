"""The addresses that may be fetched.

Law: a name is resolved once, its addresses are checked, and one of these is connected to. So a name
that changes its address in between, or a redirect, reaches nothing else. An address that is not
public is reached only where a person permits it by its number, or as `localhost`.
"""

import re
import shlex
from collections.abc import Sequence
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address
from typing import TypeAlias

from httpx2 import URL, InvalidURL

from sexplang.runtime.permissions import Permissions
from sexplang.runtime.refusal import Refusal, refuse
from sexplang.terms.classes.node import frozen

Address: TypeAlias = IPv4Address | IPv6Address

LONGEST = 8_000
"""The most characters of an address."""

_PORTS = {"http": 80, "https": 443}
_HOST = re.compile(r"[a-z0-9._-]+|[0-9a-f:.]+")
_TRANSLATED = IPv6Network("64:ff9b::/96")
"""Addresses that stand for those of IPv4, in their last 32 bits."""


@frozen
class PageAddress:
    """An address of the web whose host is permitted."""

    url: URL
    host: str
    port: int

    @property
    def names(self) -> tuple[str, str]:
        """The address as permissions name it: HOST, or HOST:PORT."""
        return self.host, f"{self.host}:{self.port}"

    @property
    def is_private(self) -> bool:
        """Whether nobody else can read what is sent: by TLS, or within the machine."""
        return self.url.scheme == "https" or _is_loopback(self.host)


def read_address(text: str, permissions: Permissions, before: URL | None = None) -> PageAddress:
    """Return the address of a text; `before` is the page that redirects to it. Raises Refusal
    `bad-address` and `net-denied`."""
    try:
        url = URL(text[: LONGEST + 1]) if before is None else before.join(text[: LONGEST + 1])
        host = url.raw_host.decode("ascii").lower()
        port = _PORTS.get(url.scheme, 0) if url.port is None else url.port
    except (InvalidURL, ValueError):
        raise _refuse_address("it cannot be read") from None
    if len(text) > LONGEST:
        raise _refuse_address(f"it has more than {LONGEST:,} characters")
    if url.scheme not in _PORTS:
        raise _refuse_address("it begins neither with http:// nor with https://")
    if not _HOST.fullmatch(host) or not 0 < port < 65_536:
        raise _refuse_address("it names no host")
    if url.userinfo:
        raise _refuse_address("it has a user or a password in it, which only a person gives")
    found = PageAddress(url.copy_with(fragment=None), host, port)
    if not set(found.names) & set(permissions.net):
        shown = host if port == _PORTS[url.scheme] else f"{host}:{port}"
        way = "" if before is None else f", where {before.host} leads"
        raise refuse(
            "net-denied",
            f"{shown} may not be reached{way}",
            hint=f"allow it with --allow-net {shlex.quote(shown)}",
            host=host,
        )
    return found


def _refuse_address(why: str) -> Refusal:
    return refuse(
        "bad-address",
        f"this is no address of a page: {why}",
        hint='for example (fetch "https://example.org/tea.html")',
    )


def permit_addresses(
    page: PageAddress, found: Sequence[str], permissions: Permissions
) -> tuple[str, ...]:
    """Return those of a host's addresses that may be connected to. Raises Refusal `net-denied` if
    there is none."""
    fit = [each for each in dict.fromkeys(found) if _may_connect(each, page, permissions)]
    if fit:
        return tuple(fit)
    shown = found[0] if found else page.host
    raise refuse(
        "net-denied",
        f"{page.host} leads to {shown}, which is no public address",
        hint=f"if that is meant, allow it too: --allow-net {shlex.quote(shown)}",
        host=page.host,
    )


def _may_connect(address: str, page: PageAddress, permissions: Permissions) -> bool:
    try:
        one = _unwrap(ip_address(address.partition("%")[0]))
    except ValueError:
        return False
    if one.is_global and not one.is_multicast:
        return True
    if page.host == "localhost" and one.is_loopback:
        return True
    return not {str(one), f"{one}:{page.port}"}.isdisjoint(permissions.net)


def _unwrap(address: Address) -> Address:
    """Return the address of IPv4 that one of IPv6 stands for."""
    if isinstance(address, IPv4Address):
        return address
    if address in _TRANSLATED:
        return IPv4Address(int(address) & 0xFFFFFFFF)
    return address.ipv4_mapped or address.sixtofour or address


def _is_loopback(host: str) -> bool:
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False
