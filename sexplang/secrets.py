"""Credentials that this process knows of → texts and values without them.

Law: what comes in passes here before it is recorded and delivered, what goes out before it is
written. So no program holds a credential, and a run that is repeated is told the same.
"""

import os
from collections.abc import Iterable, Iterator
from typing import Any

from sexplang.process import ADDRESSES, CREDENTIALS, HEADERS
from sexplang.terms.address import is_credential, split_credentials
from sexplang.terms.node import define, evolve, field
from sexplang.terms.value import Record, Value

MARK = "[redacted]"

SHORTEST = 8
"""A shorter value stands in too many texts: without it, they would be garbled."""

OWN = ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_BASE_URL")
"""Variables whose values are sent to models: what is a credential there need not look like it."""

MOST = 256
"""So many credentials that persons gave are kept, the latest: a service may be given one by each
of its users."""


@define(eq=False)
class Known:
    """What is known. Mutable."""

    spelled: tuple[str, ...] = ()
    """Each spelling of each credential, the longest first; empty where none is known."""
    environment: frozenset[str] = frozenset()
    given: dict[str, None] = field(factory=dict)


KNOWN = Known()


def look() -> None:
    """Read the environment: what is a credential there is known from here on."""
    found = frozenset(_of_environment())
    if found != KNOWN.environment:
        KNOWN.environment = found
        _spell()


def learn(values: Iterable[str]) -> None:
    """Know these too: a person gave them as credentials. One that is too short is left out."""
    is_new = False
    for value in values:
        if len(value) >= SHORTEST:
            is_new |= value not in KNOWN.given
            KNOWN.given.pop(value, None)
            KNOWN.given[value] = None
    if is_new:
        for value in [*KNOWN.given][:-MOST]:
            del KNOWN.given[value]
        _spell()


def declare(name: str) -> str:
    """The value of a variable that a person declares to be a secret; it is known from here on.
    Raises ValueError that says why it cannot be."""
    value = os.environ.get(name, "")
    if not value:
        raise ValueError(f"the environment has no `{name}`")
    if len(value) < SHORTEST:
        raise ValueError(
            f"the value of `{name}` is shorter than {SHORTEST} characters: it stands in too many "
            "texts to be taken out of them"
        )
    learn([value])
    return value


def credentials_of(address: str) -> list[str]:
    """The credentials in an address, as they stand there and as a server may say them again."""
    _, user, found = split_credentials(address)
    values = [*found]
    if user:
        from base64 import b64encode

        name, colon, password = user.partition(":")
        if colon or is_plausible(name):
            values += [password if colon else name]
            values += [b64encode(_unquoted(user).encode("utf-8", "replace")).decode()]
    return [each for value in values for each in dict.fromkeys((value, _unquoted(value)))]


def is_plausible(value: str) -> bool:
    """Whether a value that only its name makes a credential looks like one: it is long enough, is
    neither a word nor two (`production`, `customer_id`), nor the path of a file."""
    if len(value) < SHORTEST:
        return False
    words = value.replace("-", "_").replace(".", "_").replace(" ", "_").split("_")
    if len(words) <= 2 and all(map(str.isalpha, words)):
        return False
    return "/" not in value or not os.path.exists(os.path.expanduser(value))


def longest() -> int:
    """How many bytes a credential has at most, as it may be spelled; 0 where none is known."""
    return max((len(each.encode()) for each in KNOWN.spelled), default=0)


def redacted(text: str) -> str:
    """The text with `[redacted]` in the place of every credential."""
    for each in KNOWN.spelled:
        if each in text:
            text = text.replace(each, MARK)
    return text


def redact(value: Value) -> Value:
    """A value, or plain data, with all its text redacted; itself where it holds no credential."""
    if not KNOWN.spelled:
        return value
    texts = value if isinstance(value, str) else "\0".join(_texts_in(value))
    if not any(each in texts for each in KNOWN.spelled):
        return value
    return redacted(value) if isinstance(value, str) else _rebuilt(value)


