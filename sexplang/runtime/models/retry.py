"""Retries of a model call after failures that may pass.

The usage and the text of failed attempts are merged into the reply or the error.
"""

from collections.abc import Awaitable, Callable
from time import monotonic
from typing import Any

import anyio

from sexplang.runtime.driver.event_loop import (
    find_pause,
    follow_attempts,
    follow_text,
    may_retry,
    note_pause,
)
from sexplang.runtime.driver.events import Retrying
from sexplang.runtime.driver.requests import RetriedReply, Watch
from sexplang.runtime.journal.redaction import clean
from sexplang.runtime.models.adapters.stream_accumulator import StreamAccumulator
from sexplang.runtime.models.circuit_breaker import CircuitBreaker, Retries, random_share
from sexplang.runtime.refusal import Refusal
from sexplang.terms.classes.node import define, field
from sexplang.terms.effect import UNMADE, Part, Request, with_sent
from sexplang.terms.task import cut_off, error_record, longer
from sexplang.terms.values.value import Record

Send = Callable[[StreamAccumulator], Awaitable[Any]]
"""Start an attempt; the partial reply grows in the given accumulator."""


# -- Failed attempts ------------------------------------------------------------------------------

# A server counts what it has read and written, even if the reply does not arrive. An attempt that
# may have been sent and has no input count is one of the `uncounted` in a usage.


@define(eq=False)
class Attempts:
    """The failed attempts of one call, and the current one."""

    usage: dict[str, int] = field(factory=dict)
    """The sum of the counts of all failed attempts."""
    text: str = ""
    """The last text that a failed attempt received."""
    model: str = ""
    """The model's own name in the last attempt that reported one."""
    current: StreamAccumulator | None = None
    """The partial reply of the current attempt."""
    has_begun: bool = False
    """Whether an attempt was started."""
    count: int = 0
    """The number of attempts at other models before."""
    last_usage: dict[str, int] = field(factory=dict)
    """The counts of the last failed attempt."""

    def begin(self) -> StreamAccumulator:
        """Start an attempt and return its empty reply."""
        self.current, self.has_begun = StreamAccumulator(), True
        return self.current

    def fail(self, refusal: Refusal) -> dict[str, int]:
        """End the current attempt without a whole reply. Return its counts."""
        assert self.current is not None
        took, part = self.current.usage, self.so_far()
        if refusal.sent and not _has_input(took):
            took = {**took, "uncounted": 1}
        self.usage, self.text, self.model = _sum(self.usage, took), part["text"], part["model"]
        self.current, self.last_usage = None, took
        return took

    def so_far(self) -> Part:
        """Return the partial reply of the call."""
        if not self.has_begun:
            return dict(UNMADE)
        if self.current is None:
            return {"usage": dict(self.usage), "text": self.text, "model": self.model}
        took, name = self.current.usage, self.current.message.get("model")
        part: Part = {
            "usage": _sum(self.usage, took),
            "text": clean(self.current.text) or self.text,
            "model": clean(name) if isinstance(name, str) else self.model,
        }
        return part if _has_input(took) else {**part, "uncounted": True}

    def add_usage(self, reply: dict[str, Any]) -> dict[str, Any]:
        """Return the reply with the usage of all attempts; `lost` is the part of the failed
        ones."""
        if not self.usage:
            return reply
        usage = reply.get("usage")
        whole = None if usage is None else {**usage, **_sum(self.usage, usage)}
        return {**reply, "usage": whole, "lost": dict(self.usage)}

    def add_partial(self, refusal: Refusal) -> Refusal:
        """Return the refusal with the partial text as content and the usage in its details."""
        refusal.error = cut_off(refusal.error, with_sent(self.so_far()))
        return refusal


_INPUT = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")


def _has_input(usage: dict[str, int]) -> bool:
    """Whether a server has counted its input. Some report 0 until the end of a reply."""
    return any(usage.get(name) for name in _INPUT)


def _sum(one: dict[str, int], other: dict[str, Any]) -> dict[str, int]:
    """Return the sum of two usages; other values than integers are ignored."""
    counts = {name: count for name, count in other.items() if type(count) is int}
    return {name: one.get(name, 0) + counts.get(name, 0) for name in {**one, **counts}}


# -- Retries --------------------------------------------------------------------------------------


async def call_with_retries(
    send: Send,
    request: Request,
    server: CircuitBreaker,
    retries: Retries,
    on_event: Watch | None,
    seconds: float | None,
    model: str = "",
    before: Attempts | None = None,
) -> Any:
    """Return the reply, or a RetriedReply after several attempts. `before` are attempts at other
    models. `seconds` limits all attempts
    together. Raises a Refusal with the number of attempts. The reply or the refusal contains the
    usage of failed attempts."""
    lost = before or Attempts()
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
    past, left = find_pause(request.id, model)
    if left:
        await anyio.sleep(min(left, retries.most))  # the clock may have been set
    attempt = past + 1
    while True:
        try:
            await _wait_for_server(request, server, attempt, until, on_event, model)
        except Refusal as refusal:
            raise lost.add_partial(with_attempts(refusal, lost.count + attempt - 1)) from None
        try:
            reply = lost.begin()
            if on_event is not None:
                reply.watch = follow_text(request, on_event).take
            value = await send(reply)
            server.record_success(request.id)
            tries = lost.count + attempt
            return value if tries == 1 else RetriedReply(lost.add_usage(value), tries)
        except Refusal as refusal:
            took = lost.fail(refusal)
            wait = backoff(request.id, attempt, refusal.retry_after, retries)
            server.record_failure(request.id, refusal, wait, model)
            last = attempt >= _max_attempts(refusal, retries) or monotonic() + wait > until
            if not refusal.again or last:
                raise lost.add_partial(with_attempts(refusal, lost.count + attempt)) from None
            if took and not may_retry(request.id, lost.count + attempt, took):
                refusal = with_attempts(with_budget_stop(refusal), lost.count + attempt)
                raise lost.add_partial(refusal) from None
            note_pause(request.id, model, attempt, wait)
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


def backoff(id: str, attempt: int, asked: float | None, retries: Retries) -> float:
    """Return the seconds to wait after a failed attempt: the server's `asked` time plus a random
    share of a time that doubles with each attempt, at most `most`. It depends on the request's
    identity."""
    wait: float = random_share(id, attempt) * retries.first * 2 ** (attempt - 1)
    return min(wait + (asked or 0.0), retries.most)
