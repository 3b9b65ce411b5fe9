"""The circuit breaker of a server, shared by all model calls of a run.

A rate limit blocks calls of one model for the time that the server asks for. A server that fails
many times in a row is left alone for a while; then one call, the probe, tests it. Times are
monotonic seconds of the host.
"""

from collections.abc import Callable
from time import monotonic
from typing import Any

from sexplang.runtime.refusal import Refusal, make_task_failure
from sexplang.terms.classes.node import define, field, frozen


@frozen
class Retries:
    """The retry policy of model calls. Times are in seconds."""

    attempts: int = 3
    first: float = 1.0
    """Maximum wait before the second attempt; it doubles for each further one."""
    most: float = 60.0
    """Maximum of a single wait, even if the server asks for more."""
    total: float = 300.0
    """Maximum time after which no further attempt starts."""
    silent: int = 2
    """Maximum attempts at a model that does not respond; each takes long."""
    overloads: int = 10
    """Failures in a row, over all calls, after which a server is left alone."""
    alone: float = 2.0
    """The first time of leaving a server alone; it doubles when the probe fails, up to `most`."""


OVERLOAD_CODES = frozenset(
    ("model-busy", "model-failed", "model-timeout", "no-connection", "reply-cut-short")
)
"""Error codes of an overloaded or unreachable server."""


def random_share(*words: object) -> float:
    """Return a pseudo-random number in [0, 1), derived from the words, so that a run repeats."""
    from hashlib import sha256

    drawn = sha256("/".join(map(str, words)).encode()).digest()
    return int.from_bytes(drawn[:6]) / 2**48


@define(eq=False)
class CircuitBreaker:
    """The state of one server."""

    server: str
    retries: Retries
    clock: Callable[[], float] = monotonic
    open_until: float = 0.0
    """The time until which the server is left alone."""
    cause: Refusal | None = None
    """The failure for which it is left alone."""
    rate_limits: dict[str, tuple[float, Refusal]] = field(factory=dict)
    """The end and the cause of a rate limit, by model."""
    failures: int = 0
    """The number of overload failures in a row."""
    openings: int = 0
    """How often in a row the breaker opened; 0 while the server works."""
    probe: str | None = None
    """The id of the request that probes the server."""
    _probe_listeners: list[Callable[[], None]] = field(factory=list)

    def wait(self, id: str, until: float, model: str = "") -> float | None:
        """Return the seconds that a request must wait; 0 admits it, None waits for the probe.
        Raises a Refusal if the wait would exceed `until`, or if the breaker has opened twice."""
        now = self.clock()
        left = self.open_until - now
        if self.openings and (left > 0 or self.probe not in (None, id)):
            if self.openings > 1 or now + left > until:
                raise self._refuse_overload(max(left, 0.0))
            return left if left > 0 else None
        left = self.rate_limits[model][0] - now if model in self.rate_limits else 0.0
        if left > 0:
            # Calls are spread after the end of the limit.
            left = min(left + random_share(id, "gate") * self.retries.first, self.retries.most)
            if now + left > until:
                raise self._refuse_rate_limit(left, self.rate_limits[model][1])
            return left
        if self.openings:
            self.probe = id
        return 0.0

    def cause_of_wait(self, model: str) -> Refusal:
        """Return the failure that makes requests for a model wait."""
        gate = self.rate_limits.get(model)
        is_alone = self.openings and self.open_until > self.clock()
        cause = self.cause if gate is None or is_alone else gate[1]
        assert cause is not None
        return cause

    def record_success(self, id: str) -> None:
        """Record an answer of the server, including one that rejects the request."""
        self.failures = 0
        if self.openings and self.probe in (None, id):
            self.openings, self.open_until, self.cause = 0, 0.0, None
        self.release_probe(id)

    def record_failure(self, id: str, refusal: Refusal, wait: float, model: str = "") -> None:
        """Record a failed request that would wait `wait` seconds for its next attempt."""
        details = refusal.error.fields["details"]
        if details.get("status") == 429 and details.get("code") == "model-busy":
            if self.probe == id:
                self.record_success(id)
            until = self.clock() + wait
            if model not in self.rate_limits or until > self.rate_limits[model][0]:
                self.rate_limits[model] = until, refusal
        elif details.get("code") not in OVERLOAD_CODES:
            self.record_success(id)
        else:
            self.failures += 1
            if self.probe == id or (not self.openings and self.failures >= self.retries.overloads):
                self._open(refusal)
            self.release_probe(id)

    def release_probe(self, id: str) -> None:
        """End a request. If it was the probe, another one may follow."""
        if self.probe == id:
            self.probe = None
            ended, self._probe_listeners = self._probe_listeners, []
            for tell in ended:
                tell()

    def on_probe_end(self, tell: Callable[[], None]) -> None:
        """Call `tell` once when the probe ends."""
        self._probe_listeners.append(tell)

    def _open(self, refusal: Refusal) -> None:
        alone = min(self.retries.alone * 2**self.openings, self.retries.most)
        self.openings += 1
        self.open_until, self.cause = self.clock() + alone, refusal

    def _refuse_overload(self, left: float) -> Refusal:
        assert self.cause is not None
        return make_task_failure(
            "llm_error",
            "model-overloaded",
            f"no calls are sent to {self.server} for now: {self.failures} calls in a row failed, "
            f"the last one with: {_message(self.cause)}",
            hint=f"wait {left:.0f} s and try again with a smaller --parallel, or use another "
            "--model",
            **self._details(left),
        )

    def _refuse_rate_limit(self, left: float, cause: Refusal) -> Refusal:
        return make_task_failure(
            "llm_error",
            "model-busy",
            f"{self.server} accepts no calls for {left:.1f} seconds, and this call has less time "
            f"left; its last failure was: {_message(cause)}",
            hint="raise the call's timeout, or use a smaller --parallel",
            **self._details(left),
        )

    def _details(self, left: float) -> dict[str, Any]:
        return {
            "server": self.server,
            "failures": self.failures or None,
            "seconds": round(left, 3),
        }


def _message(cause: Refusal) -> str:
    return str(cause.error.fields["message"])
