"""A call of a model that may fail for reasons that pass → its reply, after some attempts."""

from collections.abc import Awaitable, Callable
from time import monotonic
from typing import Any

import anyio

from sexplang.runtime.driver.answers import RetriedReply, Watch
from sexplang.runtime.driver.event_loop import follow, may_retry
from sexplang.runtime.driver.events import Retrying
from sexplang.runtime.models.adapters.stream_accumulator import StreamAccumulator
from sexplang.runtime.models.attempts import Attempts
from sexplang.runtime.models.circuit_breaker import CircuitBreaker, Retries, pause
from sexplang.runtime.refusal import Refusal
from sexplang.terms.effect import Request
from sexplang.terms.task import error_record, longer
from sexplang.terms.values.value import Record

Send = Callable[[StreamAccumulator], Awaitable[Any]]
"""Begins an attempt at a call, whose reply grows where everybody sees it."""


async def call_with_retries(
    send: Send,
    request: Request,
    server: CircuitBreaker,
    retries: Retries,
    on_event: Watch | None,
    seconds: float | None,
    model: str = "",
) -> Any:
    """The reply, within `seconds` for all attempts if that is given; an Answer where it took more
    than one. Raises a Refusal that says how often it was tried. What attempts without a reply took
    is in the reply's usage, or in the Refusal."""
    lost = Attempts()
    follow(request, lost)
    if seconds is None:
        bound = retries.total
        return await _retry(send, request, server, retries, on_event, bound, lost, model)
    with anyio.move_on_after(seconds):
        bound = min(retries.total, seconds)
        return await _retry(send, request, server, retries, on_event, bound, lost, model)
    raise lost.add_partial(
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


async def _retry(
    send: Send,
    request: Request,
    server: CircuitBreaker,
    retries: Retries,
    on_event: Watch | None,
    seconds: float,
    lost: Attempts,
    model: str,
) -> Any:
    until = monotonic() + seconds
    attempt = 1
    while True:
        try:
            await _wait_for_server(request, server, attempt, until, on_event, model)
        except Refusal as refusal:
            raise lost.add_partial(with_attempts(refusal, attempt - 1)) from None
        try:
            value = await send(lost.begin())
            server.record_success(request.id)
            return value if attempt == 1 else RetriedReply(lost.add_usage(value), attempt)
        except Refusal as refusal:
            took = lost.fail(refusal)
            wait = pause(request.id, attempt, refusal.retry_after, retries)
            server.record_failure(request.id, refusal, wait, model)
            last = attempt >= _most(refusal, retries) or monotonic() + wait > until
            if not refusal.again or last:
                raise lost.add_partial(with_attempts(refusal, attempt)) from None
            if took and not may_retry(request.id, attempt, took):
                raise lost.add_partial(with_attempts(with_budget_stop(refusal), attempt)) from None
            _tell(on_event, request, attempt, wait, refusal)
        finally:
            server.release_probe(request.id)
        await anyio.sleep(wait)
        attempt += 1


async def _wait_for_server(
    request: Request,
    server: CircuitBreaker,
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


def with_budget_stop(refusal: Refusal) -> Refusal:
    """The same refusal, of a call that is not tried again for the sake of its budget."""
    hint = "another attempt does not fit into the budget: allow more tokens or usd"
    details = {**refusal.error.fields["details"], "stopped": "budget"}
    refusal.error = Record("error", {**refusal.error.fields, "details": details, "hint": hint})
    return refusal


def with_attempts(refusal: Refusal, attempts: int) -> Refusal:
    """The same refusal, saying how often it was tried."""
    refusal.attempts = attempts
    fields = dict(refusal.error.fields)
    fields["details"] = {**fields["details"], "attempts": attempts}
    refusal.error = Record("error", fields)
    return refusal
