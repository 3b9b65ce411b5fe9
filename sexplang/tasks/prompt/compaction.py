"""Compaction: the oldest results of a conversation are emptied so that it fits its window.

Enough is emptied at once that the next turns begin with the same bytes for a while. The messages of
a handler of `compact` are checked here, and the notes of each compaction are made here.
"""

from collections import Counter
from math import ceil

from sexplang.tasks.prompt.history import flaw_of, is_history, messages_of
from sexplang.tasks.prompt.window import tokens_of
from sexplang.tasks.requests.subtask_request import fields_of
from sexplang.tasks.session import NOTHING_LEFT_OUT, Block, HandlerSession
from sexplang.tasks.turns.conversation_end import sources_of
from sexplang.terms.classes.node import evolve
from sexplang.terms.json.json_writer import json_text
from sexplang.terms.values.abbreviation import abbreviate
from sexplang.terms.values.value import Fault, Value

Messages = tuple[Block, ...]


def compact(messages: Value, used: Value, limit: Value) -> Messages:
    """Answer `compact` by default: empty the oldest results until half of the window is free. The
    messages after the model's last words stay whole. Raises Fault."""
    if not is_history(messages) or type(used) is not int or type(limit) is not int:
        raise Fault(
            "wrong-type",
            "`compact` takes a list of messages and two integers: tokens used, and their limit",
            hint="a conversation performs it; answer it with ((compact messages used limit) resume "
            "(resume …))",
        )
    left = list(messages)
    before = sum(map(_tokens, left))
    scale = min(1.0, used / before) if before else 1.0
    over = used - limit // 2
    for at in range(_newest(left)):
        if over <= 0:
            break
        made = _empty_results(left[at], over / scale)
        over -= ceil((_tokens(left[at]) - _tokens(made)) * scale)
        left[at] = made
    return tuple(left)


def _newest(messages: list[Block]) -> int:
    """Return the index of the newest turn: the model's last message."""
    spoken = [at for at, each in enumerate(messages) if each["role"] == "assistant"]
    return spoken[-1] if spoken else 0


def _empty_results(message: Block, over: float) -> Block:
    """Return the message without so many tokens of results, or without all of them."""
    content = message["content"]
    if not isinstance(content, tuple):
        return message
    made: list[Value] = []
    for each in content:
        block = fields_of(each) or {}
        if over > 0 and block.get("type") == "tool_result":
            mark = {**block, "content": f"[result emptied to fit the window: {_size(block)}]"}
            whole, left = tokens_of((block,)), tokens_of((mark,))
            if whole > 2 * left:  # a mark is not emptied again
                over -= whole - left
                each = mark
        made.append(each)
    return {**message, "content": tuple(made)}


def _size(block: Block) -> str:
    """Describe the size of a result's content."""
    count, media = characters(block), _media(block)
    words = [f"{count:,} character{'s' * (count != 1)}"] if count or not media else []
    return ", ".join([*words, *media])


def characters(block: Block) -> int:
    """Return the number of characters of a result without its images and documents."""
    content = block.get("content")
    if not isinstance(content, tuple):
        return len(content or "")
    inner = [fields_of(each) or {} for each in content]
    return sum([_characters(each) for each in inner if each.get("type") not in _MEDIA])


def _characters(block: Block) -> int:
    text = block.get("text")
    return len(text) if isinstance(text, str) else len(json_text(block))


_MEDIA = ("image", "document")


def _media(block: Block) -> list[str]:
    content = block.get("content")
    inner = [fields_of(each) or {} for each in content] if isinstance(content, tuple) else []
    kinds = [each.get("type") for each in inner]
    counts = [(kind, kinds.count(kind)) for kind in _MEDIA]
    return [f"{count} {kind}{'s' * (count != 1)}" for kind, count in counts if count]


def check_messages(given: Value) -> Messages:
    """Return the messages that a handler of `compact` resumed with. Raises Fault
    `bad-compaction`."""
    if not is_history(given):
        raise _bad(f"gives {abbreviate(given)}, and that is no list of messages")
    messages = messages_of(given)
    if not messages or messages[0]["role"] != "user" or messages[-1]["role"] != "user":
        raise _bad("gives messages that do not begin and end with one of the user")
    flaw = flaw_of(messages)
    if flaw is not None:
        raise _bad(f"gives messages that no provider takes: {flaw}")
    return messages


