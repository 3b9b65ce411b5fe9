"""A call of a model that may fail for reasons that pass → its reply, after some attempts."""

from collections.abc import Awaitable, Callable
from time import monotonic
from typing import Any

import anyio

from sexplang.runtime.answers import Answer, Watch
from sexplang.runtime.events import Retrying
from sexplang.runtime.lost import Lost
from sexplang.runtime.models.growing import Growing
from sexplang.runtime.pressure import Pressure, Retries, pause
from sexplang.runtime.refusal import Refusal
from sexplang.runtime.waiting import follow, has_room
from sexplang.terms.effect import Request
from sexplang.terms.task import error_record, longer
from sexplang.terms.value import Record

Send = Callable[[Growing], Awaitable[Any]]
"""Begins an attempt at a call, whose reply grows where everybody sees it."""


async def asked(
    send: Send,
    request: Request,
    server: Pressure,
    retries: Retries,
    on_event: Watch | None,
    seconds: float | None,
    model: str = "",
) -> Any:
    """The reply, within `seconds` for all attempts if that is given; an Answer where it took more
    than one. Raises a Refusal that says how often it was tried. What attempts without a reply took
    is in the reply's usage, or in the Refusal."""
    lost = Lost()
    follow(request, lost)
    if seconds is None:
        bound = retries.total
        return await _patiently(send, request, server, retries, on_event, bound, lost, model)
    with anyio.move_on_after(seconds):
        bound = min(retries.total, seconds)
        return await _patiently(send, request, server, retries, on_event, bound, lost, model)
    raise lost.told(
        Refusal(
            error_record(
                "RESOURCE_EXHAUSTION",
                "seconds",
                f"the model did not answer in the {seconds:g} seconds that one call may take",
                details={"resource": "seconds", "metrics": {"used": seconds, "limit": seconds}},
                hint=_longer(request, seconds),
            )
        )
    )


def _longer(request: Request, seconds: float) -> str:
    """What to write for a call that may take longer: a task's in its template, a payload's own."""
    payload = request.arguments[0]
    if isinstance(payload.get("task"), str):
        return longer(payload["task"], seconds)
    return f"allow more in the payload, timeout: {2 * seconds or 1:g}, or ask for less at once"


async def _patiently(
    send: Send,
    request: Request,
    server: Pressure,
    retries: Retries,
    on_event: Watch | None,
    seconds: float,
    lost: Lost,
    model: str,
) -> Any:
    until = monotonic() + seconds
    attempt = 1
    while True:
        try:
            await _admitted(request, server, attempt, until, on_event, model)
        except Refusal as refusal:
            raise lost.told(after(refusal, attempt - 1)) from None
        try:
            value = await send(lost.begun())
            server.worked(request.id)
            return value if attempt == 1 else Answer(lost.added(value), attempt)
        except Refusal as refusal:
            took = lost.failed(refusal)
            wait = pause(request.id, attempt, refusal.retry_after, retries)
            server.failed(request.id, refusal, wait, model)
            last = attempt >= _most(refusal, retries) or monotonic() + wait > until
            if not refusal.again or last:
                raise lost.told(after(refusal, attempt)) from None
            if took and not has_room(request.id, attempt, took):
                raise lost.told(after(without_room(refusal), attempt)) from None
            _tell(on_event, request, attempt, wait, refusal)
        finally:
            server.left(request.id)
        await anyio.sleep(wait)
        attempt += 1


async def _admitted(
    request: Request,
    server: Pressure,
    attempt: int,
    until: float,
    on_event: Watch | None,
    model: str,
) -> None:
    """Waits until the server may be asked for a model."""
    while (wait := server.wait(request.id, until, model)) != 0.0:
        if wait is None:
            probed = anyio.Event()
            server.when_probed(probed.set)
            await probed.wait()
        else:
            _tell(on_event, request, attempt - 1, wait, server.why(model), held=True)
            await anyio.sleep(wait)


def _most(refusal: Refusal, retries: Retries) -> int:
    is_silent = refusal.error.fields["details"].get("code") == "model-timeout"
    return min(retries.attempts, retries.silent) if is_silent else retries.attempts


def _tell(
    on_event: Watch | None,
    request: Request,
    attempt: int,
    wait: float,
    refusal: Refusal,
    *,
    held: bool = False,
) -> None:
    if on_event is not None:
        on_event(Retrying(request, attempt, wait, refusal.error, held))


def without_room(refusal: Refusal) -> Refusal:
    """The same refusal, of a call that is not tried again for the sake of its budget."""
    hint = "another attempt does not fit into the budget: allow more tokens or usd"
    details = {**refusal.error.fields["details"], "stopped": "budget"}
    refusal.error = Record("error", {**refusal.error.fields, "details": details, "hint": hint})
    return refusal


def after(refusal: Refusal, attempts: int) -> Refusal:
    """The same refusal, saying how often it was tried."""
    refusal.attempts = attempts
    fields = dict(refusal.error.fields)
    fields["details"] = {**fields["details"], "attempts": attempts}
    refusal.error = Record("error", fields)
    return refusal
