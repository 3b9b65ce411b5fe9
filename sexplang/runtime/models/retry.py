"""Retries of a model call after failures that may pass."""

from collections.abc import Awaitable, Callable
from time import monotonic
from typing import Any

import anyio

from sexplang.runtime.driver.answers import RetriedReply, Watch
from sexplang.runtime.driver.event_loop import follow_attempts, may_retry
from sexplang.runtime.driver.events import Retrying
from sexplang.runtime.models.adapters.stream_accumulator import StreamAccumulator
from sexplang.runtime.models.attempts import Attempts
from sexplang.runtime.models.circuit_breaker import CircuitBreaker, Retries, backoff
from sexplang.runtime.refusal import Refusal
from sexplang.terms.effect import Request
from sexplang.terms.task import error_record, longer
from sexplang.terms.values.value import Record

Send = Callable[[StreamAccumulator], Awaitable[Any]]
"""Start an attempt; the partial reply grows in the given accumulator."""


async def call_with_retries(
    send: Send,
    request: Request,
    server: CircuitBreaker,
    retries: Retries,
    on_event: Watch | None,
    seconds: float | None,
    model: str = "",
) -> Any:
    """Return the reply, or a RetriedReply after several attempts. `seconds` limits all attempts
    together. Raises a Refusal with the number of attempts. The reply or the refusal contains the
    usage of failed attempts."""
    lost = Attempts()
    follow_attempts(request, lost)
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
                hint=_timeout_hint(request, seconds),
            )
        )
    )


def _timeout_hint(request: Request, seconds: float) -> str:
    """Return the hint for a longer timeout: in the task's template, or in the payload."""
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
    """Return the reply, or a RetriedReply. Raises a Refusal. Each end after a failed attempt goes
    through `lost`: `add_usage` for a reply, `add_partial` for a refusal."""
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
            wait = backoff(request.id, attempt, refusal.retry_after, retries)
            server.record_failure(request.id, refusal, wait, model)
            last = attempt >= _max_attempts(refusal, retries) or monotonic() + wait > until
            if not refusal.again or last:
                raise lost.add_partial(with_attempts(refusal, attempt)) from None
            if took and not may_retry(request.id, attempt, took):
                raise lost.add_partial(with_attempts(with_budget_stop(refusal), attempt)) from None
            _report_retry(on_event, request, attempt, wait, refusal)
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
    """Wait until the circuit breaker admits the request."""
    while (wait := server.wait(request.id, until, model)) != 0.0:
        if wait is None:
            probed = anyio.Event()
            server.on_probe_end(probed.set)
            await probed.wait()
        else:
            _report_retry(
                on_event, request, attempt - 1, wait, server.cause_of_wait(model), held=True
            )
            await anyio.sleep(wait)


def _max_attempts(refusal: Refusal, retries: Retries) -> int:
    is_silent = refusal.error.fields["details"].get("code") == "model-timeout"
    return min(retries.attempts, retries.silent) if is_silent else retries.attempts


def _report_retry(
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
    """Mark a refusal: no budget admits another attempt."""
    hint = "another attempt does not fit into the budget: allow more tokens or usd"
    details = {**refusal.error.fields["details"], "stopped": "budget"}
    refusal.error = Record("error", {**refusal.error.fields, "details": details, "hint": hint})
    return refusal


def with_attempts(refusal: Refusal, attempts: int) -> Refusal:
    """Set the number of attempts of a refusal."""
    refusal.attempts = attempts
    fields = dict(refusal.error.fields)
    fields["details"] = {**fields["details"], "attempts": attempts}
    refusal.error = Record("error", fields)
    return refusal
