"""What goes back into a conversation to as much of it as fits: the longest is cut, and says so.

It gets half of what is left of the window, so that the conversation can go on. Nothing else is
cut: a prompt or a file that does not fit is refused. What was cut is whole in the result's notes.
"""

from sexplang.tasks.prompt.media import texts_of, with_text, without_media
from sexplang.tasks.prompt.window import BYTES_IN_TOKEN, tokens_in, tokens_of
from sexplang.tasks.requests.subtask_request import fields_of
from sexplang.tasks.session import NOTHING_LEFT_OUT, Block, HandlerSession
from sexplang.terms.classes.node import evolve
from sexplang.terms.json.json_writer import json_text
from sexplang.terms.values.value import Value

_MARKED = 60
"""Tokens that are kept for the words that say what was left out."""


def truncate(
    session: HandlerSession, content: tuple[Block, ...]
) -> tuple[HandlerSession, tuple[Block, ...]]:
    """The blocks of a user message, which do not fit, with their texts cut; and the session that
    keeps them whole. Where not even their images and documents fit, these are left out."""
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
    """What a model is told of a plan, in JSON; where it does not fit beside the tokens of others,
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
    """The texts in so many tokens: the longest are cut to the same length, and end with how much
    was left out and the note of the result that has the whole."""
    share = _share([tokens_in(text) for text in texts], room)
    return [text if tokens_in(text) <= share else _cut(text, share, note) for text in texts]


def _share(sizes: list[int], room: int) -> int:
    """How much each may have at most, so that all have room."""
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
