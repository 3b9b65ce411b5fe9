"""Accounts: the deadlines and budgets of a run, by the identity of their scope's entry.

The stack and the context hold only the identity, so a continuation that is resumed twice spends
from the same account and meets the same deadline. The waiting branches decide which deadlines are
counted down: a timer is open while a branch waits under it.
"""

from typing import Any, TypeAlias

from immutables import Map

from sexplang.terms.classes.node import evolve, node
from sexplang.terms.effect import Request
from sexplang.terms.plan import PlanNode
from sexplang.terms.task import error_record
from sexplang.terms.values.value import Record

Spent: TypeAlias = tuple[int, int, float, int, int, float]
"""Calls, tokens and US dollars that are spent, and the part of each that is reserved by unfinished
calls."""

NOTHING: Spent = (0, 0, 0.0, 0, 0, 0.0)


@node
class Bounds:
    """The bounds of a scope. None means no bound."""

    span: Any = None
    seconds: float | None = None
    calls: int | None = None
    tokens: int | None = None
    usd: float | None = None
    node: PlanNode | None = None
    """The node of a plan whose budget this is."""
    steps: int | None = None
    """The steps of a program from a model."""
    more: str | None = None
    """The text to write for more time, if the scope is a deadline and not a budget."""


@node
class Scope:
    """A scope: its bounds, and its account."""

    id: str
    bounds: Bounds
    spent: Spent = NOTHING
    fired: bool = False
    spent_steps: int = 0
    began: int = 0
    """The steps of the run at its entry."""

    @property
    def seconds(self) -> float | None:
        """The seconds that it may take; None without a bound."""
        return self.bounds.seconds

    @property
    def steps(self) -> int | None:
        """The steps of a program from a model; None for any other scope."""
        return self.bounds.steps

    @property
    def spent_calls(self) -> int:
        return self.spent[0]

    @property
    def spent_tokens(self) -> int:
        return self.spent[1]

    @property
    def spent_usd(self) -> float:
        return self.spent[2]

    @property
    def held_calls(self) -> int:
        return self.spent[3]

    @property
    def held_tokens(self) -> int:
        return self.spent[4]

    @property
    def held_usd(self) -> float:
        return self.spent[5]

    def spending(self) -> list[tuple[str, float, float]]:
        """Return the bounds besides time: the name, the bound and the spent amount of each."""
        bounds = self.bounds
        limits = (bounds.calls, bounds.tokens, bounds.usd)
        rows = zip(RESOURCES, limits, self.spent, strict=False)
        return [(name, limit, spent) for name, limit, spent in rows if limit is not None]

    @property
    def is_metered(self) -> bool:
        """Return whether it bounds tokens or money of model calls."""
        return self.bounds.tokens is not None or self.bounds.usd is not None

    def with_estimate(self, tokens: int, usd: float) -> "Scope":
        """Return the scope after the estimate of an open call has grown."""
        return self.with_change(0, tokens, usd, 0, tokens, usd)

    def without_call(self, held: "Held") -> "Scope":
        """Return the scope as if a call that was never made had not been admitted."""
        return self.with_change(-1, -held.tokens, -held.usd, -1, -held.tokens, -held.usd)

    def with_change(
        self, calls: int, tokens: int, usd: float, held: int, held_tokens: int, held_usd: float
    ) -> "Scope":
        """Return the scope with more spent, reservations included, and more reserved."""
        all_calls, all_tokens, all_usd, now, now_tokens, now_usd = self.spent
        now += held
        spent = (
            all_calls + calls,
            all_tokens + tokens,
            all_usd + usd,
            now,
            now_tokens + held_tokens,
            now_usd + held_usd if now else 0.0,  # no rounding error stays behind
        )
        return Scope(self.id, self.bounds, spent, self.fired, self.spent_steps, self.began)

    def timer(self) -> Request:
        return Request(self.id, "timer", (self.seconds,))

    def error(self, resource: str, limit: Any, used: Any) -> Record:
        """Return RESOURCE_EXHAUSTION for a resource, as raised at the form: the bound, the spent
        amount, and the amount reserved by open calls. `used` is None for a call of unknown price;
        the error then gives the amount used without it."""
        known = _round(getattr(self, f"spent_{resource}")) if used is None else used
        details: dict[str, Any] = {"resource": resource, "metrics": {"limit": limit, "used": known}}
        if resource != "seconds":
            held = getattr(self, f"held_{resource}")
            spent = getattr(self, f"spent_{resource}") - held
            details |= {"spent": _round(spent), "reserved": _round(held)}
        return error_record(
            "RESOURCE_EXHAUSTION",
            resource,
            (_WORDS[resource] if used is not None else _UNPRICED).format(limit=limit, used=used),
            details=details,
            hint=self._hint(resource, limit, used),
            span=self.bounds.span.plain() if self.bounds.span is not None else None,
        )

    def _hint(self, resource: str, limit: Any, used: Any) -> str:
        if used is None:
            return f"{self._otherwise()}; pip install 'sexplang[prices]' knows those of many models"
        if self.bounds.more is not None:
            return self.bounds.more
        if self._has_form():
            return f"raise `{resource}:` there, or catch `{resource}` and go on with what there is"
        more = max(2 * limit, used) or 1
        return f"give the run more: --budget {resource}={_round(more) or more}"

    def _otherwise(self) -> str:
        """The text to write where money cannot be counted."""
        if self._has_form():
            return "bound `tokens:` or `calls:` there instead, or name a model with a known price"
        return "type --budget tokens=50000 or calls=20 instead, or name a model with a known price"

    def _has_form(self) -> bool:
        """Whether a program or a plan sets the bounds, and not the caller of the run."""
        return self.bounds.span is not None or self.bounds.node is not None

    def expire(self, steps: int | None = None) -> Record:
        """Return the error of a deadline that has passed; with `steps`, in the midst of
        computing."""
        error = self.error("seconds", self.seconds, self.seconds)
        if steps is None:
            return error
        words = f"{error.fields['message']}, and {steps:,} steps were taken"
        details = {**error.fields["details"], "steps": steps}
        return Record(error.kind, {**error.fields, "message": words, "details": details})


