"""The model with scripted replies from a file, for tests, examples and demonstrations.

A list of replies is taken in order, for each task from its beginning. In a list of rules `{"task"
"contains" "reply" "times"}`, the first matching rule replies.
"""

import json
from collections import Counter
from collections.abc import Callable
from hashlib import sha256
from typing import Any

from sexplang.runtime.driver.events import task_of
from sexplang.runtime.models.embeddings.embeddings_reply import (
    make_embeddings_reply,
    refuse_embeddings,
)
from sexplang.runtime.models.embeddings.word_counts import MOST_DIMENSIONS, count_words
from sexplang.runtime.refusal import Refusal, make_task_failure, refuse
from sexplang.runtime.world import Log
from sexplang.terms.classes.node import frozen
from sexplang.terms.effect import Request
from sexplang.terms.model.payload import is_embedding
from sexplang.terms.values.boundary import plain

EXCERPT = 300

_SHARED = (
    "more than one task reads this list, and each has it from its beginning; "
    'rules such as {"task": "t", "reply": "r", "times": 1} say who gets what'
)


@frozen
class Rule:
    """A condition and a reply. A condition of None always holds."""

    reply: Any
    task: str | None = None
    contains: str | None = None
    times: int | None = None


def read_scripted_model(
    path: str, log: Log | None = None
) -> Callable[[dict[str, Any], Request], Any]:
    """Return the model of a script file. Raises a Refusal `bad-script` with the place."""
    return make_replies(read_script(path), path, log)


def make_replies(
    script: list[Any], path: str, log: Log | None = None
) -> Callable[[dict[str, Any], Request], Any]:
    """Return the model of a checked script. `path` names the script in errors. `log` is called once
    when a second task reads the same list from its beginning."""
    taken: Counter[Any] = Counter()

    def reply(payload: dict[str, Any], request: Request) -> Any:
        task = payload.get("task") or task_of(request)
        if isinstance(script[0], Rule) if script else False:
            said = _by_rule(script, taken, task, payload)
        else:
            at = taken[task]
            taken[task] += 1
            if log is not None and at == 0 and len(taken) == 2 and len(script) > 1:
                log("warning", f"{path}: {_SHARED}")
            said = script[at] if at < len(script) else None
        if said is None:
            raise mismatch(path, task, payload, script, taken)
        return shape_reply(said, path, request)

    return reply


def _by_rule(
    rules: list[Rule], taken: Counter[Any], task: str | None, payload: dict[str, Any]
) -> Any:
    asked, embeds = whole_text(payload), is_embedding(payload)
    for at, rule in enumerate(rules):
        if (
            (rule.task is None or rule.task == task)
            and (rule.contains is None or rule.contains in asked)
            and (rule.times is None or taken[at] < rule.times)
            and (_is_for_embeddings(rule.reply) in (embeds, None))
        ):
            taken[at] += 1
            return rule.reply
    return None


def _is_for_embeddings(reply: Any) -> bool | None:
    """Return whether a reply has embeddings; None for an error, which suits every request."""
    if isinstance(reply, dict) and "error" in reply:
        return None
    return isinstance(reply, dict) and "embeddings" in reply


def read_script(path: str) -> list[Any]:
    """Return the checked replies or rules of a file."""
    try:
        with open(path, encoding="utf-8-sig") as file:
            script = json.load(file, object_pairs_hook=_table_of_pairs)
    except _DuplicateKey as twice:
        raise refuse_script(path, f"has the key `{twice}` twice in one table: keep one") from None
    except OSError as error:
        raise refuse_script(path, f"cannot be read: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise refuse_script(
            path, f"is not UTF-8 text (byte {error.start}): save it as UTF-8"
        ) from None
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        raise refuse_script(path, f"{where}: {error.msg}", line=error.lineno) from None
    except ValueError:  # CPython does not convert it
        raise refuse_script(path, "holds an integer of more than 4,300 digits") from None
    except RecursionError:
        raise refuse_script(path, "is nested too deep") from None
    return check_script(script, path)


class _DuplicateKey(Exception):
    """A key occurs twice in an object."""


def _table_of_pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) < len(pairs):
        names = [key for key, _ in pairs]
        raise _DuplicateKey(next(key for key in made if names.count(key) > 1)[:40])
    return made


def check_script(script: Any, path: str) -> list[Any]:
    """Return the replies or rules in data. Raises a Refusal `bad-script`."""
    if not isinstance(script, list):
        raise refuse_script(path, "is not a list of replies")
    rules = [isinstance(item, dict) and "reply" in item for item in script]
    if any(rules) and not all(rules):
        at = rules.index(False)
        raise refuse_script(path, f"item {at + 1} is a reply, but others are rules", item=at + 1)
    if not any(rules):
        for at, item in enumerate(script):
            _check_reply(item, path, at + 1)
        return script
    return [_rule(item, path, at + 1) for at, item in enumerate(script)]


