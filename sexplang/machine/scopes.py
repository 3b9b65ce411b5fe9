"""Deadlines and budgets: accounts by the identity of their scope's entry.

The stack and the context hold only the name, so a continuation that is resumed twice spends from
the same account and meets the same deadline. Which deadlines are counted down follows from what
waits: a timer is open while a branch waits under it.
"""

from typing import Any

from immutables import Map

from sexplang.terms.effect import Request
from sexplang.terms.node import evolve, node
from sexplang.terms.plan import PlanNode
from sexplang.terms.task import error_record
from sexplang.terms.value import Record


@node
class Scope:
    """One scope: what it allows and what it has spent. Nil means no bound. `held_…` is the part
    of it that calls have reserved whose replies are not there yet."""

    id: str
    span: Any = None
    seconds: float | None = None
    calls: int | None = None
    tokens: int | None = None
    usd: float | None = None
    spent_calls: int = 0
    spent_tokens: int = 0
    spent_usd: float = 0.0
    fired: bool = False
    node: PlanNode | None = None
    """The node of a plan that it is the budget of."""
    held_calls: int = 0
    held_tokens: int = 0
    held_usd: float = 0.0
    steps: int | None = None
    """Of a program from a model: how many steps it may take."""
    spent_steps: int = 0
    more: str | None = None
    """What to write for more time, where the scope is no budget but a deadline."""

    def spending(self) -> list[tuple[str, float, float]]:
        """What is bounded besides time: its name, the bound, and what is spent."""
        rows = (
            ("calls", self.calls, self.spent_calls),
            ("tokens", self.tokens, self.spent_tokens),
            ("usd", self.usd, self.spent_usd),
        )
        return [(name, limit, spent) for name, limit, spent in rows if limit is not None]

    @property
    def is_metered(self) -> bool:
        """Whether it bounds what model calls take."""
        return self.tokens is not None or self.usd is not None

    def grown(self, tokens: int, usd: float) -> "Scope":
        """The scope when a call on its way may take so much more."""
        return self.moved(0, tokens, usd, 0, tokens, usd)

    def unmade(self, held: "Held") -> "Scope":
        """The scope when a call was given up before anybody made it: as if nobody had asked."""
        return self.moved(-1, -held.tokens, -held.usd, -1, -held.tokens, -held.usd)

    def moved(
        self, calls: int, tokens: int, usd: float, held: int, held_tokens: int, held_usd: float
    ) -> "Scope":
        """The scope with so much more spent, what is held included, and so much more held."""
        now = self.held_calls + held
        return Scope(
            self.id,
            self.span,
            self.seconds,
            self.calls,
            self.tokens,
            self.usd,
            self.spent_calls + calls,
            self.spent_tokens + tokens,
            self.spent_usd + usd,
            self.fired,
            self.node,
            now,
            self.held_tokens + held_tokens,
            self.held_usd + held_usd if now else 0.0,  # no rest of rounding stays behind
            self.steps,
            self.spent_steps,
            self.more,
        )

    def timer(self) -> Request:
        return Request(self.id, "timer", (self.seconds,))

    def error(self, resource: str, limit: Any, used: Any) -> Record:
        """RESOURCE_EXHAUSTION that names the resource, as raised at the form: what was allowed,
        what is spent, and what calls hold that are on their way. `used` is None for a call whose
        price nobody knows; then the error says what was used without it."""
        known = _rounded(getattr(self, f"spent_{resource}")) if used is None else used
        details: dict[str, Any] = {"resource": resource, "metrics": {"limit": limit, "used": known}}
        if resource != "seconds":
            held = getattr(self, f"held_{resource}")
            spent = getattr(self, f"spent_{resource}") - held
            details |= {"spent": _rounded(spent), "reserved": _rounded(held)}
        return error_record(
            "RESOURCE_EXHAUSTION",
            resource,
            (_WORDS[resource] if used is not None else _UNPRICED).format(limit=limit, used=used),
            details=details,
            hint=self._hint(resource, limit, used),
            span=self.span.plain() if self.span is not None else None,
        )

    def _hint(self, resource: str, limit: Any, used: Any) -> str:
        if used is None:
            return f"{self._otherwise()}; pip install 'sexplang[prices]' knows those of many models"
        if self.more is not None:
            return self.more
        if self.span is not None or self.node is not None:
            return f"raise `{resource}:` there, or catch `{resource}` and go on with what there is"
        more = max(2 * limit, used) or 1
        return f"give the run more: --budget {resource}={_rounded(more) or more}"

    def _otherwise(self) -> str:
        """What to write where money cannot be counted."""
        if self.span is not None or self.node is not None:
            return "bound `tokens:` or `calls:` there instead, or name a model with a known price"
        return "type --budget tokens=50000 or calls=20 instead, or name a model with a known price"

    def expired(self) -> Record:
        return self.error("seconds", self.seconds, self.seconds)


_WORDS = {
    "seconds": "the time is up: {limit} seconds were allowed",
    "calls": "no more model calls fit into the budget: {limit} allowed, {used} asked for",
    "tokens": "no more tokens fit into the budget: {limit} allowed, {used} asked for",
    "usd": "no more money fits into the budget: ${limit} allowed, ${used} asked for",
}

_UNPRICED = "money cannot be counted: ${limit} allowed, and nobody knows the price of the model"


def _rounded(amount: float) -> float:
    """Money to a millionth of a dollar."""
    return amount if isinstance(amount, int) else round(amount, 6)


@node
class Held:
    """What one call has reserved in each of its scopes, until its reply says what it took.
    `guess` is the first estimate of its input, without what has been learned; `taken` and
    `taken_usd` are the part of its input."""

    scopes: tuple[str, ...]
    model: str
    tokens: int
    usd: float
    guess: int = 0
    taken: int = 0
    taken_usd: float = 0.0
    is_priced: bool = False
    """Whether one of the scopes bounds money."""

    def grown(self, tokens: int, usd: float) -> "Held":
        """With so much beside it that is used already."""
        return evolve(
            self,
            tokens=self.tokens + tokens,
            usd=self.usd + usd,
            taken=self.taken + tokens,
            taken_usd=self.taken_usd + usd,
        )


Accounts = Map[str, Scope]

NO_ACCOUNTS: Accounts = Map()
