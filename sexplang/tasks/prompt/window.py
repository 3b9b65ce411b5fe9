"""The context window: estimates of tokens, checks of room, and the truncation of results.

Tokens are estimated before content is added (inventory 4.3). A model's own count replaces the
estimate. Results get half of the room that is left, so that the conversation can continue. A prompt
or a file that does not fit is refused, not cut. The result's notes hold the whole of each cut text.
"""

from collections.abc import Callable, Mapping
from math import ceil, floor

from sexplang.tasks.failures import exhaust
from sexplang.tasks.prompt.media import texts_of, with_text, without_media
from sexplang.tasks.requests.subtask_request import fields_of
from sexplang.tasks.session import NOTHING_LEFT_OUT, Block, HandlerSession
from sexplang.tasks.turns.replies import Reply
from sexplang.terms.classes.node import evolve
from sexplang.terms.json.json_writer import json_text
from sexplang.terms.model.roles import Models, id_of
from sexplang.terms.values.value import Value

FRACTION = 0.8
"""The part of a model's window that a conversation may take."""

WINDOWS: Mapping[str, int] = {
    "claude-3-sonnet": 180_000,
    "claude-3-haiku": 150_000,
    "claude": 200_000,
    "gpt-4": 128_000,
    "gpt-3.5-turbo": 16_000,
    "gpt-4.1": 1_000_000,
    "gpt-5": 400_000,
    "o1": 200_000,
    "o3": 200_000,
    "o4": 200_000,
    "local": 8_192,
    "": 100_000,
}
"""Context windows in tokens by the beginning of a model's name: the documents' figures, and
those of newer models."""

OUTPUTS: Mapping[str, int] = {
    "claude-3-5": 8_192,
    "claude-3-7": 64_000,
    "claude-3": 4_096,
    "claude-2": 4_096,
    "claude-opus-4": 32_000,
    "claude": 64_000,
    "gpt-4o": 16_384,
    "gpt-4.1": 32_768,
    "gpt-5": 128_000,
    "o1": 100_000,
    "o3": 100_000,
    "o4": 100_000,
    "local": 1_024,
    "": 4_096,
}
"""The most output tokens of one reply by the beginning of a model's name. An unknown model gets the
least. The small model in the process says nothing new after some hundreds."""

# Prose has more characters to a token, code and other alphabets fewer. The estimate is rather too
# high.
BYTES_IN_TOKEN = 3.5
_IN_MESSAGE = 4
_IN_MEDIA = 1_600
"""The tokens of an image or a page of any size."""


def windows(
    models: Models | None = None,
    fraction: float = FRACTION,
    known: Mapping[str, int] = WINDOWS,
) -> Callable[[str | None], int]:
    """Return the function from the model that a template or a call names to the tokens of a
    conversation with it."""
    answering = models or Models()
    found: dict[str | None, int] = {}

    def window(model: str | None) -> int:
        size = found.get(model)
        if size is None:
            names = answering.answer(model).all_models() or (model or "",)
            least = min([known[_find_prefix(name, known)] for name in names])
            size = found[model] = floor(least * fraction)
        return size

    return window


def output(name: str | None) -> int:
    """Return the default output tokens of a model's reply: its maximum, bounded by the part of its
    window that conversations leave."""
    left = round(WINDOWS[_find_prefix(name or "", WINDOWS)] * (1 - FRACTION))
    return min(left, OUTPUTS[_find_prefix(name or "", OUTPUTS)])


def _find_prefix(name: str, known: Mapping[str, int]) -> str:
    """Return the longest known beginning of a name. `anthropic:claude-…` and `http://host#claude-…`
    are found by their ids."""
    names = (name, id_of(name))
    return max([each for each in known if any(n.startswith(each) for n in names)], key=len)


def tokens_in(text: str) -> int:
    """Estimate the tokens of a text, rather too high."""
    size = len(text) if text.isascii() else len(text.encode("utf-8", "replace"))
    return ceil(size / BYTES_IN_TOKEN)


def tokens_of(content: Value) -> int:
    """Estimate the tokens of a message's content: a text or a list of blocks."""
    if isinstance(content, str):
        return _IN_MESSAGE + tokens_in(content)
    return _IN_MESSAGE + sum([_of_block(block) for block in content])


def estimate(payload: dict[str, Value]) -> int:
    """Estimate the tokens of a whole request: system prompt, messages and tools, or the texts to
    embed."""
    tools = payload.get("tools")
    return (
        tokens_in(payload.get("system") or "")
        + sum([tokens_of(message["content"]) for message in payload.get("messages") or ()])
        + (tokens_in(json_text(tools)) if tools else 0)
        + sum([tokens_of(text) for text in payload.get("embed") or ()])
    )


def _of_block(block: Block) -> int:
    kind = block.get("type")
    if kind == "text":
        return tokens_in(block["text"])
    if kind in ("image", "document"):
        return _IN_MEDIA
    if kind == "tool_result" and isinstance(block.get("content"), (str, tuple)):
        return tokens_of(block["content"])
    return tokens_in(json_text(block))


def fits(session: HandlerSession, tokens: int) -> bool:
    """Return whether so many more tokens fit."""
    return session.taken[0] + tokens <= session.setup.window


def with_more(session: HandlerSession, tokens: int, what: str) -> HandlerSession:
    """Return the session with so many more tokens in its window. Raises Fault if they do not
    fit."""
    now = session.taken[0]
    check_fit(now, tokens, session.setup.window, what, session.said)
    taken, warnings = fill_window(
        session.taken, session.warnings, now + tokens, session.setup.window
    )
    return evolve(session, taken=taken, warnings=warnings)


