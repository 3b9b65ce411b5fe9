"""Blobs: parts of requests that are stored once, by their digest.

A conversation repeats its messages in each turn. Its messages are a chain: a blob holds one message
and the digest of the chain before it. So a conversation takes the space of its messages, and a row
names the end of its chain. A row that is read needs no row before it.
"""

from collections.abc import Callable
from hashlib import sha256
from typing import Any

from sexplang.runtime.journal.rows import LONE
from sexplang.terms.classes.node import define, field
from sexplang.terms.json.tagged import dump

SIZE = 16
"""Bytes of the sha256 that name a blob."""

LARGE = 200
"""Bytes of JSON from which a part of a payload is a blob."""

BLOB, CHAIN = "$blob", "$chain"
"""The keys of a part that is elsewhere. In data of values a key `$` is packed."""


@define(eq=False)
class BlobWriter:
    """The blobs of one run. `new` are those that are not stored yet."""

    new: list[tuple[bytes, bytes]] = field(factory=list)
    _known: set[bytes] = field(factory=set)
    _last: list[tuple[Any, bytes]] = field(factory=list)
    """The messages of the last chain, each with the digest of the chain up to it."""

    def shorten(self, arguments: list[Any], given: tuple[Any, ...]) -> list[Any]:
        """Return the arguments of a model call as data, with its large parts as blobs. `given` are
        the same arguments as values."""
        payload = arguments[0] if arguments else None
        if not isinstance(payload, dict) or not isinstance(payload.get("messages"), list):
            return arguments
        short: dict[str, Any] = {}
        for key, part in payload.items():
            if key == "messages":
                short[key] = {CHAIN: self._chain(part, tuple(given[0]["messages"]))}
                continue
            text = dump(part).encode("utf-8", LONE)
            short[key] = part if len(text) < LARGE else {BLOB: self._add(text).hex()}
        return [short, *arguments[1:]]

    def _chain(self, messages: list[Any], given: tuple[Any, ...]) -> str:
        before, at, last = b"", 0, self._last
        while at < len(given) and at < len(last) and given[at] is last[at][0]:
            before, at = last[at][1], at + 1
        del last[at:]
        for message, value in zip(messages[at:], given[at:], strict=True):
            before = self._add(before.ljust(SIZE, b"\0") + dump(message).encode("utf-8", LONE))
            last.append((value, before))
        return before.hex()

    def _add(self, text: bytes) -> bytes:
        name = sha256(text).digest()[:SIZE]
        if name not in self._known:
            self._known.add(name)
            self.new.append((name, text))
        return name


@define(eq=False)
class BlobReader:
    """The blobs of a store, read by `find`, which raises LookupError for one that is missing or
    damaged."""

    find: Callable[[bytes], bytes]
    load: Callable[[bytes], Any]
    """Return the data of a JSON text."""
    _chains: dict[bytes, tuple[bytes, Any]] = field(factory=dict)

    def restore(self, arguments: list[Any]) -> list[Any]:
        """Return the complete arguments. Raises LookupError, TypeError or ValueError."""
        payload = arguments[0] if arguments else None
        if not isinstance(payload, dict):
            return arguments
        return [{key: self._part(part) for key, part in payload.items()}, *arguments[1:]]

    def _part(self, part: Any) -> Any:
        if not isinstance(part, dict) or part.keys().isdisjoint((BLOB, CHAIN)):
            return part
        if BLOB in part:
            return self.load(self.find(bytes.fromhex(part[BLOB])))
        name, messages = bytes.fromhex(part[CHAIN]), []
        while name.strip(b"\0"):
            if name not in self._chains:
                text = self.find(name)
                self._chains[name] = text[:SIZE], self.load(text[SIZE:])
            name, message = self._chains[name]
            messages.append(message)
        return messages[::-1]


def is_blob(name: bytes, text: bytes) -> bool:
    """Whether a blob is as it was written."""
    return sha256(text).digest()[:SIZE] == name
