"""The conversation of a task: its messages, the model's replies, the results of tools."""

from collections.abc import Iterable, Iterator
from typing import Any

from sexplang.hosts.report.markup import Html, tag
from sexplang.runtime.journal.recording_reader import Entry
from sexplang.terms.json.tagged import pack
from sexplang.terms.model.payload import is_embedding
from sexplang.terms.values.value import Record, Value

SAYING = ("request", "compaction")
"""The kinds of entries that make a conversation."""

LONGEST = 200
"""The most characters of data in one line."""


def conversation(entries: Iterable[Entry]) -> Html | None:
    """Return the messages of consecutive model calls, each once; None if there are none."""
    parts: list[Html] = []
    said: list[Any] = []
    system: Any = None
    tools: Any = None
    is_compacted = False
    for entry in entries:
        if entry.kind == "compaction":
            parts.append(tag("p", f"compaction: {entry.name}", class_="note"))
            is_compacted = True
            continue
        payload = _payload(entry)
        if payload is None:  # it was withdrawn: its payload is not recorded
            parts += _show_reply(entry, None)
            continue
        if payload.get("system") and payload["system"] != system:
            system = payload["system"]
            parts.append(_message("system", system))
        if payload.get("tools") and payload["tools"] != tools:
            tools = payload["tools"]
            parts.append(_tools(tools))
        messages = list(payload["messages"])
        if is_compacted and len(said) <= len(messages):  # the same messages, some of them emptied
            new = messages[len(said) :]
        else:
            new = _select_new(said, messages)
        is_compacted = False
        parts += [_message(str(each.get("role")), each.get("content")) for each in new]
        reply = _reply(entry)
        parts += _show_reply(entry, reply)
        said = [*messages, {"role": "assistant", "content": reply}]
    return tag("div", *parts, class_="talk") if parts else None


def turn(entry: Entry) -> Html | None:
    """Return the last message and the reply of one model call."""
    payload = _payload(entry)
    if payload is None:
        parts = _show_embeddings(entry) or _show_reply(entry, None)
        return tag("div", *parts, class_="talk") if parts else None
    last = payload["messages"][-1]
    parts = [_message(str(last.get("role")), last.get("content"))]
    parts += _show_reply(entry, _reply(entry))
    before = len(payload["messages"]) - 1
    if before:
        words = f"{before} earlier {'message' if before == 1 else 'messages'} before this"
        parts.insert(0, tag("p", words, class_="note"))
    return tag("div", *parts, class_="talk")


def data(value: Value) -> Html:
    """Return a value as text, or as formatted JSON."""
    return tag("pre", value if isinstance(value, str) else layout_json(pack(value)))


def layout_json(json: Any) -> str:
    """Return JSON as text: short parts on one line. It does not recurse."""
    out: list[str] = []
    work: list[Any] = [("", json, 0)]
    while work:
        item = work.pop()
        if isinstance(item, str):
            out.append(item)
            continue
        lead, part, depth = item
        flat = _flat(part)
        if len(flat) <= LONGEST or not isinstance(part, (list, dict)):
            out.append(lead + flat)
            continue
        inner = "  " * (depth + 1)
        pairs: list[Any] = (
            [(f"{_flat(key)}: ", below) for key, below in part.items()]
            if isinstance(part, dict)
            else [("", below) for below in part]
        )
        opening, closing = "{}" if isinstance(part, dict) else "[]"
        out.append(lead + opening)
        work.append(f"\n{'  ' * depth}{closing}")
        for at in reversed(range(len(pairs))):
            key, below = pairs[at]
            work.append(((",\n" if at else "\n") + inner + key, below, depth + 1))
    return "".join(out)


def _flat(part: Any) -> str:
    from sexplang.terms.json.tagged import dump

    return dump(part)


def _payload(entry: Entry) -> dict[str, Any] | None:
    arguments = entry.row.arguments if entry.row is not None else ()
    payload = arguments[0] if entry.name == "model" and arguments else None
    if not isinstance(payload, dict):
        return None
    messages = payload.get("messages")
    if not messages or not isinstance(messages, (tuple, list)):
        return None
    return payload if all(isinstance(each, dict) for each in messages) else None