_RULE = {"task": str, "contains": str, "times": int}


def _rule(item: dict[str, Any], path: str, at: int) -> Rule:
    for key, value in item.items():
        if key in ("reply", "usage"):
            continue
        if key not in _RULE:
            raise refuse_script(
                path, f"item {at} has `{key}`; a rule has task, contains, reply, times", at
            )
        if value is not None and type(value) is not _RULE[key]:
            raise refuse_script(path, f"item {at}: `{key}` is not a {_RULE[key].__name__}", at)
    reply = item["reply"]
    if isinstance(reply, (dict, list)) and not is_reply(reply):
        reply = json.dumps(reply, ensure_ascii=False)
    if "usage" in item:
        body = reply if isinstance(reply, dict) else {_kind(reply): reply}
        reply = {**body, "usage": item["usage"]}
    _check_reply(reply, path, at)
    return Rule(reply, item.get("task"), item.get("contains"), item.get("times"))


def is_reply(said: Any) -> bool:
    """Return whether data has the form of a reply: a text, blocks, or a table with the keys of one.
    Other data is what a model would write as JSON."""
    if isinstance(said, dict):
        known = {*_SAYS, *_BESIDE, *(_OF_SERVERS if "content" in said else ())}
        return not known.isdisjoint(said) and said.keys() <= known
    if isinstance(said, list):
        return all(isinstance(block, dict) and "type" in block for block in said)
    return isinstance(said, str)


def _kind(reply: Any) -> str:
    return "content" if isinstance(reply, list) else "text"


_BESIDE = ("usage", "stop_reason", "model")
_OF_SERVERS = ("id", "type", "role", "stop_sequence")
_SAYS = ("text", "tool_use", "content", "error", "embeddings")


def _check_reply(reply: Any, path: str, at: int) -> None:
    """Check a reply: a string, a list of blocks, or an object with one meaning."""
    if isinstance(reply, str):
        return
    if isinstance(reply, list):
        reply = {"content": reply}
    if not isinstance(reply, dict):
        raise refuse_script(
            path, f"item {at} is not a reply: a string, a list of blocks or a table", at
        )
    said = [key for key in _SAYS if key in reply]
    if len(said) != 1:
        raise refuse_script(path, f"item {at} must have exactly one of {', '.join(_SAYS)}", at)
    check_usage(reply.get("usage", {}), path, at)
    if not isinstance(reply.get("stop_reason", ""), str):
        raise refuse_script(path, f"item {at}: `stop_reason` is not a string", at)
    value = reply[said[0]]
    if said[0] in ("text", "error"):
        fits, form = isinstance(value, str), "a string"
    elif said[0] == "tool_use":
        calls = value if isinstance(value, list) else [value]
        fits = bool(calls) and all(_is_tool_use(call) for call in calls)
        form = 'a table such as {"name": "read_file", "input": {"path": "a.txt"}}'
    elif said[0] == "embeddings":
        is_count = type(value) is int and 1 <= value <= MOST_DIMENSIONS
        fits = is_count or isinstance(value, list)
        form = f"a list of vectors, or a number of dimensions from 1 to {MOST_DIMENSIONS}"
    else:
        fits = isinstance(value, list) and all(
            isinstance(block, dict) and isinstance(block.get("type"), str) for block in value
        )
        form = "a list of blocks, each with a `type`"
    if not fits:
        raise refuse_script(path, f"item {at}: `{said[0]}` is not {form}", at)


_CACHED = ("cache_creation_input_tokens", "cache_read_input_tokens")


def check_usage(usage: Any, path: str, at: int) -> None:
    """Raise a Refusal `bad-script` for token counts that are not whole numbers."""
    if not isinstance(usage, dict):
        raise refuse_script(path, f"item {at}: `usage` is not a table", at)
    for key in ("input_tokens", "output_tokens", *_CACHED):
        if type(usage.get(key, 0)) is not int or usage.get(key, 0) < 0:
            raise refuse_script(path, f"item {at}: `{key}` is not a whole number from 0", at)


def _is_tool_use(call: Any) -> bool:
    return (
        isinstance(call, dict)
        and isinstance(call.get("name"), str)
        and isinstance(call.get("input", {}), dict)
    )


