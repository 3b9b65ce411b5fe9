"""The headers that a person gives for requests. A credential in them stands there by the name of a
variable: `secret:NAME`, or `Bearer secret:NAME`."""

import re
from collections.abc import Callable, Mapping
from typing import Any

from sexplang.guards.secrets import SHORTEST, declare, is_plausible, learn
from sexplang.terms.diagnostic import Diagnostic, Diagnostics
from sexplang.terms.texts.address import is_credential

SECRET = "secret:"
"""The prefix of a value that is the name of a variable with a credential."""

Bad = Callable[[str, str], Diagnostics]
"""The Diagnostics for headers that cannot be used, by the reason and a hint."""

_SECRET_HEADER = re.compile(r"(?:(\S+) )?secret:(\w+)")
"""A header's value with a credential: `secret:NAME`, or `Bearer secret:NAME` with any scheme."""

_HOST = re.compile(r"([\w.-]+|\[[0-9a-f:.]+\])(:[0-9]{1,5})?", re.ASCII | re.I)
_HEADER = re.compile(r"[\w!#$%&'*+.^`|~-]+", re.ASCII)
_HEADER_VALUE = re.compile(r"[ -~]*")
_OWN = frozenset(("host", "connection", "content-length", "transfer-encoding", "accept-encoding"))
"""Headers that belong to the connection."""


def read_header(header: str, value: str, bad: Bad) -> str:
    """Return the value of a header. A credential is registered for redaction. Raises
    Diagnostics."""
    if not _HEADER.fullmatch(header):
        raise bad(f"`{header}` is no name of a header", "write a name such as Authorization")
    example = f'headers = {{{header} = "Bearer secret:NAME"}}'
    secret = _SECRET_HEADER.fullmatch(value)
    if secret is not None:
        scheme, variable = secret.groups()
        found = declare_secret(variable, example, bad)
        value = f"{scheme} {found}" if scheme else found
    elif SECRET in value:
        why = f"the header `{header}` has more than a word before or behind `secret:NAME`"
        raise bad(why, f"write {example}")
    elif is_credential(header):
        learn([each for each in value.split()[-1:] if is_plausible(each)])
    if not _HEADER_VALUE.fullmatch(value):
        whose = f"the value of `{secret[2]}`" if secret else f"the header `{header}`"
        why = f"{whose} has a line break, or a character that no header can have"
        raise bad(why, "take it out: a header is one line of ASCII")
    return value


def declare_secret(variable: str, example: str, bad: Bad) -> str:
    """Return the value of a variable, and declare it to be a credential. Raises Diagnostics."""
    try:
        return declare(variable)
    except ValueError as unfit:
        export = f"type: export {variable}=VALUE, with {SHORTEST} characters or more"
        hint = export if variable else f"name a variable: {example}"
        raise bad(str(unfit), hint) from None


def read_page_headers(given: Mapping[str, Any]) -> dict[str, dict[str, str]]:
    """Return the headers for pages by HOST or HOST:PORT. Raises Diagnostics."""
    return {host.lower(): _headers_for(host, headers) for host, headers in given.items()}


def _headers_for(host: str, given: Any) -> dict[str, str]:
    def bad(why: str, hint: str) -> Diagnostics:
        title = f"the headers for `{host}` cannot be used: {why}"
        return Diagnostics([Diagnostic("bad-configuration", title, hint=hint)])

    if not _HOST.fullmatch(host):
        raise bad("it is no host", "write HOST or HOST:PORT, such as example.org")
    if not isinstance(given, Mapping) or not all(isinstance(each, str) for each in given.values()):
        raise bad("they are no table of texts", 'write {Authorization = "Bearer secret:NAME"}')
    if len({header.lower() for header in given}) < len(given):
        raise bad("a header stands there twice", "leave out one of them")
    for header in given:
        if header.lower() in _OWN:
            raise bad(f"`{header}` belongs to the connection", "leave it out")
    return {header: read_header(header, value, bad) for header, value in given.items()}