def _reply(entry: Entry) -> Any:
    reply = entry.row.reply if entry.row is not None and not entry.row.failed else None
    return reply.get("content") if isinstance(reply, dict) else reply


def _show_reply(entry: Entry, reply: Any) -> list[Html]:
    """Return the reply, or the part that had arrived when the call ended early."""
    if reply is not None:
        return [_message("reply", reply)]
    text = _so_far(entry)
    return [_message("reply, cut off here", text)] if text else []


def _show_embeddings(entry: Entry) -> list[Html]:
    """Return the texts of a request for embeddings, and how many vectors came. Nobody reads
    those."""
    arguments = entry.row.arguments if entry.row is not None else ()
    payload: Any = arguments[0] if entry.name == "model" and arguments else None
    if not is_embedding(payload):
        return []
    texts = payload["embed"]
    parts = [_message("embed", texts if isinstance(texts, (tuple, list)) else [texts])]
    reply = entry.row.reply if entry.row is not None and not entry.row.failed else None
    vectors = reply.get("embeddings") if isinstance(reply, dict) else None
    if isinstance(vectors, (tuple, list)) and vectors and isinstance(vectors[0], (tuple, list)):
        words = f"{len(vectors):,} vectors of {len(vectors[0]):,} numbers"
        parts.append(tag("p", words, class_="note"))
    return parts


def _so_far(entry: Entry) -> str | None:
    if entry.name != "model":
        return None
    part = entry.row if entry.row is not None else entry.part
    value = part.reply if part is not None else None
    if isinstance(value, Record):  # the error of a call that failed in the middle
        value = {"text": value.fields.get("content")}
    text = value.get("text") if isinstance(value, dict) else None
    return text if isinstance(text, str) and text else None


def _select_new(said: list[Any], messages: list[Any]) -> list[Any]:
    """Return the messages that are new; all of them in another conversation."""
    if messages[: len(said)] == said:
        return messages[len(said) :]
    # The reply may have another form in the next request.
    if said and messages[: len(said) - 1] == said[:-1]:
        return messages[len(said) - 1 :]
    return messages


def _message(role: str, content: Any) -> Html:
    blocks = content if isinstance(content, (tuple, list)) else [content]
    return tag("section", tag("h4", role), *_blocks(blocks), class_=f"said {_class(role)}")


def _class(role: str) -> str:
    name = role.partition(",")[0]
    return name if name in ("user", "assistant", "system", "reply") else "other"


def _blocks(blocks: Iterable[Any]) -> Iterator[Html]:
    for block in blocks:
        match block:
            case str():
                yield tag("pre", block)
            case {"type": "text", "text": str(words)}:
                yield tag("pre", words)
            case {"type": "tool_use"}:
                yield tag("p", f"calls {block.get('name')}", class_="note")
                yield data(block.get("input"))
            case {"type": "tool_result"}:
                failed = " (failed)" if block.get("is_error") else ""
                yield tag("p", f"gives{failed}", class_="note")
                content = block.get("content")
                yield from _blocks(content if isinstance(content, (tuple, list)) else [content])
            case {"type": "image" | "document", "source": {"data": str(base64)}}:
                size = f"{len(base64) * 3 // 4:,} bytes"
                media = block["source"].get("media_type")
                yield tag("p", f"{block['type']} {media}, {size}", class_="note")
            case _:
                yield data(block)


def _tools(tools: Any) -> Html:
    """Return the tools of a model: names, and definitions to unfold."""
    listed = tools if isinstance(tools, (tuple, list)) else ()
    names = ", ".join(
        str(each.get("name")) if isinstance(each, dict) else str(each) for each in listed
    )
    body = tag("details", tag("summary", names), data(tools))
    return tag("section", tag("h4", "tools"), body, class_="said tools")


def error_of(error: Record) -> Html:
    """Return an error with its details."""
    fields = error.fields
    head = f"{fields.get('type')} {fields.get('reason')}: {fields.get('message')}"
    parts = [tag("p", head)]
    if fields.get("hint"):
        parts.append(tag("p", str(fields["hint"]), class_="note"))
    if fields.get("details"):
        parts.append(data(fields["details"]))
    return tag("div", *parts, class_="error")
