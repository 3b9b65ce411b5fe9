"""Values as a model reads them: texts, images and documents; and the paths of files."""

import re
from collections.abc import Iterable, Sequence

from sexplang.tasks.requests.subtask_request import fields_of
from sexplang.tasks.session import Block
from sexplang.terms.classes.node import node
from sexplang.terms.json.json_writer import json_text
from sexplang.terms.values.text import text
from sexplang.terms.values.value import Procedure, Record, Value


def value_text(value: Value) -> str:
    """Return a value as text: scalars and TaskResults as text, lists and tables as JSON. Raises
    Fault `not-data` for functions, `not-json` for NaN and infinities."""
    if isinstance(value, (tuple, dict, float, Procedure)) or (
        isinstance(value, Record) and value.kind != "TaskResult"
    ):
        return json_text(value)
    return text(value)


_KINDS = {
    "png": "image/png",
    "jpg": "image/jpeg",
    "jpeg": "image/jpeg",
    "gif": "image/gif",
    "webp": "image/webp",
    "pdf": "application/pdf",
}


def kind_of(path: str) -> str | None:
    """Return the media type of a file name. None for text."""
    return _KINDS.get(path.rpartition(".")[2].lower()) if "." in path else None


# The beginnings of the files in base64. A size stands between RIFF and WEBP.
_BEGINS = {
    "image/png": re.compile("iVBORw0KGg"),
    "image/jpeg": re.compile("/9j/"),
    "image/gif": re.compile("R0lGOD"),
    "image/webp": re.compile("UklGR.{6}XRUJQ"),
    "application/pdf": re.compile("JVBER[g-v]"),
}


def is_kind(kind: str, data: str) -> bool:
    """Return whether bytes in base64 begin like a file of the kind."""
    return _BEGINS[kind].match(data) is not None


def media_blocks(paths: list[str], kind: str, data: str) -> tuple[Block, Block]:
    """Return a text block with the paths, and an `image` or `document` block with the base64
    bytes."""
    source: Block = {"type": "base64", "media_type": kind, "data": data}
    block = "document" if kind == "application/pdf" else "image"
    return {"type": "text", "text": f"File {', '.join(paths)}:"}, {"type": block, "source": source}


def is_image(value: Value) -> bool:
    """Return whether a value is the path of an image, or an image block."""
    if isinstance(value, str):
        return (kind_of(value) or "").startswith("image/")
    return is_file(value) and (fields_of(value) or {})["type"] == "image"


def is_file(value: Value) -> bool:
    """Return whether a value is the path of a file, or a block of an image or document."""
    if isinstance(value, str):
        return value.strip() != "" and "\0" not in value
    block = fields_of(value) or {}
    return is_media(block) and flaw_of_media(block) is None


@node
class Given:
    """The inputs that are files: all inputs with labels in place of blocks, the paths to read, and
    the blocks."""

    values: dict[str, Value]
    paths: tuple[str, ...]
    blocks: tuple[Block, ...]


def take_media(names: tuple[str, ...], values: dict[str, Value]) -> Given:
    """Separate the named file inputs from the others."""
    told, paths, blocks = dict(values), [], []
    for name in names:
        value = values[name]
        if isinstance(value, str):
            paths.append(value)
        elif value is not None:
            block = fields_of(value) or {}
            told[name] = label = f"[{block['type']} {name}]"
            blocks += [{"type": "text", "text": f"{label}:"}]
            blocks += [{"type": block["type"], "source": block["source"]}]
    return Given(told, tuple(paths), tuple(blocks))


LARGEST = 5_000_000
"""The most base64 characters of an image or document. Providers take no larger image."""

MOST = 20
"""The most images and documents in one tool result."""


