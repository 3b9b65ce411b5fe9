"""Deadlines and budgets: accounts by the identity of their scope's entry.

The stack and the context hold only the name, so a continuation that is resumed twice spends from
the same account and meets the same deadline. Which deadlines are counted down follows from what
waits: a timer is open while a branch waits under it.
"""

from typing import Any, TypeAlias

from immutables import Map

from sexplang.terms.classes.node import evolve, node
from sexplang.terms.effect import Request
from sexplang.terms.plan import PlanNode
from sexplang.terms.task import error_record
from sexplang.terms.values.value import Record

Spent: TypeAlias = tuple[int, int, float, int, int, float]
"""Calls, tokens and US dollars that are spent, and the part of each that calls have reserved whose
replies are not there yet."""

NOTHING: Spent = (0, 0, 0.0, 0, 0, 0.0)


@node
class Bounds:
    """What a scope allows. Nil means no bound."""

    span: Any = None
    seconds: float | None = None
    calls: int | None = None
    tokens: int | None = None
    usd: float | None = None
    node: PlanNode | None = None
    """The node of a plan that it is the budget of."""
    steps: int | None = None
    """Of a program from a model: how many steps it may take."""
    more: str | None = None
    """What to write for more time, where the scope is no budget but a deadline."""


@node
class Scope:
    """One scope: what it allows, and what of that is gone."""

    id: str
    bounds: Bounds
    spent: Spent = NOTHING
    fired: bool = False
    spent_steps: int = 0
    began: int = 0
    """How many steps the run had taken when it was entered."""

    @property
    def seconds(self) -> float | None:
        """How long it may take; None where nobody says."""
        return self.bounds.seconds

    @property
    def steps(self) -> int | None:
        """How many steps a program from a model may take; None in what is none."""
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
        """What is bounded besides time: its name, the bound, and what is spent."""
        bounds = self.bounds
        limits = (bounds.calls, bounds.tokens, bounds.usd)
        rows = zip(RESOURCES, limits, self.spent, strict=False)
        return [(name, limit, spent) for name, limit, spent in rows if limit is not None]

    @property
    def is_metered(self) -> bool:
        """Whether it bounds what model calls take."""
        return self.bounds.tokens is not None or self.bounds.usd is not None

    def with_estimate(self, tokens: int, usd: float) -> "Scope":
        """The scope when a call on its way may take so much more."""
        return self.with_change(0, tokens, usd, 0, tokens, usd)

    def without_call(self, held: "Held") -> "Scope":
        """The scope when a call was given up before anybody made it: as if nobody had asked."""
        return self.with_change(-1, -held.tokens, -held.usd, -1, -held.tokens, -held.usd)

    def with_change(
        self, calls: int, tokens: int, usd: float, held: int, held_tokens: int, held_usd: float
    ) -> "Scope":
        """The scope with so much more spent, what is held included, and so much more held."""
        all_calls, all_tokens, all_usd, now, now_tokens, now_usd = self.spent
        now += held
        spent = (
            all_calls + calls,
            all_tokens + tokens,
            all_usd + usd,
            now,
            now_tokens + held_tokens,
            now_usd + held_usd if now else 0.0,  # no rest of rounding stays behind
        )
        return Scope(self.id, self.bounds, spent, self.fired, self.spent_steps, self.began)

    def timer(self) -> Request:
        return Request(self.id, "timer", (self.seconds,))

    def error(self, resource: str, limit: Any, used: Any) -> Record:
        """RESOURCE_EXHAUSTION that names the resource, as raised at the form: what was allowed,
        what is spent, and what calls hold that are on their way. `used` is None for a call whose
        price nobody knows; then the error says what was used without it."""
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
        """What to write where money cannot be counted."""
        if self._has_form():
            return "bound `tokens:` or `calls:` there instead, or name a model with a known price"
        return "type --budget tokens=50000 or calls=20 instead, or name a model with a known price"

    def _has_form(self) -> bool:
        """Whether a program or a plan says what it allows, and not who runs the program."""
        return self.bounds.span is not None or self.bounds.node is not None

    def expire(self, steps: int | None = None) -> Record:
        """The time is up; in the midst of computing, after so many steps."""
        error = self.error("seconds", self.seconds, self.seconds)
        if steps is None:
            return error
        words = f"{error.fields['message']}, and {steps:,} steps were taken"
        details = {**error.fields["details"], "steps": steps}
        return Record(error.kind, {**error.fields, "message": words, "details": details})


RESOURCES = ("calls", "tokens", "usd")
"""What model calls are paid with: unlike time, of these there is no grace."""

_WORDS = {
    "seconds": "the time is up: {limit} seconds were allowed",
    "calls": "no more model calls fit into the budget: {limit} allowed, {used} asked for",
    "tokens": "no more tokens fit into the budget: {limit} allowed, {used} asked for",
    "usd": "no more money fits into the budget: ${limit} allowed, ${used} asked for",
}

_UNPRICED = "money cannot be counted: ${limit} allowed, and nobody knows the price of the model"


def _round(amount: float) -> float:
    """Money to a millionth of a dollar."""
    return amount if isinstance(amount, int) else round(amount, 6)


@node
class Held:
    """What one call has reserved in each of its scopes, until its reply says what it took.
    `guess` is the first estimate of its input, without what has been learned; `input` and
    `input_usd` are what an attempt takes at least, `taken` and `taken_usd` that of all so far."""

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
