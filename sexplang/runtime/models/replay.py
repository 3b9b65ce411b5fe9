"""A recording of `--record` → a model that gives the replies in it, each to its own request."""

from collections import deque
from collections.abc import Callable
from typing import Any

from sexplang.runtime.journal import CANCEL, CUT, digest
from sexplang.runtime.lost import Lost
from sexplang.runtime.models.scripted import last_message
from sexplang.runtime.pack import unpacked
from sexplang.runtime.recording import WRONG, bad, is_row, lines
from sexplang.runtime.refusal import Refusal, refused
from sexplang.terms.effect import Part, Request
from sexplang.terms.node import define, field
from sexplang.terms.value import Record


@define(eq=False)
class Recorded:
    """What models said, and did not say any more."""

    replies: dict[str, deque[Any]] = field(factory=dict)
    """Replies and errors, in order, by the digest of what was asked."""
    cut: dict[tuple[str, str], Part] = field(factory=dict)
    """What calls had got that were withdrawn, by their ids and digests; those that nobody had begun
    with have none."""
    interrupted: set[str] = field(factory=set)
    """The ids of those that were withdrawn because the run was cancelled from outside."""


def replaying(path: str) -> Callable[[dict[str, Any], Request], Any]:
    """Equal requests get their replies in the order of the recording, each once. A call that was
    withdrawn waits until it is withdrawn again."""
    known = recorded(path)

    def reply(payload: dict[str, Any], request: Request) -> Any:
        asked = digest(request.operation, request.arguments)
        part = known.cut.get((request.id, asked), known.cut.get((request.id, "")))
        if part is not None and request.id not in known.interrupted:
            return _never(request, part)
        left = known.replies.get(asked)
        if part is None and left:
            said = left.popleft()
            if isinstance(said, Record):
                raise Refusal(said)
            return said
        last = last_message(payload)
        words, hint = f"holds no {'reply' if left is None else 'further reply'} to", "that were"
        if part is not None:
            words = "is of a run that was interrupted while it waited for the reply to"
            hint = "of a run that came to its end, and was"
        raise refused(
            "journal-mismatch",
            f"{path} {words} this request: {last}",
            hint=f"replay with the program and inputs {hint} recorded",
            path=path,
            request=request.id,
            last_message=last,
        )

    return reply


async def _never(request: Request, part: Part) -> Any:
    """Waits until the call is withdrawn, as it was when it was recorded."""
    from anyio import sleep_forever

    from sexplang.runtime.models.growing import Growing
    from sexplang.runtime.waiting import follow

    lost = Lost(dict(part["usage"]), part["text"], part["model"])
    lost.reply = Growing() if "uncounted" in part else None
    follow(request, lost)
    await sleep_forever()


def recorded(path: str) -> Recorded:
    """What a recording says of models."""
    found, last = Recorded(), ""
    for at, line in lines(path):
        try:
            if at == 1 or not is_row(line):
                continue
            if line["operation"] == "model":
                said = unpacked(line["error"] if "error" in line else line["reply"])
                found.replies.setdefault(line["digest"], deque()).append(said)
            elif line["operation"] == CUT:
                (asked,) = line["arguments"]
                found.cut[line["id"], asked] = unpacked(line["reply"])
                if last == CANCEL:
                    found.interrupted.add(line["id"])
                continue
            last = line["operation"]
        except WRONG:
            raise bad(path, f"is no recording: line {at} cannot be read") from None
    return found