def media_in(value: Value) -> tuple[Block, ...] | None:
    """Return the content blocks of a value that holds an image or document. None for data or text.
    Blocks that no provider takes are replaced by a note."""
    listed = (value,) if isinstance(value, dict) else value
    if not isinstance(listed, tuple) or not listed:
        return None
    blocks = [fields_of(each) or {} for each in listed]
    if not all(map(_is_content, blocks)) or not any(map(is_media, blocks)):
        return None
    made: list[Block] = []
    count = 0
    for block in blocks:
        if block["type"] == "text":
            made += [{"type": "text", "text": block["text"]}] if block["text"].strip() else []
            continue
        count += 1
        flaw = flaw_of_media(block) if count <= MOST else f"it is one of more than {MOST}"
        if flaw is None:
            made.append({"type": block["type"], "source": block["source"]})
        else:
            made.append({"type": "text", "text": f"[{_label(block)} was left out: {flaw}]"})
    return tuple(made)


def is_media(block: Block) -> bool:
    """Return whether a table is an image or document with base64 bytes."""
    source = fields_of(block.get("source")) or {}
    return block.get("type") in ("image", "document") and source.get("type") == "base64"


def _is_content(block: Block) -> bool:
    is_text = block.get("type") == "text" and isinstance(block.get("text"), str)
    return is_text or is_media(block)


def flaw_of_media(block: Block) -> str | None:
    """Return why no provider takes an image or document. None if it has no flaw."""
    kind, data = block["source"].get("media_type"), block["source"].get("data")
    if kind not in _BEGINS or (kind == "application/pdf") is (block["type"] == "image"):
        return f"`{kind}` is none of {', '.join(_BEGINS)}"
    if not isinstance(data, str) or not is_kind(kind, data):
        return f"it is not {kind}, whatever it says"
    if len(data) > LARGEST:
        return f"it takes more than {LARGEST:,} characters of base64"
    return None


def _label(block: Block) -> str:
    return "an image" if block["type"] == "image" else "a document"


def texts_of(content: Value) -> str:
    """Return the text in the content of a result."""
    if isinstance(content, str):
        return content
    blocks = [fields_of(each) or {} for each in content or ()]
    return "\n".join([each["text"] for each in blocks if each.get("type") == "text"])


def with_text(content: Value, text: str) -> Value:
    """Return the content of a result with another text. Images and documents stay."""
    if not isinstance(content, tuple):
        return text
    others = tuple([each for each in content if (fields_of(each) or {}).get("type") != "text"])
    return ({"type": "text", "text": text}, *others) if text.strip() else others


def without_media(blocks: Sequence[Block]) -> tuple[Block, ...]:
    """Return the results of a message with words in place of images and documents."""
    made: list[Block] = []
    for block in blocks:
        content = block.get("content")
        if isinstance(content, tuple):
            inner = [fields_of(each) or {} for each in content]
            left = [_label(each) for each in inner if each.get("type") != "text"]
            words = [f"[{one} was left out: there is no room]" for one in left]
            block = {**block, "content": "\n".join([texts_of(content), *words]).strip()}
        made.append(block)
    return tuple(made)


def unique(paths: Iterable[str], folder: str) -> tuple[str, ...]:
    """Drop paths that denote an earlier path's file. Relative paths are resolved against `folder`
    ('' if it is unknown)."""
    first: dict[str, str] = {}
    for path in paths:
        first.setdefault(place(path, folder), path)
    return tuple(first.values())


def place(path: str, folder: str) -> str:
    """Return a normalized path. Links are not resolved: they may be files of their own."""
    whole = f"{folder}/{path}" if folder and not path.startswith("/") else path
    is_absolute = whole.startswith("/")
    parts: list[str] = []
    for part in whole.split("/"):
        if part == ".." and parts and parts[-1] != "..":
            parts.pop()
        elif part not in ("", ".") and not (part == ".." and is_absolute):
            parts.append(part)
    return "/" * is_absolute + "/".join(parts)


def relative_to(path: str, folder: str) -> str:
    """Return a normalized path, relative if it lies below the folder."""
    return place(path, folder).removeprefix(f"{folder.rstrip('/')}/") if folder else place(path, "")