def check_fit(now: int, tokens: int, limit: int, what: str, said: str = "") -> None:
    """Raise Fault if so many more tokens do not fit."""
    if now + tokens > limit:
        raise exhaust(
            "context",
            f"{what} does not fit into the context window: "
            f"{now} of {limit} tokens are used, and it takes about {tokens}",
            "pass less text or fewer files, split the task, or name a model with a larger window",
            said,
            used=now,
            limit=limit,
        )


def count_reply(session: HandlerSession, reply: Reply) -> tuple[tuple[int, int], tuple[str, ...]]:
    """Return the tokens of the window, now and at most, and the warnings after a reply. The model's
    count is right; without one, the estimate continues."""
    own, used = reply.own, session.taken[0]
    used = own[0] + own[1] if reply.usage[0] else used + tokens_of(reply.content)
    return fill_window(session.taken, session.warnings, used, session.setup.window)


def fill_window(
    before: tuple[int, int], warnings: tuple[str, ...], used: int, limit: int
) -> tuple[tuple[int, int], tuple[str, ...]]:
    """Return the tokens now and at most, and the warnings. The first use of four fifths adds a
    warning."""
    peak = before[1]
    if used <= peak:
        return (used, peak), warnings
    if used * 5 >= limit * 4 > peak * 5:
        warnings = (*warnings, f"{used} of {limit} tokens of context are used")
    return (used, used), warnings


_MARKED = 60
"""The tokens of the words that say how much was left out."""


def truncate(
    session: HandlerSession, content: tuple[Block, ...]
) -> tuple[HandlerSession, tuple[Block, ...]]:
    """Cut the texts of a user message that does not fit. Return the session, which keeps the whole
    texts, and the blocks. Images and documents that do not fit are left out."""
    bare = tokens_of(tuple([_with(block, "") for block in content]))
    if bare > _tokens_left(session) // 2:
        content = without_media(content)
    texts = [_text(block) for block in content]
    room = _tokens_left(session) // 2 - tokens_of(tuple([_with(block, "") for block in content]))
    cut = cut_to(texts, room, "shortened")
    blocks = tuple([_with(block, text) for block, text in zip(content, cut, strict=True)])
    whole = tuple(
        [
            {**_with_name(block), "content": text}
            for block, text, left in zip(content, texts, cut, strict=True)
            if left != text
        ]
    )
    many = f"{len(whole)} result{'s' * (len(whole) != 1)}"
    words = f"{many} shortened: there is no room for the whole in the context window"
    before = session.left_out or NOTHING_LEFT_OUT
    left_out = evolve(before, shortened=(*before.shortened, *whole))
    return evolve(session, left_out=left_out, warnings=(*session.warnings, words)), blocks


def plan_words(session: HandlerSession, told: dict[str, Value], others: int = 0) -> str:
    """Return a plan's answer for the model in JSON. If it does not fit beside the tokens of others,
    the contents of its results are cut."""
    words = json_text(told)
    left = _tokens_left(session) - others
    if tokens_in(words) <= left - _MARKED:
        return words
    listed = told.get("results")
    results = listed if isinstance(listed, tuple) else ()
    texts = [_content(each) for each in results]
    bare = json_text({**told, "results": tuple([_with_text(each, "") for each in results])})
    cut = cut_to(texts, left // 2 - tokens_in(bare), "subplans")
    filled = [_with_text(each, text) for each, text in zip(results, cut, strict=True)]
    return json_text({**told, "results": tuple(filled)})


def cut_to(texts: list[str], room: int, note: str) -> list[str]:
    """Cut the texts to so many tokens in all. The longest are cut to the same length. Each ends
    with the number of characters left out and the note of the result that has the whole."""
    share = _share([tokens_in(text) for text in texts], room)
    return [text if tokens_in(text) <= share else _cut(text, share, note) for text in texts]


def _share(sizes: list[int], room: int) -> int:
    """Return the most tokens of each text, so that all have room."""
    left = max(room, 0)
    for at, size in enumerate(sorted(sizes)):
        share = left // (len(sizes) - at)
        if size > share:
            return share
        left -= size
    return max(sizes, default=0)


def _cut(text: str, tokens: int, note: str) -> str:
    most = max(0, int((tokens - _MARKED) * BYTES_IN_TOKEN))
    kept = text.encode("utf-8", "replace")[:most].decode("utf-8", "ignore")
    count = f"{len(text) - len(kept):,} of {len(text):,} characters"
    cut = f"{kept}\n[{count} left out: there is no room; notes.{note} of the result has them]"
    return cut if len(cut) < len(text) else text


def _tokens_left(session: HandlerSession) -> int:
    return session.setup.window - session.taken[0]


def _text(block: Block) -> str:
    return texts_of(block["text"] if block["type"] == "text" else block["content"])


def _with(block: Block, text: str) -> Block:
    if text == _text(block):
        return block
    if block["type"] == "text":
        return {**block, "text": text}
    return {**block, "content": with_text(block["content"], text)}


def _with_name(block: Block) -> Block:
    return {key: block[key] for key in ("tool_use_id",) if key in block}


def _content(result: Value) -> str:
    content = (fields_of(result) or {}).get("content", result)
    return content if isinstance(content, str) else ""


def _with_text(result: Value, text: str) -> Value:
    if isinstance(result, str):
        return text
    fields = fields_of(result)
    if fields is None or not isinstance(fields.get("content"), str):
        return result
    return {**fields, "content": text}
