"""Requests in doubt: a killed process had begun them, and nobody knows whether they were performed.

A request is in doubt if it has an intent of another boot and no row.
"""

from collections.abc import Iterable, Mapping
from typing import Any, Literal, get_args

from sexplang.runtime.journal.rows import digest as make_digest
from sexplang.runtime.journal.stored_journal import Begun, CutRequest
from sexplang.runtime.refusal import Refusal, make_task_failure
from sexplang.terms.classes.node import define, frozen
from sexplang.terms.effect import Request
from sexplang.terms.host.host_operations import find_operations

Decision = Literal["safe", "ask", "never"]
"""What happens to a request in doubt: it is performed again, a person decides, or it fails."""

DECISIONS = get_args(Decision)

INSIDE = find_operations(repeat="free")
"""Operations that change nothing outside the run and cost nothing."""

_SAFE = find_operations(repeat="safe")
"""Operations that may be performed twice. A second call of a model is paid, and reported."""


@frozen
class Doubt:
    """A request in doubt. `began` is in seconds since the epoch."""

    request: Request
    began: float
    decision: Decision

    def plain(self) -> dict[str, Any]:
        return {
            "id": self.request.id,
            "operation": self.request.operation,
            "began": self.began,
            "decision": self.decision,
        }


def find_doubts(
    requests: Iterable[Request],
    begun: Mapping[str, Begun],
    replay: Mapping[str, Decision],
    declared: Mapping[str, Decision],
) -> tuple[Doubt, ...]:
    """Return the doubts among the open requests. `replay` are a person's decisions by request id,
    by the name of a tool (`tool:NAME`), by operation, or for `*`. `declared` are those of tools and
    operations, which a person's precede."""
    return tuple(
        [
            Doubt(each, begun[each.id][1], decide(each, replay, declared))
            for each in requests
            if each.id in begun and each.operation not in INSIDE
        ]
    )


def find_misfits(requests: Iterable[Request], words: Iterable[str]) -> tuple[str, ...]:
    """Return a person's words that name none of the requests."""
    named = {"*"}
    for each in requests:
        named |= {each.id, *_names_of(each)}
    return tuple([word for word in words if word not in named])


def _names_of(request: Request) -> list[str]:
    """Return the tool, if it is one, and the operation."""
    if request.operation == "tool" and request.arguments:
        return [f"tool:{request.arguments[0]}", request.operation]
    return [request.operation]


@define(eq=False)
class LaterDoubts:
    """Requests that were made after the reply that ended a run, by id, and are made again when the
    run ends in the same way: those of `finally` bodies."""

    made: dict[str, CutRequest]
    replay: Mapping[str, Decision]
    declared: Mapping[str, Decision]
    never: set[str]
    """The ids of requests that are not performed."""

    def find(self, request: Request) -> dict[str, Any] | None:
        """Return what is said of a request that begins; None if it was not made before."""
        if request.id not in self.made or request.operation in INSIDE:
            return None
        digest, began = self.made[request.id]
        if digest not in (None, make_digest(request.operation, request.arguments)):
            return None
        del self.made[request.id]
        is_never = decide(request, self.replay, self.declared) == "never"
        if is_never:
            self.never.add(request.id)
        return Doubt(request, began, "never" if is_never else "safe").plain()


def decide(
    request: Request, replay: Mapping[str, Decision], declared: Mapping[str, Decision]
) -> Decision:
    """Return what happens to a request in doubt."""
    names = _names_of(request)
    for name in (request.id, *names, "*"):
        if name in replay:
            return replay[name]
    for name in names:
        if name in declared:
            return declared[name]
    return "safe" if request.operation in _SAFE else "ask"


def make_doubt_error(
    request: Request,
    why: str = "was begun before the run ended, and may have been performed",
    hint: str = "look whether it was; if not, resume with --again REQUEST",
) -> Refusal:
    """Return the error of a request that is not performed, and why."""
    operation = request.operation
    return make_task_failure(
        "in-doubt",
        "in-doubt",
        f"`{operation}` {why}",
        hint=hint,
        operation=operation,
    )
