"""The credentials in addresses of servers.

No library parses the addresses: two libraries may parse one address in two ways, and a credential
that either of them would send must not be shown.
"""

_NAMES = (
    *("key", "token", "secret", "password", "passwd", "pwd", "credential", "cookie"),
    *("auth", "authorization", "signature", "sig"),
)


def is_credential(name: str) -> bool:
    """Return whether a header or a parameter of an address holds a credential, by its name."""
    return name.lower().endswith(_NAMES)


def split_credentials(address: str) -> tuple[str, str, tuple[str, ...]]:
    """Return the address without credentials, the text before its host, and the values of its
    parameters that are credentials. For a text that is no address both are empty."""
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
    """Return the text after `://` without the user, and the user. A password with a `/`, `?` or `#`
    makes an invalid address: any text that may be a part of it is removed too."""
    end = min([at for at in map(rest.find, "/?#") if at >= 0], default=len(rest))
    user, at, host = rest[:end].rpartition("@")
    if not at and "@" in rest[end:] and not _is_host(host):
        user, _, remaining = rest.rpartition("@")
        return remaining, user
    return host + rest[end:], user


def _is_host(text: str) -> bool:
    """Return whether the text after a `:` is a port, or empty. Numeric hosts in brackets have many
    colons."""
    _, colon, port = text.rpartition("]")[2].partition(":")
    return not colon or not port or port.isdigit()
