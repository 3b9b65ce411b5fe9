"""Messages of the protocol as a transport reads them, and the errors that replace those that cannot
be read."""

import re
from typing import Any

from mcp.shared.message import SessionMessage
from mcp_types import jsonrpc_message_adapter

MOST_BYTES = 4_000_000
"""Maximum bytes of one message."""

NOT_SENT, NO_SESSION, CUT_OFF, MALFORMED, TOO_LARGE = range(1, 6)
"""Codes of errors of the transports, beside statuses of HTTP. Servers use negative codes."""

WORDS = {
    MALFORMED: "its answer is none of the protocol",
    TOO_LARGE: f"its answer is larger than {MOST_BYTES:,} bytes",
}

KEPT = 300
"""Bytes kept from the end of a message that is too large; the id of the request may be there."""


def parse(line: bytes) -> Any:
    """Return a message. Raises ValueError for one that is malformed."""
    return jsonrpc_message_adapter.validate_json(line, by_name=False)


def read_message(line: bytes) -> SessionMessage | Exception:
    """Return one message. A malformed answer becomes an error of its request, which would otherwise
    get no answer."""
    try:
        return SessionMessage(parse(line))
    except ValueError as error:
        asked = _find_id(line)
        return error if asked is None else _make_error(asked, MALFORMED)


def replace_large(line: bytes) -> SessionMessage | None:
    """Return the error message that replaces a message of which only beginning and end are kept;
    None if its request is unknown."""
    asked = _find_id(line[:MOST_BYTES])
    if asked is None:
        last = _ENDS.search(line[-KEPT:])
        asked = last[1] if last is not None else None
    return None if asked is None else _make_error(asked, TOO_LARGE)


def _make_error(asked: bytes, code: int) -> SessionMessage:
    made = b'{"jsonrpc": "2.0", "id": %b, "error": {"code": %d, "message": "%b"}}'
    return SessionMessage(parse(made % (asked, code, WORDS[code].encode())))


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
