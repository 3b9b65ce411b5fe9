"""Deadlines and budgets: accounts by the identity of their scope's entry.

The stack and the context hold only the name, so a continuation that is resumed twice spends from
the same account and meets the same deadline. Which deadlines are counted down follows from what
waits: a timer is open while a branch waits under it.
"""

from collections.abc import Callable
from math import inf
from typing import Any

from immutables import Map

from sexplang.terms.brief import shown
from sexplang.terms.effect import Request
from sexplang.terms.node import node
from sexplang.terms.task import error_record
from sexplang.terms.value import Fault, Record, Value


@node
class Meter:
    """What a model call may cost, known before it is made. Pure functions.

    estimate(payload) -> input tokens, rather too many than too few
    price(model, input tokens, output tokens) -> US dollars, or None if nobody knows
    """

    estimate: Callable[[Any], int]
    price: Callable[[str, int, int], float | None]


def rough_estimate(payload: Any) -> int:
    """Input tokens from the length of the payload as text: one for every three characters."""
    length = 0
    work = [payload]
    while work:
        item = work.pop()
        if isinstance(item, dict):
            length += sum([len(repr(key)) for key in item]) + max(2, 4 * len(item))
            work.extend(item.values())
        elif isinstance(item, (list, tuple)):
            length += 2 * max(1, len(item))
            work.extend(item)
        else:
            length += len(repr(item))
    return length // 3 + 1


METER = Meter(rough_estimate, lambda model, taken, given: None)


@node
class Scope:
    """One scope: what it allows and what it has spent. Nil means no bound."""

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

    def charged(self, calls: int, tokens: int, usd: float) -> "Scope":
        """The scope when so much more is spent."""
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
        )

    def timer(self) -> Request:
        return Request(self.id, "timer", (self.seconds,))

    def error(self, resource: str, limit: Any, used: Any) -> Record:
        """RESOURCE_EXHAUSTION that names the resource, as raised at the form."""
        return error_record(
            "RESOURCE_EXHAUSTION",
            resource,
            _WORDS[resource].format(limit=limit, used=used),
            details={"resource": resource, "metrics": {"limit": limit, "used": used}},
            span=self.span.plain() if self.span is not None else None,
        )

    def expired(self) -> Record:
        return self.error("seconds", self.seconds, self.seconds)


_WORDS = {
    "seconds": "the time is up: {limit} seconds were allowed",
    "calls": "no more model calls fit into the budget: {limit} allowed, {used} asked for",
    "tokens": "no more tokens fit into the budget: {limit} allowed, {used} asked for",
    "usd": "no more money fits into the budget: ${limit} allowed, ${used} asked for",
}


@node
class Held:
    """What one call has reserved in each of its scopes, until its reply says what it took."""

    scopes: tuple[str, ...]
    model: str
    tokens: int
    usd: float


Accounts = Map[str, Scope]

_KINDS: dict[str, tuple[type, ...]] = {
    "seconds": (int, float),
    "calls": (int,),
    "tokens": (int,),
    "usd": (int, float),
}


def allowed(given: Value) -> dict[str, Value]:
    """What `with-budget` is given, checked. Raises Fault."""
    if not isinstance(given, dict) or not given:
        raise _unfit(f"{shown(given)} is no budget")
    for name, value in given.items():
        if name not in _KINDS:
            raise _unfit(f"a budget has no `{name}`")
        if type(value) not in _KINDS[name] or not 0 <= value < inf:
            raise _unfit(f"`{name}` of a budget is a number from 0 on, not {shown(value)}")
    return given


def _unfit(message: str) -> Fault:
    return Fault(
        "wrong-type",
        message,
        hint="for example (with-budget {calls: 20 tokens: 50000 usd: 0.5 seconds: 60} …)",
    )


@node
class Refused:
    """The call does not fit: the scope that breaks, and its error."""

    scope: str
    error: Record


def reserve(
    accounts: Accounts, scopes: tuple[str, ...], payload: Any, meter: Meter
) -> tuple[Accounts, Any, Held] | Refused:
    """A model call enters its budgets: the accounts after it, the payload with as many output
    tokens as are left, and what is held; or what does not fit, outermost first. Raises Fault
    where a payload does not say how many tokens it asks for."""
    budgets = [accounts[scope] for scope in scopes if _is_budget(accounts[scope])]
    for budget in budgets:
        if budget.calls is not None and budget.spent_calls >= budget.calls:
            error = budget.error("calls", budget.calls, budget.spent_calls + 1)
            return Refused(budget.id, error)
    taken = given = 0
    usd = 0.0
    model = str(payload.get("model") or "") if isinstance(payload, dict) else ""
    if any(budget.tokens is not None or budget.usd is not None for budget in budgets):
        taken, given = meter.estimate(payload), _most(payload)
        for budget in budgets:
            fitting = _fitting(budget, model, taken, given, meter)
            if isinstance(fitting, Refused):
                return fitting
            given = fitting
        usd = meter.price(model, taken, given) or 0.0
        payload = {**payload, "max_tokens": given}
    for budget in budgets:
        accounts = accounts.set(budget.id, budget.charged(1, taken + given, usd))
    names = tuple([budget.id for budget in budgets])
    return accounts, payload, Held(names, model, taken + given, usd)


def _most(payload: Any) -> int:
    """How many output tokens a call asks for."""
    most = payload.get("max_tokens") if isinstance(payload, dict) else 0
    if most is None:
        return 4096
    if type(most) is not int or most < 1:
        raise Fault(
            "wrong-type",
            "under a budget of tokens or money, `model` takes a table; its `max_tokens`, if it is "
            "there, is an integer from 1 on",
        )
    return most


def _is_budget(scope: Scope) -> bool:
    return scope.calls is not None or scope.tokens is not None or scope.usd is not None


def _fitting(budget: Scope, model: str, taken: int, given: int, meter: Meter) -> int | Refused:
    """How many output tokens fit, at least one and at most `given`."""
    if budget.tokens is not None:
        left = budget.tokens - budget.spent_tokens - taken
        if left < 1:
            return Refused(
                budget.id, budget.error("tokens", budget.tokens, budget.spent_tokens + taken + 1)
            )
        given = min(given, left)
    if budget.usd is None:
        return given
    while True:
        price = meter.price(model, taken, given)
        if price is None:
            return Refused(budget.id, budget.error("usd", budget.usd, "an unknown price"))
        if budget.spent_usd + price <= budget.usd:
            return given
        if given <= 1:
            return Refused(
                budget.id, budget.error("usd", budget.usd, round(budget.spent_usd + price, 6))
            )
        given //= 2


def settle(accounts: Accounts, held: Held, reply: Value, meter: Meter) -> Accounts:
    """The reply says what the call took; without a usage it is what was held."""
    usage = reply.get("usage") if isinstance(reply, dict) else None
    if not isinstance(usage, dict):
        return accounts
    taken = sum(_count(usage.get(name)) for name in _INPUT)
    given = _count(usage.get("output_tokens"))
    usd = meter.price(held.model, taken, given) or 0.0
    return _charge(accounts, held, taken + given - held.tokens, usd - held.usd)


_INPUT = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")


def _count(value: Any) -> int:
    return value if type(value) is int and value > 0 else 0


def refund(accounts: Accounts, held: Held) -> Accounts:
    """The call failed: its tokens were not used. It was made, so it counts as a call."""
    return _charge(accounts, held, -held.tokens, -held.usd)


def _charge(accounts: Accounts, held: Held, tokens: int, usd: float) -> Accounts:
    for name in held.scopes:
        accounts = accounts.set(name, accounts[name].charged(0, tokens, usd))
    return accounts
