"""The address of a server → the same without the credentials in it, and these.

No library is asked: two of them may read one address in two ways, and a credential that either of
them would send must not be shown.
"""

_NAMES = (
    *("key", "token", "secret", "password", "passwd", "pwd", "credential", "cookie"),
    *("auth", "authorization", "signature", "sig"),
)


def is_credential(name: str) -> bool:
    """Whether a header or a parameter of an address is one by its name."""
    return name.lower().endswith(_NAMES)


def split_credentials(address: str) -> tuple[str, str, tuple[str, ...]]:
    """The address as it is shown, what stands before its host, and the values of its parameters
    that are credentials. Of what is no address both are empty."""
    before, scheme, rest = address.partition("://")
    if not scheme or not ("@" in rest or "?" in rest):
        return address, "", ()
    rest, user = _without_user(rest)
    rest, hash, fragment = rest.partition("#")
    rest, mark, query = rest.partition("?")
    found, kept = [], []
    for part in query.split("&"):
        name, _, value = part.partition("=")
        if value and is_credential(name):
            found.append(value)
        else:
            kept.append(part)
    query = "&".join(kept)
    shown = f"{before}{scheme}{rest}{mark if query else ''}{query}{hash}{fragment}"
    return shown, user, tuple(found)


def _without_user(rest: str) -> tuple[str, str]:
    """What follows `://`, and what stands in it before the host. A password with a `/`, `?` or `#`
    makes an address that nobody can read: what may be a part of it is not shown either."""
    end = min([at for at in map(rest.find, "/?#") if at >= 0], default=len(rest))
    user, at, host = rest[:end].rpartition("@")
    if not at and "@" in rest[end:] and not _is_host(host):
        user, _, remaining = rest.rpartition("@")
        return remaining, user
    return host + rest[end:], user


def _is_host(text: str) -> bool:
    """Whether a port, or none, is all that follows a `:`; in brackets stand numbers with many."""
    _, colon, port = text.rpartition("]")[2].partition(":")
    return not colon or not port or port.isdigit()
