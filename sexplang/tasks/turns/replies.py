"""The replies to the requests of a conversation: a model's Reply, with its shape checked, and the
answers of tools, subtasks and plans as its model reads them."""

from collections.abc import Sequence

from sexplang.tasks.failures import bad_reply
from sexplang.tasks.plans.proposal import Planning
from sexplang.tasks.prompt.media import value_text
from sexplang.tasks.requests.match import describe_substitute
from sexplang.tasks.requests.subtask_request import fields_of
from sexplang.tasks.session import Block
from sexplang.terms.classes.node import evolve, frozen, node
from sexplang.terms.json.json_writer import json_text
from sexplang.terms.json.strict import unfit
from sexplang.terms.task import MISTAKES
from sexplang.terms.values.sums import add_up
from sexplang.terms.values.text import text
from sexplang.terms.values.value import Fault, Record, Value


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


def outcome(value: Value) -> tuple[str, bool]:
    """Return the reply as a model reads it, and whether it is a failure: then the TaskError as
    JSON. Raises Fault for values that are not data, which are the program's mistake."""
    try:
        if isinstance(value, Record) and value.fields.get("status") == "FAILED":
            return error_words(value), True
        if (fields_of(value) or {}).get("status") == "CONTINUATION":
            return json_text(_GOES_ON), True
        said = "; ".join(_note_other_task(value))
        return value_text(value) + (f"\n\n[{said}]" if said else ""), False
    except Fault as fault:
        if fault.code in MISTAKES:
            raise
        error = {"type": "TASK_FAILURE", "reason": "tool_execution_error", "message": fault.message}
        return json_text({**error, "details": {"code": fault.code}}), True


_GOES_ON: dict[str, Value] = {
    "type": "TASK_FAILURE",
    "reason": "tool_execution_error",
    "message": "the tool gave a CONTINUATION, and nobody can go on with it: only a conversation "
    "asks for a subtask",
}


def _note_other_task(value: Value) -> tuple[str, ...]:
    """Return the note for a task that answered a request by another name. Other warnings of a
    subtask go to the notes: its answer may be JSON that the model asked for."""
    notes = _notes(value)
    if "asked_for" not in notes:
        return ()
    said = describe_substitute(notes["asked_for"], notes.get("template_used"))
    return (said,) if said else ()


def _warnings_of(value: Value) -> tuple[str, ...]:
    """Return the warnings of a subtask without those of `_note_other_task`."""
    listed = _notes(value).get("warnings")
    if not isinstance(listed, tuple):
        return ()
    before = _note_other_task(value)
    return tuple([text(each) for each in listed if each not in before])


def _notes(value: Value) -> dict[str, Value]:
    is_result = isinstance(value, Record) and value.kind == "TaskResult"
    return (fields_of(value.fields.get("notes")) or {}) if is_result else {}


def _find_unanswered(value: Value) -> tuple[str, ...]:
    """Return the note for a question that no user answered."""
    error = fields_of(_notes(value).get("error")) or {}
    if error.get("reason") != _NOBODY:
        return ()
    return (f"the user was asked and did not answer: {text(error.get('message'))}",)


def collect_warnings(replies: tuple[Value, ...]) -> tuple[str, ...]:
    """Return the warnings of the subtasks and plans among the replies."""
    found: list[Value] = []
    for value in replies:
        task = _notes(value).get("template_used")
        about = f"subtask `{text(task)}`: " if task is not None else "subtask: "
        found += _note_other_task(value)
        found += [about + said for said in _warnings_of(value)]
        found += _find_unanswered(value)
    for plan in [fields_of(value) or {} for value in replies if results_of(value)]:
        listed = plan.get("warnings")
        found += listed if isinstance(listed, tuple) else ()
    return tuple(found)


def sum_usage(replies: tuple[Value, ...]) -> tuple[int, int]:
    """Return the input and output tokens of the subtasks among the replies, with theirs. A failed
    subtask reports them in its error's details."""
    taken = given = 0
    work = list(replies)
    while work:
        value = work.pop()
        work.extend(results_of(value))
        if not isinstance(value, Record) or value.kind != "TaskResult":
            continue
        notes = fields_of(value.fields.get("notes")) or {}
        error = fields_of(notes.get("error")) or {}
        details = fields_of(error.get("details")) or {}
        usage = notes.get("chain_usage") or details.get("usage") or value.fields.get("usage")
        counts = fields_of(usage) or {}
        taken += _count(counts.get("input_tokens"))
        given += _count(counts.get("output_tokens"))
    return taken, given


def _count(value: Value) -> int:
    return value if type(value) is int and value > 0 else 0


def find_halt(value: Value) -> Record | None:
    """Return the error that halted a chain of subtasks, if this is its result."""
    if not isinstance(value, Record) or value.fields.get("status") != "FAILED":
        return None
    error = _notes(strip_error(value)).get("error")
    is_halt = isinstance(error, Record) and error.fields.get("reason") == "execution_halted"
    return error if is_halt else None


