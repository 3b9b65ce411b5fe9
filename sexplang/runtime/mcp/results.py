"""The conversion of a server's answers to plain data or refusals."""

import json
from typing import Any

from sexplang.runtime.journal.redaction import clean, clean_data, shorten
from sexplang.runtime.refusal import Refusal, make_task_failure
from sexplang.terms.values.boundary import value_of
from sexplang.terms.values.value import Fault, Value

MOST_DESCRIBED = 100_000
"""Maximum characters of a tool's description, which is in every prompt."""

TOLD = 2000
"""Characters of the end of a server's error output that an error may contain."""

LONGEST = 500
"""Maximum characters of a protocol error in a message."""


def definition(tool: Any, server: str) -> dict[str, Value]:
    """Return `{description input_schema}` of a tool for a model. Raises Refusal."""
    described = {"description": tool.description or "", "input_schema": tool.input_schema}
    try:
        if len(json.dumps(described)) > MOST_DESCRIBED:
            raise make_server_failure(
                server, f"has too long a description of its tool `{tool.name}`"
            )
        made: dict[str, Value] = value_of(clean_data(described))
    except (Fault, RecursionError, ValueError):
        raise make_server_failure(
            server, f"has a schema of its tool `{tool.name}` that is no data"
        ) from None
    return made


def value_of_result(result: Any, name: str) -> Any:
    """Return the value of a tool call. It is content blocks if they include an image or a document,
    else the structured content if present, else the text. Raises Refusal if the tool reports
    failure."""
    texts = [block.text for block in result.content if block.type == "text"]
    if result.is_error:
        raise make_task_failure(
            "tool_execution_error",
            "tool-failed",
            f"the tool `{name}` failed: {clean(chr(10).join(texts)) or 'it did not say why'}",
            hint="change the input as the message says; the server wrote it",
            tool=name,
        )
    content = value_of_blocks(result.content)
    if isinstance(content, str) and result.structured_content is not None:
        # In a list, because `clean_data` also takes a text.
        return clean_data([result.structured_content])[0]
    return content


def value_of_blocks(blocks: list[Any]) -> Any:
    """Return content blocks if they include an image or a document, else their text."""
    made = [_block_of(block.model_dump(mode="json", exclude_none=True)) for block in blocks]
    if any(block["type"] != "text" for block in made):
        return clean_data(made)
    return clean("\n".join([block["text"] for block in made]))


def _block_of(block: dict[str, Any]) -> dict[str, Any]:
    """Convert a block of the protocol to a content block of a model. Images and documents that
    models accept keep their kind. Any other block becomes text that names its kind."""
    kind = block["type"]
    if kind == "text":
        return {"type": "text", "text": block["text"]}
    resource = block.get("resource") or {}
    data, media = block.get("data", resource.get("blob")), _media_type(block, resource)
    if media in _DOCUMENTS and data is not None:
        source = {"type": "base64", "media_type": media, "data": data}
        return {"type": _DOCUMENTS[media], "source": source}
    about = " ".join([each for each in (resource.get("uri", block.get("uri")), media) if each])
    if data is not None:
        what = "audio" if kind == "audio" else "a file"
        said = f"[{what} that models cannot read: {about}, {len(data) * 3 // 4:,} bytes]"
    elif "text" in resource:
        said = f"{about}:\n{resource['text']}"
    else:
        said = " ".join([each for each in (block.get("name"), about) if each])
    return {"type": "text", "text": said}


_DOCUMENTS = {
    **dict.fromkeys(("image/png", "image/jpeg", "image/gif", "image/webp"), "image"),
    "application/pdf": "document",
}
"""The block type for each media type that models accept."""


def _media_type(block: dict[str, Any], resource: dict[str, Any]) -> str:
    """The media type of a block. The protocol names it `mimeType`, the library `mime_type`."""
    for holder in (block, resource):
        for name in ("mime_type", "mimeType"):
            if holder.get(name):
                return str(holder[name])
    return ""


def check_inputs(inputs: Any, name: str) -> None:
    """Raise Refusal for inputs that are not a table, are nested too deeply, or hold a number that
    JSON lacks."""
    if not isinstance(inputs, dict):
        words = f"the tool `{name}` takes a table of inputs"
        hint = 'give what its schema asks for, such as {path: "notes.txt"}'
        raise bad_inputs("bad-tool-input", words, hint, name)
    try:
        json.dumps(inputs, allow_nan=False)
    except ValueError:
        words = f"the tool `{name}` cannot be given an infinity or NaN: JSON has no such number"
        raise bad_inputs("not-json", words, "put nil or a text in its place", name) from None
    except RecursionError:
        words = f"the input of the tool `{name}` is nested too deep"
        raise bad_inputs("bad-tool-input", words, "pass a value with fewer levels", name) from None


def bad_inputs(code: str, words: str, hint: str, name: str) -> Refusal:
    return make_task_failure("input_validation_failure", code, words, hint=hint, tool=name)


def problem(error: BaseException) -> str:
    """Describe an error in one line. Of a message that violates the protocol, the first violation
    is named."""
    errors = getattr(error, "errors", None)
    if callable(errors):
        flaw = errors(include_url=False)[0]
        return f"{'.'.join(map(str, flaw['loc']))}: {flaw['msg']}"[:LONGEST]
    return shorten(str(error), LONGEST).rstrip(".") or type(error).__name__


def make_server_failure(
    server: str,
    why: str,
    said: bytes = b"",
    reason: str = "connection_error",
    hint: str | None = None,
) -> Refusal:
    """Return the refusal of a misbehaving server. `said` is its error output."""
    words = bytes(said).decode("utf-8", "replace").strip()
    return make_task_failure(
        reason,
        "mcp-failed",
        f"the MCP server `{server}` {why}",
        hint=hint or "start the server outside the program and read its output",
        server=server,
        said=clean(words)[-TOLD:] or None,
    )
