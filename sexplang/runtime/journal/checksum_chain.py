"""Checksums that chain the lines of a recording.

Law: a line that was changed, removed, inserted or moved is found by its number. A checksum is no
signature: anyone who can write the file can compute it again.
"""

from hashlib import sha256

KEY = "checksum"
_BEFORE, _BEHIND = b', "checksum": "', b'"}'
_LENGTH = 32
"""Hexadecimal digits of the sha256 that are kept. They suffice against accidental changes."""
_TAIL = len(_BEFORE) + _LENGTH + len(_BEHIND)


def add_checksum(line: bytes, before: bytes) -> tuple[bytes, bytes]:
    """Append the checksum to a JSON object without its line break, as the last key. Return the line
    and its checksum. The checksum before the first line is empty."""
    said = line[:-1]
    own = sha256(before + said).hexdigest()[:_LENGTH].encode()
    return b"".join((said, _BEFORE, own, _BEHIND)), own


def read_checksum(line: bytes, before: bytes) -> bytes | None:
    """Return the checksum of a line without its break, or None if it is wrong."""
    whole, own = add_checksum(line[:-_TAIL] + b"}", before)
    return own if whole == line else None