def error_words(failed: Record) -> str:
    """Return the TaskError of a FAILED result as JSON, with the partial work as its content."""
    notes = fields_of(failed.fields.get("notes")) or {}
    error = fields_of(notes.get("error"))
    content = failed.fields.get("content")
    if error is None:
        error = {
            "type": "TASK_FAILURE",
            "reason": "unexpected_error",
            "message": "it failed and did not say why",
            "content": content,
            "details": notes,
        }
    # Spans mean nothing to a model, and permissions are the operator's.
    hidden = ("span", "hint") if error.get("reason") in _DENIED else ("span",)
    if error.get("reason") == _NOBODY:
        error = {**error, "hint": _ON_YOUR_OWN}
    details = fields_of(error.get("details")) or {}
    known = {key: item for key, item in details.items() if not _is_own(key, item)}
    if len(known) < len(details):
        error = {**error, "details": known}
    told = {
        key: item for key, item in error.items() if key not in hidden and item not in (None, {}, "")
    }
    try:
        return json_text(told)
    except Fault:  # the message without the details that are not JSON
        return json_text({key: told[key] for key in told if key not in ("details", "content")})


def _is_own(detail: str, item: Value) -> bool:
    """Return whether a detail is for the program alone: the model's own request, or bindings in the
    program."""
    return detail == "subtaskRequest" or (detail == "partial_results" and type(item) is dict)


_DENIED = frozenset({"path-denied", "run-denied", "net-denied"})


_NOBODY = "no-answer"


_ON_YOUR_OWN = (
    "nobody can be asked now: go on with what you know and say what you assumed, or say what is "
    "missing"
)


@frozen
class Answered:
    """The answer to a proposal: the words for the model, and the reason of a refusal."""

    planning: Planning
    words: dict[str, Value]
    is_error: bool
    refused: str | None = None


def read_answer(planning: Planning, value: Value) -> Answered | None:
    """Read the reply to the pending proposal. None for a reply that is not about a plan."""
    asked, reply = planning.asked or {}, fields_of(value) or {}
    planning = planning.over()
    accepted, reason = reply.get("accepted"), reply.get("reason")
    if not is_plan(value):
        return None
    words = reason if isinstance(reason, str) else None
    if not accepted:
        why = words or "no reason was given"
        return Answered(planning, {"accepted": False, "reason": why}, True, why)
    subtasks = asked.get("subtasks") or ()
    granted = reply.get("granted")
    if not isinstance(granted, (int, float)):
        granted = add_up([_seconds(subtask) for subtask in subtasks])
    planning = evolve(
        planning,
        accepted=(*planning.accepted, _with_kept(reply)),
        counted=planning.artifacts,
        first=planning.first + len(subtasks),
        granted=planning.granted + granted,
    )
    return Answered(planning, _select_for_model(reply, words), words is not None)


def _seconds(subtask: Value) -> float:
    cap = (fields_of(subtask) or {}).get("budget_cap") or {}
    seconds: float = cap.get("seconds", 0)
    return seconds


def is_plan(reply: Value) -> bool:
    """Return whether a value answers a plan."""
    if isinstance(reply, Record):
        return False
    return isinstance((fields_of(reply) or {}).get("accepted"), bool)


def _with_kept(reply: dict[str, Value]) -> dict[str, Value]:
    results = results_of(reply)
    return {**reply, "results": tuple(map(strip_error, results))} if results else reply


def strip_error(result: Value) -> Value:
    """Return a result as it is kept. Partial results stand in its notes alone, not in its error
    too, so each of many nested failures is kept once."""
    if not isinstance(result, Record) or result.kind != "TaskResult":
        return result
    notes = fields_of(result.fields.get("notes")) or {}
    error = notes.get("error")
    details = fields_of(error.fields.get("details")) if isinstance(error, Record) else None
    if not isinstance(error, Record) or not details or "partial_results" not in details:
        return result
    rest = {name: item for name, item in details.items() if name != "partial_results"}
    error = Record(error.kind, {**error.fields, "details": rest})
    fields = {**result.fields, "notes": {**notes, "error": error}}
    return Record(result.kind, fields, result.answer)


def results_of(reply: Value) -> tuple[Value, ...]:
    """Return the results of a reply to a plan. Empty if it is none."""
    fields = fields_of(reply) or {}
    results = fields.get("results")
    if isinstance(fields.get("accepted"), bool) and isinstance(results, (tuple, list)):
        return tuple(results)
    return ()


def _select_for_model(reply: dict[str, Value], reason: str | None) -> dict[str, Value]:
    """Return the part of the results that a model reads: the node, the end, the content and the
    artifacts of each."""
    told: dict[str, Value] = {"accepted": True}
    if reason is not None:
        told["reason"] = reason
    for name in ("decision", "warnings"):
        if reply.get(name):
            told[name] = reply[name]
    told["results"] = tuple([_result(each) for each in results_of(reply)])
    return told


def _result(result: Value) -> Value:
    fields = fields_of(result)
    if fields is None or "notes" not in fields:
        return result
    notes = fields_of(fields["notes"]) or {}
    node = fields_of(notes.get("node")) or {}
    told: dict[str, Value] = {name: node.get(name) for name in ("id", "description", "state")}
    told["content"] = fields.get("content")
    error = fields_of(notes.get("error"))
    if error is not None:
        told["error"] = error.get("message")
    if notes.get("artifacts"):
        told["artifacts"] = notes["artifacts"]
    return {name: item for name, item in told.items() if item not in (None, "")}
