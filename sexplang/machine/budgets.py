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
    try:
        return len(repr(payload)) // 3 + 1
    except RecursionError:
        return _deep_estimate(payload)


def _deep_estimate(payload: Any) -> int:
    """The same for what nests deeper than Python's own stack goes."""
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
    budgets = []
    is_metered = False
    for name in scopes:
        budget = accounts[name]
        if budget.calls is not None:
            if budget.spent_calls >= budget.calls:
                error = budget.error("calls", budget.calls, budget.spent_calls + 1)
                return Refused(name, error)
            budgets.append(budget)
            is_metered = is_metered or budget.is_metered
        elif budget.is_metered:
            budgets.append(budget)
            is_metered = True
    names = scopes if len(budgets) == len(scopes) else tuple([budget.id for budget in budgets])
    if is_metered:
        held = _held(budgets, names, payload, meter, learned)
        if isinstance(held, Refused):
            return held
        payload = {**payload, "max_tokens": held.tokens - held.taken}
    else:
        held = Held(names, "", 0, 0.0)
    for budget in budgets:
        accounts = accounts.set(budget.id, budget.reserved(held.tokens, held.usd))
    return accounts, payload, held


def _held(
    budgets: list[Scope], names: tuple[str, ...], payload: Any, meter: Meter, learned: Learned
) -> Held | Refused:
    """The most that a call can take; its output is what all budgets have room for."""
    is_table = isinstance(payload, dict)
    model = str(payload.get("model") or "") if is_table else ""
    guess, given = meter.estimate(payload), _most(payload)
    taken = corrected(guess, learned.get(model))
    # A conversation with tools has its prompt kept by the server, which costs more.
    kept = taken if is_table and payload.get("tools") else 0

    def price(output: int) -> float | None:
        return meter.price(model, taken - kept, output, kept)

    for budget in budgets:
        fitting = _fitting(budget, taken, given, price)
        if isinstance(fitting, Refused):
            return fitting
        given = fitting
    usd, input_usd = price(given) or 0.0, price(0) or 0.0
    return Held(names, model, taken + given, usd, guess, taken, input_usd)


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
    if not isinstance(reply, dict) or not isinstance(reply.get("usage"), dict):
        return _over(accounts, held, held.tokens, held.usd), learned
    counts, lost = _counts(reply["usage"]), reply.get("lost")
    # Of attempts before the one that gave the reply nothing is learned.
    taken = sum(counts[1:]) - (sum(_counts(lost)[1:]) if isinstance(lost, dict) else 0)
    if held.guess and taken > 0:
        guessed, reported = learned.get(held.model, (0, 0))
        learned = learned.set(held.model, (guessed + held.guess, reported + taken))
    return _over(accounts, held, *_took(counts, held, meter)), learned


_COUNTS = (
    *("output_tokens", "input_tokens"),
    *("cache_creation_input_tokens", "cache_read_input_tokens"),
)


def _counts(usage: dict[str, Value]) -> list[int]:
    """What was reported: the output, then the parts of the input."""
    counts = []
    for name in _COUNTS:
        count = usage.get(name)
        counts.append(count if type(count) is int and count > 0 else 0)
    return counts


def _took(counts: list[int], held: Held, meter: Meter) -> tuple[int, float]:
    """Tokens and US dollars of what was reported."""
    given, fresh, written, read = counts
    usd = meter.price(held.model, fresh, given, written, read) or 0.0
    return given + fresh + written + read, usd


def refund(accounts: Accounts, held: Held, error: Value, meter: Meter) -> Accounts:
    """The call failed: only the tokens that its error reports were used. It was made, so it counts
    as a call."""
    details = error.fields.get("details") if isinstance(error, Record) else None
    usage = details.get("usage") if isinstance(details, dict) else None
    tokens, usd = _took(_counts(usage), held, meter) if isinstance(usage, dict) else (0, 0.0)
    return _over(accounts, held, tokens, usd)


def regrown(
    accounts: Accounts, held: Held, usage: dict[str, Value], meter: Meter
) -> tuple[Accounts, Held] | None:
    """An attempt at the call failed that took so much: held is that beside what the next one may
    take. None where a budget has no room for it."""
    tokens, usd = _took(_counts(usage), held, meter)
    for name in held.scopes:
        budget = accounts[name]
        if budget.tokens is not None and budget.spent_tokens + tokens > budget.tokens:
            return None
        if budget.usd is not None and budget.spent_usd + usd > budget.usd:
            return None
        accounts = accounts.set(name, budget.grown(tokens, usd))
    return accounts, held.grown(tokens, usd)


def take_back(accounts: Accounts, held: Held) -> Accounts:
    """The call was withdrawn: what it held for its output comes back. Its input may have been
    sent, and it may have been made: that stays charged."""
    return _over(accounts, held, held.taken, held.taken_usd)


def _over(accounts: Accounts, held: Held, tokens: int, usd: float) -> Accounts:
    for name in held.scopes:
        accounts = accounts.set(name, accounts[name].settled(held, tokens, usd))
    return accounts