def _texts_in(value: Value) -> list[str]:
    """All texts of a value, keys too."""
    texts: list[str] = []
    work = [value]
    for item in work:  # it grows meanwhile
        kind = item.__class__
        if kind is str:
            texts.append(item)
        elif kind is tuple or kind is list:
            work += item
        elif kind is dict:
            texts += item
            work += item.values()
        elif kind is Record:
            work += (item.fields, item.answer)
    return texts


def _rebuilt(value: Value) -> Value:
    """However deep it is: lists and tables first with what is in them as it was, then the other
    way round what holds them."""
    root: list[Any] = [value]
    work: list[tuple[Any, Any]] = [(root, 0)]
    holders: list[tuple[Any, Any, Any]] = []
    while work:
        place, key = work.pop()
        item = place[key]
        if isinstance(item, str):
            place[key] = redacted(item)
        elif isinstance(item, dict):
            place[key] = table = {redacted(name): part for name, part in item.items()}
            work.extend((table, name) for name in table)
        elif isinstance(item, (tuple, list)):
            place[key] = parts = list(item)
            holders.append((place, key, item))
            work.extend((parts, at) for at in range(len(parts)))
        elif isinstance(item, Record):
            place[key] = parts = [item.fields, item.answer]
            holders.append((place, key, item))
            work += [(parts, 0), (parts, 1)]
    for place, key, item in reversed(holders):
        parts = place[key]
        if isinstance(item, Record):
            place[key] = evolve(item, fields=parts[0], answer=parts[1])
        elif isinstance(item, tuple):
            place[key] = tuple(parts)
    return root[0]


def redacted_bytes(data: bytes) -> bytes:
    """The same of what is no text, before it is encoded."""
    for each in KNOWN.spelled:
        data = data.replace(each.encode(), MARK.encode())
    return data


def _of_environment() -> Iterator[str]:
    for name in os.environ:
        if name.endswith(CREDENTIALS):
            found = [os.environ.get(name, "").strip()]
        elif name.endswith(ADDRESSES):
            found = credentials_of(os.environ.get(name, ""))
        elif name.endswith(HEADERS):
            found = _of_headers(name, os.environ.get(name, ""))
        else:
            continue
        yield from (each for each in found if name in OWN or is_plausible(each))


def _of_headers(name: str, text: str) -> list[str]:
    """The last word of each header that is a credential: `Basic KEY` is `KEY`. Those that go with
    traces are `name=value,…`, and a key may have any name there."""
    of_traces = name.startswith("OTEL_")
    found = []
    for line in text.split("," if of_traces else "\n"):
        header, _, value = line.partition("=" if of_traces else ":")
        if of_traces or is_credential(header.strip()):
            for each in (value.replace("%20", " "), _unquoted(value)):
                found += each.split()[-1:]
    return found


def _unquoted(text: str) -> str:
    if "%" not in text:
        return text
    from urllib.parse import unquote

    return unquote(text)


def _spell() -> None:
    values = {each for each in (*KNOWN.environment, *KNOWN.given) if _is_text(each)}
    found = {each for value in values for each in _spellings(value)}
    found = {each for each in found if len(each) >= SHORTEST and each not in MARK}
    KNOWN.spelled = tuple(sorted(found, key=lambda each: (-len(each), each)))


def _is_text(value: str) -> bool:
    """Whether a variable holds no bytes that are no UTF-8: these come into no text."""
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


_PLAIN = str.maketrans("", "", "-._~")


def _spellings(value: str) -> Iterator[str]:
    """A value as it is, with the escapes of JSON and of JSON in JSON, and of addresses."""
    yield value
    if value.isascii() and value.translate(_PLAIN).isalnum():
        return  # it is spelled alike everywhere
    from json import dumps
    from urllib.parse import quote, quote_plus

    for is_ascii in (True, False):
        once = dumps(value, ensure_ascii=is_ascii)[1:-1]
        yield from (once, dumps(once, ensure_ascii=is_ascii)[1:-1])
    for quoted in (quote(value), quote(value, safe=""), quote_plus(value)):
        yield from (quoted, _small(quoted))


def _small(quoted: str) -> str:
    """The same with escapes in small letters."""
    first, *rest = quoted.split("%")
    return "%".join([first, *[part[:2].lower() + part[2:] for part in rest]])
