"""Performers → performers: what stands between a program and the world, in a visible order."""

from collections.abc import Awaitable, Coroutine
from time import monotonic
from typing import Any

from sexplang.runtime.answers import Answer, Performer, Performers, Watch
from sexplang.runtime.events import Retrying, task_of
from sexplang.runtime.permissions import Permissions
from sexplang.runtime.refusal import Refusal, refused
from sexplang.terms.effect import Request
from sexplang.terms.node import node
from sexplang.terms.task import error_record
from sexplang.terms.value import Record


@node
class Retries:
    """How often and how patiently a model is asked again. Seconds."""

    attempts: int = 3
    first: float = 0.5
    """The wait before the second attempt; it doubles for each further one."""
    most: float = 60.0
    """The longest single wait, also when the server asks for more."""
    total: float = 300.0
    """No further attempt starts once this much time has gone by."""
    silent: int = 2
    """How often a model that says nothing at all is asked: each time takes long."""


def retried(
    performers: Performers, retries: Retries, on_event: Watch | None = None
) -> dict[str, Performer]:
    """Model calls that failed for reasons that pass are made again, under the same identity."""
    model = performers["model"]

    def perform(request: Request) -> Any:
        reply = model(request)
        if hasattr(reply, "__await__"):
            return _timely(request, _patiently(model, request, reply, retries, on_event))
        return reply

    return {**performers, "model": perform}


def _timely(request: Request, reply: Coroutine[Any, Any, Any]) -> Coroutine[Any, Any, Any]:
    """A call with all its attempts, within the `timeout` of its payload if there is one."""
    seconds = request.arguments[0].get("timeout") if request.arguments else None
    return reply if seconds is None else _within(seconds, reply)


async def _within(seconds: float, reply: Coroutine[Any, Any, Any]) -> Any:
    import anyio

    try:
        with anyio.move_on_after(seconds) as scope:
            return await reply
    finally:
        reply.close()  # cancelled before it began
    assert scope.cancelled_caught
    metrics = {"used": seconds, "limit": seconds}
    raise Refusal(
        error_record(
            "RESOURCE_EXHAUSTION",
            "seconds",
            f"the model did not answer in the {seconds:g} seconds that one call may take",
            details={"resource": "seconds", "metrics": metrics},
            hint="raise <limits timeout=…>, or ask for less in one task",
        )
    )


async def _patiently(
    model: Performer,
    request: Request,
    reply: Awaitable[Any],
    retries: Retries,
    on_event: Watch | None,
) -> Any:
    import anyio

    until = monotonic() + retries.total
    attempt = 1
    while True:
        try:
            value = await reply
            return value if attempt == 1 else Answer(value, attempt)
        except Refusal as refusal:
            wait = pause(request.id, attempt, refusal.retry_after, retries)
            silent = refusal.error.fields["details"].get("code") == "model-timeout"
            most = min(retries.attempts, retries.silent) if silent else retries.attempts
            last = attempt >= most or monotonic() + wait > until
            if not refusal.again or last:
                raise after(refusal, attempt) from None
            if on_event is not None:
                event = Retrying(request.id, task_of(request), attempt, wait, refusal.error)
                on_event(event)
        await anyio.sleep(wait)
        attempt += 1
        reply = model(request)


def pause(id: str, attempt: int, asked: float | None, retries: Retries) -> float:
    """Seconds to wait after a failed attempt: doubling, spread by up to a half, at least what the
    server asked for, at most `most`. The spread follows from the identity, so a run repeats."""
    from hashlib import sha256

    spread = sha256(f"{id}/{attempt}".encode()).digest()[0] / 510
    wait: float = retries.first * 2 ** (attempt - 1) * (1 + spread)
    return min(max(wait, asked or 0.0), retries.most)


def after(refusal: Refusal, attempts: int) -> Refusal:
    """The same refusal, saying how often it was tried."""
    refusal.attempts = attempts
    fields = dict(refusal.error.fields)
    fields["details"] = {**fields["details"], "attempts": attempts}
    refusal.error = Record("error", fields)
    return refusal


FLAGS = {"read-file": "read", "list-files": "read", "write-file": "write"}
"""Which permission each operation on files needs at least one place of."""


def permitted(performers: Performers, permissions: Permissions) -> dict[str, Performer]:
    """Operations for which nothing at all was granted are refused before they look at anything."""

    def denied(operation: str, right: str) -> Performer:
        def perform(request: Request) -> Any:
            raise refused(
                "path-denied",
                f"`{operation}` is not permitted here: no folder to {right} was given",
                hint=f"allow one with --allow-{right} FOLDER",
            )

        return perform

    shut = {name: right for name, right in FLAGS.items() if not permissions.grants(right)}
    return {**performers, **{name: denied(name, right) for name, right in shut.items()}}