RESOURCES = ("calls", "tokens", "usd")
"""The resources of model calls. Unlike time, they have no grace."""

_WORDS = {
    "seconds": "the time is up: {limit} seconds were allowed",
    "calls": "no more model calls fit into the budget: {limit} allowed, {used} asked for",
    "tokens": "no more tokens fit into the budget: {limit} allowed, {used} asked for",
    "usd": "no more money fits into the budget: ${limit} allowed, ${used} asked for",
}

_UNPRICED = "money cannot be counted: ${limit} allowed, and nobody knows the price of the model"


def _round(amount: float) -> float:
    """Return money rounded to a millionth of a dollar."""
    return amount if isinstance(amount, int) else round(amount, 6)


@node
class Held:
    """The reservation of one call in each of its scopes, until its reply reports the usage.

    `guess` is the first estimate of its input, without corrections. `input` and `input_usd` are the
    least that an attempt takes; `taken` and `taken_usd` are the usage of all attempts so far.
    """

    scopes: tuple[str, ...]
    model: str
    tokens: int
    usd: float
    guess: int = 0
    taken: int = 0
    taken_usd: float = 0.0
    is_priced: bool = False
    """Whether one of the scopes bounds money."""
    input: int = 0
    input_usd: float = 0.0

    def with_estimate(self, tokens: int, usd: float) -> "Held":
        """Return the reservation with further usage beside it."""
        return evolve(
            self,
            tokens=self.tokens + tokens,
            usd=self.usd + usd,
            taken=self.taken + tokens,
            taken_usd=self.taken_usd + usd,
        )


Accounts = Map[str, Scope]

NO_ACCOUNTS: Accounts = Map()
