"""A call of a model that may fail for reasons that pass → its reply, after some attempts."""

from collections.abc import Awaitable, Callable
from time import monotonic
from typing import Any

import anyio

from sexplang.runtime.answers import Answer, Watch
from sexplang.runtime.events import Retrying, task_of
from sexplang.runtime.pressure import Pressure, Retries, pause
from sexplang.runtime.refusal import Refusal
from sexplang.terms.effect import Request
from sexplang.terms.task import error_record
from sexplang.terms.value import Record

Send = Callable[[], Awaitable[Any]]
"""Begins a call, or one attempt at it."""


async def asked(
    send: Send,
    request: Request,
    server: Pressure,
    retries: Retries,
    on_event: Watch | None,
    seconds: float | None,
) -> Any:
    """The reply, within `seconds` for all attempts if that is given; an Answer where it took more
    than one. Raises a Refusal that says how often it was tried."""
    bound = retries.total if seconds is None else min(retries.total, seconds)
    return await within(
        seconds, lambda: _patiently(send, request, server, retries, on_event, bound)
    )


async def within(seconds: float | None, call: Send) -> Any:
    """What a call gives, in so many seconds if that is given. Raises a Refusal `seconds`."""
    if seconds is None:
        return await call()
    with anyio.move_on_after(seconds):
        return await call()
    raise Refusal(
        error_record(
            "RESOURCE_EXHAUSTION",
            "seconds",
            f"the model did not answer in the {seconds:g} seconds that one call may take",
            details={"resource": "seconds", "metrics": {"used": seconds, "limit": seconds}},
            hint="raise <limits timeout=…>, or ask for less in one task",
        )
    )


async def _patiently(
    send: Send,
    request: Request,
    server: Pressure,
    retries: Retries,
    on_event: Watch | None,
    seconds: float,
) -> Any:
    until = monotonic() + seconds
    attempt = 1
    while True:
        try:
            await _admitted(request, server, attempt, until, on_event)
        except Refusal as refusal:
            raise after(refusal, attempt - 1) from None
        try:
            value = await send()
            server.worked(request.id)
            return value if attempt == 1 else Answer(value, attempt)
        except Refusal as refusal:
            wait = pause(request.id, attempt, refusal.retry_after, retries)
            server.failed(request.id, refusal, wait)
            last = attempt >= _most(refusal, retries) or monotonic() + wait > until
            if not refusal.again or last:
                raise after(refusal, attempt) from None
            _tell(on_event, request, attempt, wait, refusal)
        finally:
            server.left(request.id)
        await anyio.sleep(wait)
        attempt += 1


async def _admitted(
    request: Request, server: Pressure, attempt: int, until: float, on_event: Watch | None
) -> None:
    """Waits until the server may be asked."""
    while (wait := server.wait(request.id, until)) != 0.0:
        if wait is None:
            probed = anyio.Event()
            server.when_probed(probed.set)
            await probed.wait()
        else:
            assert server.cause is not None
            _tell(on_event, request, attempt - 1, wait, server.cause)
            await anyio.sleep(wait)


def _most(refusal: Refusal, retries: Retries) -> int:
    is_silent = refusal.error.fields["details"].get("code") == "model-timeout"
    return min(retries.attempts, retries.silent) if is_silent else retries.attempts


def _tell(
    on_event: Watch | None, request: Request, attempt: int, wait: float, refusal: Refusal
) -> None:
    if on_event is not None:
        on_event(Retrying(request.id, task_of(request), attempt, wait, refusal.error))


def after(refusal: Refusal, attempts: int) -> Refusal:
    """The same refusal, saying how often it was tried."""
    refusal.attempts = attempts
    fields = dict(refusal.error.fields)
    fields["details"] = {**fields["details"], "attempts": attempts}
    refusal.error = Record("error", fields)
    return refusal
