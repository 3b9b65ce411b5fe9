"""Patterns of a `.gitignore` as regular expressions over bytes, exactly as git matches them.

A path is relative to the folder of the `.gitignore`. The path of a folder ends with a NUL, which no
name contains. Law: stars take no more time than letters, in any combination.
"""

import re
import string

from sexplang.terms.classes.node import frozen

FOLDER = b"\0"
"""The suffix of a folder's path."""

LONGEST = 1 << 14
"""Maximum bytes of a line. A longer line, four times the longest path, matches nothing."""

_ANY = rb"[^/\0]"
_STAR, _DEEP, _REST = b"*", b"**/", b"**"
_FOLDERS = rb"(?:[^/\0]*/)*?"

_CLASSES = {
    "alnum": string.ascii_letters + string.digits,
    "alpha": string.ascii_letters,
    "blank": " \t",
    "cntrl": "".join(map(chr, [*range(32), 127])),
    "digit": string.digits,
    "graph": "".join(map(chr, range(33, 127))),
    "lower": string.ascii_lowercase,
    "print": "".join(map(chr, range(32, 127))),
    "punct": string.punctuation,
    "space": " \t\n\r\v\f",
    "upper": string.ascii_uppercase,
    "xdigit": string.hexdigits,
}


@frozen
class Glob:
    """The pattern of a line. `regex` matches the whole path, or the whole name if `is_name`.
    `is_kept` negates: a matching path is not ignored."""

    regex: bytes
    is_name: bool
    is_kept: bool


class _InvalidPattern(Exception):
    """The pattern matches nothing."""


def glob(line: bytes) -> Glob | None:
    """Return the pattern of a line, or None if it matches nothing: empty, a comment, invalid, too
    long."""
    if line.startswith(b"#") or len(line) > LONGEST:
        return None
    text = line.rstrip(b" ")
    if text != line and (len(text) - len(text.rstrip(b"\\"))) % 2:
        text += b" "  # an escaped space stays
    is_kept = text.startswith(b"!")
    text = text[1:] if is_kept else text
    only_folders = text.endswith(b"/")
    text = text[:-1] if only_folders else text
    is_name = b"/" not in text
    text = text.removeprefix(b"/")
    if not text:
        return None
    try:
        regex = _join(_parts(text, is_name)) + (rb"\0" if only_folders else rb"\0?")
    except _InvalidPattern:
        return None
    return Glob(regex, is_name, is_kept)


def _parts(text: bytes, is_name: bool) -> list[bytes]:
    """Split a pattern into three kinds of stars and regular expressions of one character."""
    parts = []
    at, is_plain = 0, True  # git reads `a**/b` as `a`, `**/b` if no pattern precedes
    while at < len(text):
        char = text[at : at + 1]
        if char == b"*":
            end = len(text) - len(text[at:].lstrip(b"*"))
            starts = is_plain or text[at - 1 : at] == b"/"
            if is_name or end - at == 1 or not starts or text[end : end + 1] not in (b"", b"/"):
                parts.append(_STAR)
                at = end
            else:
                parts.append(_REST if end == len(text) else _DEEP)
                at = end + 1
        elif char == b"?":
            parts.append(_ANY)
            at += 1
        elif char == b"[":
            part, at = _set(text, at + 1)
            parts.append(part)
        else:
            escaped = char == b"\\"
            parts.append(re.escape(text[at + escaped : at + escaped + 1]))
            if not parts[-1]:
                raise _InvalidPattern
            at += 1 + escaped
        is_plain = is_plain and char not in b"*?[\\"
    return parts


def _set(text: bytes, at: int) -> tuple[bytes, int]:
    """Return the set that begins after a `[`, and the index of its end. Raises _InvalidPattern."""
    is_negative = text[at : at + 1] in (b"!", b"^")
    at += is_negative
    members: set[int] = set()
    before = 0
    while True:
        char = _at(text, at)
        if char == ord("\\"):
            at += 1
            before = _at(text, at)
            members.add(before)
        elif char == ord("-") and before and text[at + 1 : at + 2] not in (b"", b"]"):
            at += 1 + (text[at + 1] == ord("\\"))
            members.update(range(before, _at(text, at) + 1))
            before = 0
        elif text[at : at + 2] == b"[:" and (end := text.find(b"]", at + 2)) != at + 2:
            if end < 0:
                raise _InvalidPattern
            if text[end - 1 : end] == b":" and end - 1 >= at + 2:
                name = text[at + 2 : end - 1].decode("latin-1")
                if name not in _CLASSES:
                    raise _InvalidPattern
                members.update(_CLASSES[name].encode())
                at, before = end, 0
            else:
                members.add(char)
                before = char
        else:
            members.add(char)
            before = char
        at += 1
        if _at(text, at) == ord("]"):
            return _any_of(members, is_negative), at + 1


def _at(text: bytes, at: int) -> int:
    if at >= len(text):
        raise _InvalidPattern
    return text[at]


def _any_of(members: set[int], is_negative: bool) -> bytes:
    members = members | {0, ord("/")} if is_negative else members - {0, ord("/")}
    if not members:
        raise _InvalidPattern
    listed = b"".join(rb"\x%02x" % each for each in sorted(members))
    return b"[" + (b"^" if is_negative else b"") + listed + b"]"


def _join(parts: list[bytes]) -> bytes:
    """Combine parts into one expression. The text after a star is tried only at its first match: if
    the rest does not match from there, it matches from no later place."""
    *pieces, last = _split(parts, _DEEP)
    regex = b"".join([_once(piece, is_first=at == 0) for at, piece in enumerate(pieces)])
    *chunks, end = _split(last, _STAR)
    regex += _FOLDERS if pieces else b""
    regex += _stars(chunks) + (_ANY + b"*" if chunks else b"")
    return regex + b"".join([rb"[^\0]*" if part == _REST else part for part in end])


def _once(piece: list[bytes], is_first: bool) -> bytes:
    regex = _stars(_split(piece, _STAR))
    return regex if is_first else b"(?>" + _FOLDERS + regex + b")"


def _stars(chunks: list[list[bytes]]) -> bytes:
    first, *rest = [b"".join(chunk) for chunk in chunks] or [b""]
    return first + b"".join([b"(?>" + _ANY + b"*?" + chunk + b")" for chunk in rest])


def _split(parts: list[bytes], mark: bytes) -> list[list[bytes]]:
    found: list[list[bytes]] = [[]]
    for part in parts:
        if part == mark:
            found.append([])
        else:
            found[-1].append(part)
    return found
