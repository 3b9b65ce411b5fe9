"""What a server says → plain data, or a Refusal that says what went wrong."""

import json
from typing import Any

from sexplang.runtime.journal.redaction import clean, clean_data, shorten
from sexplang.runtime.refusal import Refusal, make_task_failure
from sexplang.terms.values.text import value_of
from sexplang.terms.values.value import Fault, Value

MOST_BYTES = 4_000_000
"""Of one message of a server."""

MOST_DESCRIBED = 100_000
"""Characters that describe one tool: they are in every prompt."""

LONGEST = 500
"""Characters of an error of the protocol that are told."""


def definition(tool: Any, server: str) -> dict[str, Value]:
    """`{description input_schema}`, for a model. Raises a Refusal."""
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
    """The value of a call: its blocks as models have them, if there is an image or a document among
    them; else its structured content if it has one, else its text. Raises a Refusal if the tool
    says that it has failed."""
    texts = [block.text for block in result.content if block.type == "text"]
    if result.is_error:
        raise make_task_failure(
            "tool_execution_error",
            "tool-failed",
            f"the tool `{name}` failed: {clean(chr(10).join(texts)) or 'it did not say why'}",
            hint="give it other inputs; what it says is the server's",
            tool=name,
        )
    blocks = [
        block_of(block.model_dump(mode="json", exclude_none=True)) for block in result.content
    ]
    if any(block["type"] != "text" for block in blocks):
        return clean_data(blocks)
    if result.structured_content is not None:
        # Within a list, because a text is clean data too.
        return clean_data([result.structured_content])[0]
    return clean("\n".join([block["text"] for block in blocks]))


def block_of(block: dict[str, Any]) -> dict[str, Any]:
    """A block of the protocol as a content block of a model: what models take is an image or a
    document, any other is text that says what it is."""
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
"""What models can see, by the media type, and the block that it is."""


def _media_type(block: dict[str, Any], resource: dict[str, Any]) -> str:
    """The protocol writes `mimeType`, its library `mime_type`."""
    for holder in (block, resource):
        for name in ("mime_type", "mimeType"):
            if holder.get(name):
                return str(holder[name])
    return ""


def too_large(most: int) -> str:
    """What is said of an answer of more bytes."""
    return f"its answer is larger than {most:,} bytes"


def check_inputs(inputs: Any, name: str) -> None:
    """Raises a Refusal for what is no table or too deep, and for a number that JSON has not."""
    if not isinstance(inputs, dict):
        words = f"the tool `{name}` takes a table of inputs"
        hint = 'give what its schema asks for, such as {path: "notes.txt"}'
        raise _bad_inputs("bad-tool-input", words, hint, name)
    try:
        json.dumps(inputs, allow_nan=False)
    except ValueError:
        words = f"the tool `{name}` cannot be given an infinity or NaN: JSON has no such number"
        raise _bad_inputs("not-json", words, "put nil or a text in its place", name) from None
    except RecursionError:
        words = f"what the tool `{name}` is given nests too deep"
        raise _bad_inputs("bad-tool-input", words, "pass less at once", name) from None


def _bad_inputs(code: str, words: str, hint: str, name: str) -> Refusal:
    return make_task_failure("input_validation_failure", code, words, hint=hint, tool=name)


def problem(error: BaseException) -> str:
    """What went wrong, in a line: of a message that does not fit the protocol, its first flaw."""
    errors = getattr(error, "errors", None)
    if callable(errors):
        flaw = errors(include_url=False)[0]
        return f"{'.'.join(map(str, flaw['loc']))}: {flaw['msg']}"[:LONGEST]
    return shorten(str(error), LONGEST) or type(error).__name__


def make_server_failure(
    server: str,
    why: str,
    said: bytes = b"",
    reason: str = "connection_error",
    hint: str = "start it outside the program, and look at what it says",
) -> Refusal:
    """The server does not do what it should; `said` is what it complained about."""
    words = bytes(said).decode("utf-8", "replace").strip()
    return make_task_failure(
        reason,
        "mcp-failed",
        f"the MCP server `{server}` {why}",
        hint=hint,
        server=server,
        said=clean(words) or None,
    )
