"""A line of a recording and the checksum of the line before → the line with its own.

Law: a line that was changed, taken out, added or moved is found by its number. A checksum is no
signature: whoever writes the file can compute it again.
"""

from hashlib import sha256

KEY = "checksum"
_BEFORE, _BEHIND = b', "checksum": "', b'"}'
_LENGTH = 32
"""Hexadecimal digits of a sha256 that are kept: what changes a line by accident is found."""
_TAIL = len(_BEFORE) + _LENGTH + len(_BEHIND)


def add_checksum(line: bytes, before: bytes) -> tuple[bytes, bytes]:
    """A JSON object without its line break → the same with its checksum as the last key, and the
    checksum. That of the line before the first is empty."""
    said = line[:-1]
    own = sha256(before + said).hexdigest()[:_LENGTH].encode()
    return b"".join((said, _BEFORE, own, _BEHIND)), own


def read_checksum(line: bytes, before: bytes) -> bytes | None:
    """The checksum of a line without its break, None if it is not what it should be."""
    whole, own = add_checksum(line[:-_TAIL] + b"}", before)
    return own if whole == line else None
