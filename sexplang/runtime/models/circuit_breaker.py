"""What one server answered → when it may be asked again: known to all calls of a run at once.

A rate limit closes the gate of one model for as long as the server asks. A server that fails many
times in a row is left alone for a while; then one call, the probe, finds out whether it is back.
Times are the host's monotonic seconds.
"""

from collections.abc import Callable
from time import monotonic
from typing import Any

from sexplang.runtime.refusal import Refusal, make_task_failure
from sexplang.terms.classes.node import define, field, frozen


@frozen
class Retries:
    """How often and how patiently a model is asked again. Seconds."""

    attempts: int = 3
    first: float = 1.0
    """The longest wait before the second attempt; it doubles for each further one."""
    most: float = 60.0
    """The longest single wait, also when the server asks for more."""
    total: float = 300.0
    """No further attempt starts once this much time has gone by."""
    silent: int = 2
    """How often a model that says nothing at all is asked: each time takes long."""
    overloads: int = 10
    """After so many failures in a row, of whichever calls, a server is left alone."""
    alone: float = 2.0
    """For so long at first; it doubles each time that the probe fails, up to `most`."""


OVERLOADS = frozenset(
    ("model-busy", "model-failed", "model-timeout", "no-connection", "reply-cut-short")
)
"""Codes of what a server does that has too much to do, or is not there."""


def share(*words: object) -> float:
    """A number from 0 up to 1 that follows from the words: chance that a run repeats."""
    from hashlib import sha256

    drawn = sha256("/".join(map(str, words)).encode()).digest()
    return int.from_bytes(drawn[:6]) / 2**48


def pause(id: str, attempt: int, asked: float | None, retries: Retries) -> float:
    """Seconds to wait after a failed attempt: any share of what doubles with each attempt, on top
    of what the server asked for, at most `most`. It follows from the request's identity."""
    wait: float = share(id, attempt) * retries.first * 2 ** (attempt - 1)
    return min(wait + (asked or 0.0), retries.most)


@define(eq=False)
class CircuitBreaker:
    """One server, as the calls of a run have found it."""

    server: str
    retries: Retries
    clock: Callable[[], float] = monotonic
    until: float = 0.0
    """Nobody asks before that: the end of the time in which it is left alone."""
    cause: Refusal | None = None
    """Why it is left alone."""
    gates: dict[str, tuple[float, Refusal]] = field(factory=dict)
    """By models of which a limit was reached: nobody asks for one before that, and why."""
    failures: int = 0
    """How many calls in a row failed for what an overload does."""
    openings: int = 0
    """How often in a row it was left alone; 0 while it works."""
    probe: str | None = None
    """The request that finds out."""
    _ended: list[Callable[[], None]] = field(factory=list)

    def wait(self, id: str, until: float, model: str = "") -> float | None:
        """Seconds that a request for a model has to wait before it may be sent; 0 when it may be
        now, and None while another one finds out. Raises a Refusal where that is too long: past
        `until`, or because the server has been found unable twice."""
        now = self.clock()
        left = self.until - now
        if self.openings and (left > 0 or self.probe not in (None, id)):
            if self.openings > 1 or now + left > until:
                raise self._refuse_overload(max(left, 0.0))
            return left if left > 0 else None
        left = self.gates[model][0] - now if model in self.gates else 0.0
        if left > 0:
            # Not all at the same moment when the gate opens.
            left = min(left + share(id, "gate") * self.retries.first, self.retries.most)
            if now + left > until:
                raise self._refuse_rate_limit(left, self.gates[model][1])
            return left
        if self.openings:
            self.probe = id
        return 0.0

    def why(self, model: str) -> Refusal:
        """Why a request for a model waits."""
        gate = self.gates.get(model)
        is_alone = self.openings and self.until > self.clock()
        cause = self.cause if gate is None or is_alone else gate[1]
        assert cause is not None
        return cause

    def record_success(self, id: str) -> None:
        """The server has answered a request, if only to say that it is a wrong one."""
        self.failures = 0
        if self.openings and self.probe in (None, id):
            self.openings, self.until, self.cause = 0, 0.0, None
        self.release_probe(id)

    def record_failure(self, id: str, refusal: Refusal, wait: float, model: str = "") -> None:
        """A request for a model failed, and would wait so long for its next attempt."""
        details = refusal.error.fields["details"]
        if details.get("status") == 429:
            if self.probe == id:
                self.record_success(id)
            until = self.clock() + wait
            if model not in self.gates or until > self.gates[model][0]:
                self.gates[model] = until, refusal
        elif details.get("code") not in OVERLOADS:
            self.record_success(id)
        else:
            self.failures += 1
            if self.probe == id or (not self.openings and self.failures >= self.retries.overloads):
                self._open(refusal)
            self.release_probe(id)

    def release_probe(self, id: str) -> None:
        """A request is over, or was withdrawn: if it was the probe, the next one may be."""
        if self.probe == id:
            self.probe = None
            ended, self._ended = self._ended, []
            for tell in ended:
                tell()

    def when_probed(self, tell: Callable[[], None]) -> None:
        """Calls `tell` once, when the probe is over."""
        self._ended.append(tell)

    def _open(self, refusal: Refusal) -> None:
        alone = min(self.retries.alone * 2**self.openings, self.retries.most)
        self.openings += 1
        self.until, self.cause = self.clock() + alone, refusal

    def _refuse_overload(self, left: float) -> Refusal:
        assert self.cause is not None
        return make_task_failure(
            "llm_error",
            "model-overloaded",
            f"{self.server} is left alone: {self.failures} calls in a row failed, "
            f"{_last(self.cause)}",
            hint=f"it is asked again in {left:.0f} s; try then, with a smaller --parallel, or with "
            "another --model",
            **self._details(left),
        )

    def _refuse_rate_limit(self, left: float, cause: Refusal) -> Refusal:
        return make_task_failure(
            "llm_error",
            "model-busy",
            f"{self.server} wants no calls for {left:.1f} seconds, which is more than this one has "
            f"left, {_last(cause)}",
            hint="raise the call's timeout, or use a smaller --parallel",
            **self._details(left),
        )

    def _details(self, left: float) -> dict[str, Any]:
        return {
            "server": self.server,
            "failures": self.failures or None,
            "seconds": round(left, 3),
        }


def _last(cause: Refusal) -> str:
    return f"the last time with: {cause.error.fields['message']}"
