"""The body of a page as text, within bounds: its compression and its encoding."""

import codecs
import re
import zlib
from collections.abc import AsyncIterator

from sexplang.runtime.refusal import Refusal, refuse
from sexplang.terms.classes.node import frozen

MOST_BYTES = 1_000_000
"""The most bytes of a page, not compressed. What follows is not read."""

_MOST_RAW = 4 * MOST_BYTES
"""The most bytes that are received for it."""

_COMPRESSED = {"gzip": 47, "x-gzip": 47, "deflate": 47}
"""The compressions that are read, and how zlib is told."""

_TEXTS = re.compile(r"text/.*|application/(.*\+)?(json|xml|javascript|ecmascript|yaml|x-yaml|toml)")
_IN_HTML = re.compile(rb"""<meta[^>]{0,200}charset\s*=\s*["']?([A-Za-z0-9_.:-]{1,40})""", re.I)
_UNFIT = frozenset(
    ("idna", "punycode", "undefined", "unicode-escape", "raw-unicode-escape", "utf-7")
)
"""Codecs of Python that are no encodings of pages."""

_MARKLESS = {"utf-16": "utf-16-le", "utf-32": "utf-32-le"}
"""What an encoding is where no mark says the order of its bytes."""

_MARKS = (
    (b"\xef\xbb\xbf", "utf-8"),
    (b"\xff\xfe\0\0", "utf-32-le"),  # before the mark that it begins with
    (b"\xff\xfe", "utf-16-le"),
    (b"\xfe\xff", "utf-16-be"),
)


@frozen
class Body:
    """The beginning of a page."""

    data: bytes
    truncated: bool


async def read_body(parts: AsyncIterator[bytes], compression: str, host: str) -> Body:
    """Return a body of at most MOST_BYTES. Raises Refusal `fetch-failed`."""
    data, received = bytearray(), 0
    inflate = None
    if compression not in ("", "identity"):
        if compression not in _COMPRESSED:
            raise refuse_page(host, f"its compression `{compression[:40]}` is not supported")
        inflate = zlib.decompressobj(_COMPRESSED[compression])
    async for part in parts:
        received += len(part)
        left = MOST_BYTES + 1 - len(data)
        try:
            data += part[:left] if inflate is None else inflate.decompress(part, left)
        except zlib.error:
            raise refuse_page(host, "its compression is broken") from None
        if len(data) > MOST_BYTES or received > _MOST_RAW:
            return Body(bytes(data[:MOST_BYTES]), truncated=True)
    if inflate is not None and not inflate.eof:
        raise refuse_page(host, "its compression is cut off")
    return Body(bytes(data), truncated=False)


def read_text(body: Body, content_type: str, host: str) -> str:
    """Return the text of a body. Letters that do not fit the encoding become U+FFFD. Raises Refusal
    `not-text` for what is none."""
    kind, _, rest = content_type.partition(";")
    kind = kind.strip().lower()
    mark, named = next((each for each in _MARKS if body.data.startswith(each[0])), (b"", ""))
    data = body.data[len(mark) :]
    if not named and not _TEXTS.fullmatch(kind):
        return _read_strictly(data, kind, host, body.truncated)
    encoding = named or _find_encoding(rest, data)
    encoding = _MARKLESS.get(encoding, encoding)
    decoder = codecs.getincrementaldecoder(encoding)(errors="replace")
    try:
        return decoder.decode(data, final=not body.truncated)
    except UnicodeError:
        raise refuse("not-text", f"what {host} sends is no {encoding}", host=host) from None


def _find_encoding(rest: str, data: bytes) -> str:
    """Return the encoding that the header names, or the page itself. UTF-8 if there is none."""
    said = re.search(r"""charset\s*=\s*["']?([\w.:-]{1,40})""", rest, re.I)
    inside = _IN_HTML.search(data[:1024])
    for name in (said and said[1], inside and inside[1].decode()):
        if name:
            try:
                known = codecs.lookup(name)
            except (LookupError, ValueError):
                continue
            is_fit = known.name.replace("_", "-") not in _UNFIT
            if is_fit and known._is_text_encoding:
                return known.name
    return "utf-8"


def _read_strictly(data: bytes, kind: str, host: str, truncated: bool) -> str:
    """Return the text of a page that does not say that it is one."""
    try:
        text = codecs.getincrementaldecoder("utf-8")().decode(data, final=not truncated)
    except UnicodeDecodeError:
        text = "\0"
    if "\0" in text:
        what = kind if re.fullmatch(r"[\w.+/-]{1,80}", kind) else "of no known type"
        raise refuse("not-text", f"what {host} sends is no text: it is {what}", host=host)
    return text


def refuse_page(host: str, why: str) -> Refusal:
    """Return the refusal of a page that does not come."""
    return refuse(
        "fetch-failed",
        f"no page from {host}: {why}",
        hint="open the address outside the program; for a temporary failure, use `retry`",
        host=host,
    )
