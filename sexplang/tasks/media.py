"""Paths of images and documents to the blocks in which a model sees them."""

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


def media_blocks(path: str, kind: str, data: str) -> tuple[Block, Block]:
    """The path and then the bytes, base64, as an `image` or a `document`."""
    source: Block = {"type": "base64", "media_type": kind, "data": data}
    block = "document" if kind == "application/pdf" else "image"
    return {"type": "text", "text": f"File {path}:"}, {"type": block, "source": source}
