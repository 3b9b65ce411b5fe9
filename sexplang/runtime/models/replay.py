"""A recording of `--record` → a model that gives the replies in it, each to its own request."""

from collections import deque
from collections.abc import Callable
from typing import Any

from sexplang.runtime.journal import digest
from sexplang.runtime.models.scripted import last_message
from sexplang.runtime.pack import unpacked
from sexplang.runtime.recording import WRONG, bad, is_row, lines
from sexplang.runtime.refusal import Refusal, refused
from sexplang.terms.effect import Request
from sexplang.terms.value import Record


def replaying(path: str) -> Callable[[dict[str, Any], Request], Any]:
    """Equal requests get their replies in the order of the recording, each once."""
    rows = recorded(path)

    def reply(payload: dict[str, Any], request: Request) -> Any:
        left = rows.get(digest(request.operation, request.arguments))
        if not left:
            raise refused(
                "journal-mismatch",
                f"{path} holds no {'reply' if left is None else 'further reply'} to this request: "
                f"{last_message(payload)}",
                hint="replay with the program and inputs that were recorded",
                path=path,
                request=request.id,
                last_message=last_message(payload),
            )
        said = left.popleft()
        if isinstance(said, Record):
            raise Refusal(said)
        return said

    return reply


def recorded(path: str) -> dict[str, deque[Any]]:
    """The replies and errors of models, in order, by the digest of what was asked."""
    found: dict[str, deque[Any]] = {}
    for at, line in lines(path):
        try:
            if at > 1 and is_row(line) and line["operation"] == "model":
                said = unpacked(line["error"] if "error" in line else line["reply"])
                found.setdefault(line["digest"], deque()).append(said)
        except WRONG:
            raise bad(path, f"is no recording: line {at} cannot be read") from None
    return found
