"""What a model call may take, held before it is made and settled when it is over. Pure.

The estimate of its input learns from what replies report; what has been learned is a part of the
run's state, so a run that is repeated refuses the same calls.
"""

from collections.abc import Callable
from math import inf
from typing import Any, Protocol

from immutables import Map

from sexplang.machine.scopes import Accounts, Held, Scope
from sexplang.terms.brief import shown
from sexplang.terms.node import node
from sexplang.terms.value import Fault, Record, Value


class Price(Protocol):
    """A model's name and tokens to US dollars, or None if nobody knows. Of the input, those that
    a prompt cache keeps (`written`) or gives (`read`) come beside `taken`."""

    def __call__(
        self, model: str, taken: int, given: int, written: int = 0, read: int = 0, /
    ) -> float | None: ...


@node
class Meter:
    """What a model call may cost, known before it is made. Pure functions.

    estimate(payload) -> input tokens, rather too many than too few
    """

    estimate: Callable[[Any], int]
    price: Price


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


def _no_price(
    model: str, taken: int, given: int, written: int = 0, read: int = 0, /
) -> float | None:
    return None


METER = Meter(rough_estimate, _no_price)

Learned = Map[str, tuple[int, int]]
"""By model: input tokens as they were first estimated, and as they were reported; in all."""


def corrected(guess: int, learned: tuple[int, int] | None) -> int:
    """An estimate in the light of what was reported so far: a quarter more than its share."""
    if learned is None:
        return guess
    guessed, reported = learned
    return -(-guess * reported * 5 // (guessed * 4)) + 8


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


_NOTHING: Learned = Map()


@node
class Refused:
    """The call does not fit: the scope that breaks, and its error."""

    scope: str
    error: Record


def reserve(
    accounts: Accounts,
    scopes: tuple[str, ...],
    payload: Any,
    meter: Meter,
    learned: Learned = _NOTHING,
) -> tuple[Accounts, Any, Held] | Refused:
    """A model call enters its budgets: the accounts after it, the payload with as many output
    tokens as are left, and what is held; or what does not fit, outermost first. Raises Fault
    where a payload does not say how many tokens it asks for."""
    budgets = [accounts[scope] for scope in scopes if accounts[scope].is_budget]
    for budget in budgets:
        if budget.calls is not None and budget.spent_calls >= budget.calls:
            error = budget.error("calls", budget.calls, budget.spent_calls + 1)
            return Refused(budget.id, error)
    names = tuple([budget.id for budget in budgets])
    held = Held(names, "", 0, 0.0)
    if any(budget.tokens is not None or budget.usd is not None for budget in budgets):
        model = str(payload.get("model") or "") if isinstance(payload, dict) else ""
        guess, given = meter.estimate(payload), _most(payload)
        taken = corrected(guess, learned.get(model))
        # A conversation with tools has its prompt kept by the server, which costs more.
        kept = taken if isinstance(payload, dict) and payload.get("tools") else 0

        def price(output: int) -> float | None:
            return meter.price(model, taken - kept, output, kept)

        for budget in budgets:
            fitting = _fitting(budget, taken, given, price)
            if isinstance(fitting, Refused):
                return fitting
            given = fitting
        usd, input_usd = price(given) or 0.0, price(0) or 0.0
        payload = {**payload, "max_tokens": given}
        held = Held(names, model, taken + given, usd, guess, taken, input_usd)
    for budget in budgets:
        accounts = accounts.set(budget.id, budget.reserved(held.tokens, held.usd))
    return accounts, payload, held


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


def _fitting(
    budget: Scope, taken: int, given: int, price: Callable[[int], float | None]
) -> int | Refused:
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
        cost = price(given)
        if cost is None:
            return Refused(budget.id, budget.error("usd", budget.usd, None))
        if budget.spent_usd + cost <= budget.usd:
            return given
        if given <= 1:
            used = round(budget.spent_usd + cost, 6)
            return Refused(budget.id, budget.error("usd", budget.usd, used))
        given //= 2


def settle(
    accounts: Accounts, held: Held, reply: Value, meter: Meter, learned: Learned
) -> tuple[Accounts, Learned]:
    """The reply says what the call took; without a usage it is what was held. The estimates of
    the calls to come follow from it."""
    usage = reply.get("usage") if isinstance(reply, dict) else None
    if not isinstance(usage, dict):
        return _over(accounts, held, held.tokens, held.usd), learned
    fresh, written, read = [_count(usage.get(name)) for name in _INPUT]
    given = _count(usage.get("output_tokens"))
    taken = fresh + written + read
    usd = meter.price(held.model, fresh, given, written, read) or 0.0
    if held.guess and taken:
        guessed, reported = learned.get(held.model, (0, 0))
        learned = learned.set(held.model, (guessed + held.guess, reported + taken))
    return _over(accounts, held, taken + given, usd), learned


_INPUT = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")


def _count(value: Any) -> int:
    return value if type(value) is int and value > 0 else 0


def refund(accounts: Accounts, held: Held) -> Accounts:
    """The call failed: its tokens were not used. It was made, so it counts as a call."""
    return _over(accounts, held, 0, 0.0)


def take_back(accounts: Accounts, held: Held) -> Accounts:
    """The call was withdrawn: what it held for its output comes back. Its input may have been
    sent, and it may have been made: that stays charged."""
    return _over(accounts, held, held.taken, held.taken_usd)


def _over(accounts: Accounts, held: Held, tokens: int, usd: float) -> Accounts:
    for name in held.scopes:
        accounts = accounts.set(name, accounts[name].settled(held, tokens, usd))
    return accounts
