"""A recording of `--record` → a model that gives the replies in it, each to its own request."""

import json
from collections import deque
from collections.abc import Callable
from typing import Any

from sexplang.runtime.journal import digest
from sexplang.runtime.models.scripted import last_message
from sexplang.runtime.pack import unpacked
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
    at = 0
    try:
        with open(path, encoding="utf-8") as lines:
            for at, line in enumerate(lines, 1):
                row = json.loads(line)
                if at == 1:
                    row["sexplang-journal"]
                elif row["operation"] == "model":
                    said = unpacked(row["error"] if "error" in row else row["reply"])
                    found.setdefault(row["digest"], deque()).append(said)
    except OSError as error:
        raise bad(path, f"cannot be read: {error.strerror}") from None
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        raise bad(path, f"is no recording: line {at or 1} cannot be read") from None
    if not at:
        raise bad(path, "is no recording: it is empty")
    return found


def bad(path: str, problem: str) -> Refusal:
    return refused(
        "bad-recording",
        f"{path} {problem}",
        hint="name a file that `--record FILE` wrote",
        path=path,
    )