def _bad(problem: str) -> Fault:
    return Fault(
        "bad-compaction",
        f"a handler of `compact` {problem}",
        hint='write (resume [{role: "user" content: "…"} …]), the last one what the model is asked '
        "next, or (forward resume compact messages used limit), which empties the oldest results",
    )


def replace_messages(
    session: HandlerSession, after: Messages, used: int
) -> tuple[HandlerSession, int, str]:
    """Return the session with other messages in place of its own, the tokens that they take, and a
    line for traces."""
    setup, before = session.setup, session.messages
    left_out = session.left_out or NOTHING_LEFT_OUT
    now = _tokens_after(after, before, used)
    done = _describe_compaction(after, before, (used, now, setup.window))
    earlier = max(0, len(after) - (len(before) - setup.earlier))
    session = evolve(
        session,
        setup=evolve(setup, earlier=earlier, past=None),
        messages=after,
        left_out=evolve(
            left_out, compacted=(*left_out.compacted, done), sources=sources_of(session)
        ),
    )
    return session, now, _in_words(done)


def _tokens_after(after: Messages, before: Messages, used: int) -> int:
    """Return the tokens of the replaced messages with everything beside them."""
    whole, left = sum(map(_tokens, before)), sum(map(_tokens, after))
    scale = min(1.0, used / whole) if whole else 1.0
    return max(used - ceil((whole - left) * scale), ceil(left * scale))


def _tokens(message: Block) -> int:
    return tokens_of(message["content"])


def _describe_compaction(
    after: Messages, before: Messages, tokens: tuple[int, int, int]
) -> dict[str, Value]:
    """Describe a compaction for the notes: `{results messages tokens}`. Each result is `{name turn
    tool_use_id characters}`."""
    kept = Counter([_key(block) for message in after for block in _results(message)])
    names: dict[Value, Value] = {}
    gone: list[Value] = []
    turn = 0
    for message in before:
        turn += message["role"] == "assistant"
        names |= {block["id"]: block["name"] for block in _blocks(message, "tool_use")}
        for block in _results(message):
            if kept[_key(block)]:
                kept[_key(block)] -= 1
                continue
            id = block["tool_use_id"]
            size = characters(block)
            gone.append(
                {"name": names.get(id), "turn": turn, "tool_use_id": id, "characters": size}
            )
    used, now, limit = tokens
    return {
        "results": tuple(gone),
        "messages": {"before": len(before), "after": len(after)},
        "tokens": {"before": used, "after": now, "limit": limit},
    }


def _key(block: Block) -> Value:
    return block["tool_use_id"], json_text(block.get("content"))


def _blocks(message: Block, kind: str) -> list[Block]:
    content = message["content"]
    inner = [fields_of(each) or {} for each in content] if isinstance(content, tuple) else []
    return [block for block in inner if block.get("type") == kind]


def _results(message: Block) -> list[Block]:
    return _blocks(message, "tool_result")


def _in_words(done: dict[str, Value]) -> str:
    """Describe a compaction in one line, for traces."""
    results, tokens, messages = done["results"], done["tokens"], done["messages"]
    count, size = len(results), sum([each["characters"] for each in results])
    parts = [f"{count} result{'s' * (count != 1)} emptied"]
    if results:
        names = [str(name) for name in dict.fromkeys([each["name"] for each in results])]
        listed = ", ".join(names[:_NAMED]) + ", …" * (len(names) > _NAMED)
        first, last = results[0]["turn"], results[-1]["turn"]
        turns = f"turn {first}" if first == last else f"turns {first} to {last}"
        parts[0] += f" ({listed}; {turns}): {size:,} characters"
    if messages["before"] != messages["after"]:
        parts.append(f"{messages['before']} messages to {messages['after']}")
    parts.append(f"{tokens['before']:,} to {tokens['after']:,} of {tokens['limit']:,} tokens")
    return "; ".join(parts)


_NAMED = 3
"""The most names of tools in such a line."""
