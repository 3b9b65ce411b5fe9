"""The Reply: a value that answers `model`, with its shape checked."""

from collections.abc import Sequence

from sexplang.tasks.failures import bad_reply
from sexplang.tasks.requests.subtask_request import fields_of
from sexplang.tasks.session import Block
from sexplang.terms.classes.node import node
from sexplang.terms.json.strict import unfit
from sexplang.terms.values.value import Fault, Value


@node
class ToolUse:
    """One tool call of the model, with `input` as it was written."""

    id: str
    name: str
    input: Value


@node
class Reply:
    """A model's turn: its blocks, its text, its tool calls."""

    content: tuple[Block, ...]
    kept: tuple[Block, ...]
    """The blocks that history may hold: no blank text."""
    text: str
    uses: tuple[ToolUse, ...]
    stop_reason: str | None
    usage: tuple[int, int]
    model: str | None
    category: str
    """The reason of a refusal, if the model gives one."""
    own: tuple[int, int]
    """The usage without that of failed attempts before it."""
    offered: tuple[str, ...] | None
    """The names of the tools that a handler offered the model. None if no handler asked it."""


def model_reply(value: Value) -> Reply:
    """Check the shape of a reply strictly. A string is a reply with one text block.

    Raises Fault with a protocol_error.
    """
    if isinstance(value, str):
        value = {"content": ({"type": "text", "text": value},), "stop_reason": "end_turn"}
    fields = value if type(value) is dict else fields_of(value)
    if fields is None:
        raise bad_reply("the model's reply is not a table", expected="{content stop_reason usage}")
    content = fields.get("content")
    if not isinstance(content, (tuple, list)):
        raise bad_reply("the model's reply has no list of content blocks", field="content")
    text = _only_text(content)
    if text is not None:
        return _reply(fields, content, content, text, ())
    return _of_blocks(fields, content)


def _only_text(content: Sequence[Value]) -> str | None:
    """Return the text of a reply with one ASCII text block, the common case. Else None."""
    block = content[0] if len(content) == 1 else None
    if type(block) is dict and block.get("type") == "text":
        text = block.get("text")
        if type(text) is str and text.isascii() and text and not text.isspace():
            return text
    return None


def _of_blocks(fields: dict[str, Value], content: Sequence[Value]) -> Reply:
    """Return a reply of any blocks."""
    texts: list[str] = []
    uses: list[ToolUse] = []
    blocks: list[Block] = []
    kept: list[Block] = []
    for at, item in enumerate(content):
        block = item if type(item) is dict else fields_of(item)
        kind = block.get("type") if block is not None else None
        if block is None or not isinstance(kind, str):
            raise bad_reply("a content block is not a table with a type", field=f"content[{at}]")
        if kind == "text":
            text = block.get("text")
            if not isinstance(text, str):
                raise bad_reply("a text block has no text", field=f"content[{at}].text")
            if not text.isascii() and (whole := _whole(text)) is not text:
                text = whole
                block = {**block, "text": text}
            texts.append(text)
            blocks.append(block)
            if text and not text.isspace():
                kept.append(block)
            continue
        if kind == "tool_use":
            uses.append(_tool_use(block, at, uses))
            given = block.get("input")
            if fields_of(given) is None or unfit(given):
                # History admits only a JSON object here.
                block = {**block, "input": {}}
        blocks.append(block)
        kept.append(block)
    return _reply(fields, tuple(blocks), tuple(kept), "".join(texts), tuple(uses))


def _reply(
    fields: dict[str, Value],
    blocks: Sequence[Block],
    kept: Sequence[Block],
    text: str,
    uses: tuple[ToolUse, ...],
) -> Reply:
    """Return a reply of checked blocks, with its other fields."""
    stop_reason, model = fields.get("stop_reason"), fields.get("model")
    if stop_reason is not None and not isinstance(stop_reason, str):
        raise bad_reply("the `stop_reason` of the model's reply is no text", field="stop_reason")
    if model is not None and not isinstance(model, str):
        raise bad_reply("the `model` of the model's reply is no text", field="model")
    usage = own = _usage(fields.get("usage"))
    if "lost" in fields:
        lost = _usage(fields["lost"])
        own = max(0, usage[0] - lost[0]), max(0, usage[1] - lost[1])
    return Reply(
        tuple(blocks),
        tuple(kept),
        text,
        uses,
        stop_reason,
        usage,
        model,
        _category(fields) if stop_reason == "refusal" else "",
        own,
        fields.get("offered"),
    )


def usage_of(value: Value) -> tuple[int, int]:
    """Return the input and output tokens of a reply, even of a malformed one."""
    try:
        return _usage((fields_of(value) or {}).get("usage"))
    except Fault:
        return 0, 0


def _whole(text: str) -> str:
    """Replace halves of surrogate pairs, which JSON admits, by `?`."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "replace").decode()
    return text


def _tool_use(block: Block, at: int, before: list[ToolUse]) -> ToolUse:
    identity, name = block.get("id"), block.get("name")
    if not isinstance(identity, str) or not identity:
        raise bad_reply("a tool call has no id", field=f"content[{at}].id")
    if not isinstance(name, str) or not name:
        raise bad_reply("a tool call names no tool", field=f"content[{at}].name")
    if any(use.id == identity for use in before):
        raise bad_reply(f"two tool calls have the id `{identity}`", field=f"content[{at}].id")
    return ToolUse(identity, name, block.get("input"))


def _usage(value: Value) -> tuple[int, int]:
    if value is None:
        return 0, 0
    fields = value if type(value) is dict else fields_of(value)
    if fields is None:
        raise bad_reply("the usage of the model's reply is not a table", field="usage")
    taken = given = 0
    for name, count in fields.items():
        if name not in _COUNTS or count is None:
            continue
        if type(count) is not int or count < 0:
            raise bad_reply(f"the usage's `{name}` is not a count", field=f"usage.{name}")
        if name == "output_tokens":
            given = count
        else:
            taken += count
    return taken, given


# Tokens from a provider's cache are input. They are counted apart.
_COUNTS = frozenset(
    ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens", "output_tokens")
)


def _category(fields: dict[str, Value]) -> str:
    details = fields_of(fields.get("stop_details")) or {}
    category = details.get("category")
    return category if isinstance(category, str) else "refusal"
