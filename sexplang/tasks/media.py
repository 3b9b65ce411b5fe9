"""Paths of images and documents to the blocks in which a model sees them."""

import re

from sexplang.tasks.session import Block

_KINDS = {
    "png": "image/png",
    "jpg": "image/jpeg",
    "jpeg": "image/jpeg",
    "gif": "image/gif",
    "webp": "image/webp",
    "pdf": "application/pdf",
}


def kind_of(path: str) -> str | None:
    """The media type that a file's name says; None for what is read as text."""
    return _KINDS.get(path.rpartition(".")[2].lower()) if "." in path else None


# How the bytes begin, in base64. What stands between RIFF and WEBP is a size.
_BEGINS = {
    "image/png": re.compile("iVBORw0KGg"),
    "image/jpeg": re.compile("/9j/"),
    "image/gif": re.compile("R0lGOD"),
    "image/webp": re.compile("UklGR.{6}XRUJQ"),
    "application/pdf": re.compile("JVBER[g-v]"),
}


def is_kind(kind: str, data: str) -> bool:
    """Whether bytes, in base64, begin as a file of the kind does."""
    return _BEGINS[kind].match(data) is not None


def media_blocks(paths: list[str], kind: str, data: str) -> tuple[Block, Block]:
    """The path, or all that lead to it, and then the bytes, base64, as an `image` or a
    `document`."""
    source: Block = {"type": "base64", "media_type": kind, "data": data}
    block = "document" if kind == "application/pdf" else "image"
    return {"type": "text", "text": f"File {', '.join(paths)}:"}, {"type": block, "source": source}
