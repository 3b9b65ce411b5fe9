"""The compression of what the store holds.

An entry is short, and its keys are always the same. So they are in a dictionary that both sides
know, and a short entry takes about a third of its bytes.
"""

import zlib

_KEYS = (
    b'{"resumes": {"zones": {"rates": "", "usd": {"input": , "output": '
    b'{"intends": [""], "clock": 0., "at": 1.0.0'
    b'{"role": "assistant", "content": [{"type": "tool_use", "id": "", "name": "", "input": {'
    b'{"role": "user", "content": [{"type": "text", "text": "'
    b'{"id": "", "operation": "run-script", "arguments": [{"model": "", "system": "", "messages": '
    b'{"$chain": ""}, "tools": [], "task": ""}], "attempts": 1, "error": {"$record": '
    b'"reply": {"content": [{"type": "text", "text": ""}], "stop_reason": "end_turn", "usage": '
    b'{"input_tokens": , "output_tokens": }, "model": ""}, "started": 17, "ended": 17, "clock": 0.'
)
"""Texts that entries and messages have in common. It is a part of the store's format."""

SHORT = 4096
"""Bytes up to which a small window is enough, which is made ten times as fast."""

MOST = 1 << 30
"""Bytes of one text; more is refused."""


def compress(data: bytes) -> bytes:
    """Return the compressed data."""
    window, memory = (-12, 4) if len(data) <= SHORT else (-15, 8)
    packer = zlib.compressobj(1, zlib.DEFLATED, window, memory, zlib.Z_DEFAULT_STRATEGY, _KEYS)
    return packer.compress(data) + packer.flush()


def decompress(data: bytes) -> bytes:
    """Return the data. Raises ValueError for data that were not compressed, or are too long."""
    unpacker = zlib.decompressobj(-15, zdict=_KEYS)
    try:
        found = unpacker.decompress(data, MOST)
    except zlib.error as wrong:
        raise ValueError(str(wrong)) from None
    if not unpacker.eof or unpacker.unused_data:
        raise ValueError("incomplete, or too long")
    return found