def shape_reply(reply: Any, path: str, request: Request) -> dict[str, Any]:
    """Return a scripted reply as `{content stop_reason usage model}`, or `{embeddings usage model}`
    to a request for these. Raises a Refusal for an error, and for a reply of the other kind."""
    if isinstance(reply, str):
        reply = {"text": reply}
    elif isinstance(reply, list):
        reply = {"content": reply}
    if "error" in reply:
        raise make_scripted_error(reply["error"])
    usage = {"input_tokens": 0, "output_tokens": 0, **reply.get("usage", {})}
    if is_embedding(request.arguments[0]):
        texts = plain(request.arguments[0]["embed"])
        vectors = _vectors(reply.get("embeddings"), texts)
        return make_embeddings_reply(vectors, len(texts), usage, f"scripted:{path}", path)
    if "embeddings" in reply:
        raise refuse_embeddings(path, "the request is one for a reply to messages")
    if "text" in reply:
        blocks = [{"type": "text", "text": reply["text"]}]
    elif "tool_use" in reply:
        calls = reply["tool_use"] if isinstance(reply["tool_use"], list) else [reply["tool_use"]]
        blocks = [{"type": "tool_use", **call} for call in calls]
    else:
        blocks = reply["content"]
    content = [_with_id(block, request.id, at) for at, block in enumerate(blocks)]
    asks = any(block["type"] == "tool_use" for block in content)
    return {
        "content": content,
        "stop_reason": reply.get("stop_reason", "tool_use" if asks else "end_turn"),
        "usage": usage,
        "model": f"scripted:{path}",
    }


def _vectors(said: Any, texts: list[str]) -> Any:
    """Return scripted vectors; a number of dimensions stands for vectors that count words."""
    return [count_words(text, said) for text in texts] if type(said) is int else said


def _with_id(block: dict[str, Any], identity: str, at: int) -> dict[str, Any]:
    """Add an id to a tool call. It is derived from the request's identity, so a run repeats."""
    if block["type"] != "tool_use" or "id" in block:
        return block
    made = sha256(f"{identity}/{at}".encode()).hexdigest()[:16]
    return {"type": "tool_use", "id": f"toolu_{made}", "input": {}, **block}


_REASONS = ("llm_error", "connection_error", "protocol_error", "configuration_error")


def make_scripted_error(type: str) -> Refusal:
    """Return the error of `{"error": type}`, as it is after all attempts."""
    reason = type if type in _REASONS else "llm_error"
    return make_task_failure(
        reason,
        "scripted-error",
        f"the script replies with an error: {type}",
        hint="to let the call succeed, put a text in place of `error` in the script",
        type=type,
    )


def whole_text(payload: dict[str, Any]) -> str:
    """Return all text of a request: system prompt and messages, or the texts to embed."""
    return "\n".join(
        [_texts(payload.get("system")), *(payload.get("embed") or ())]
        + [_texts(message.get("content")) for message in payload.get("messages") or ()]
    )


def _texts(content: Any) -> str:
    """Return the text in a message's content, including tool results."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return ""
    parts = []
    for block in content:
        if isinstance(block, dict):
            inner = block.get("content") if block.get("type") == "tool_result" else None
            parts.append(_texts(inner) if inner is not None else str(block.get("text", "")))
    return "\n".join(parts)


def mismatch(
    path: str, task: str | None, payload: dict[str, Any], script: list[Any], taken: Counter[Any]
) -> Refusal:
    """Return the refusal of a request that no entry of the script matches; it shows the request."""
    last = last_message(payload)
    name = f"`{task}`" if task else "a call outside any task"
    hint = (
        "add a reply to the list, which each task reads from its beginning, or write rules: "
        '[{"task": "t", "contains": "words of the request", "reply": "r"}]'
    )
    if script and isinstance(script[0], Rule):
        why = "none of its rules fits"
        if is_embedding(payload):
            why = "the request is for embeddings, and none of its rules with `embeddings` fits"
            hint = 'add a rule with embeddings: {"reply": {"embeddings": 64}}'
    else:
        replies = "1 reply" if len(script) == 1 else f"{len(script)} replies"
        why = f"it has {replies}, and this is call {taken[task]} of {name}"
    return refuse(
        "script-mismatch",
        f"{path} has no reply for {name}: {why}. The last message was: {last}",
        hint=hint,
        task=task,
        system=_short(_texts(payload.get("system"))),
        last_message=last,
        turn=len(payload.get("messages") or ()),
    )


def last_message(payload: dict[str, Any]) -> str:
    """Return the beginning of the last message, or of the last text to embed, for errors."""
    if is_embedding(payload):
        return _short(payload["embed"][-1])
    return _short(_texts((payload.get("messages") or [{}])[-1].get("content")))


def _short(words: str) -> str:
    return words if len(words) <= EXCERPT else words[:EXCERPT] + " …"


def refuse_script(
    path: str, problem: str, item: int | None = None, line: int | None = None
) -> Refusal:
    place = {"item": item, "line": line}
    return refuse(
        "bad-script",
        f"{path} {problem}" if item is None and line is None else f"{path}, {problem}",
        hint='write a JSON list of replies, ["first reply", "second reply"], or of rules, '
        '[{"task": "t", "reply": "r"}]',
        path=path,
        **{key: value for key, value in place.items() if value is not None},
    )
