"""Budgets: the accounts of a run, and a model call's cost, reserved before it and settled after it.

The accounts are those of deadlines, too, by the identity of their scope's entry. The stack and the
context hold only the identity, so a continuation that is resumed twice spends from the same account
and meets the same deadline. The waiting branches decide which deadlines are counted down: a timer
is open while a branch waits under it.

The estimate of the input learns from replies. The corrections are a part of the run's state, so a
run that is repeated refuses the same calls.
"""

from collections.abc import Callable
from marshal import dumps
from typing import Any, Protocol, TypeAlias

from immutables import Map

from sexplang.terms.classes.node import evolve, node
from sexplang.terms.effect import Part, Request
from sexplang.terms.plan import PlanNode
from sexplang.terms.quota import GREATEST
from sexplang.terms.task import error_record
from sexplang.terms.texts.nearest import did_you_mean
from sexplang.terms.values.abbreviation import abbreviate
from sexplang.terms.values.value import Fault, Record, Value

Spent: TypeAlias = tuple[int, int, float, int, int, float]
"""Calls, tokens and US dollars that are spent, and the part of each that is reserved by unfinished
calls."""

UNSPENT: Spent = (0, 0, 0.0, 0, 0, 0.0)


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
    spent: Spent = UNSPENT
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


# -- Reservations ---------------------------------------------------------------------------------


class Price(Protocol):
    """A function from a model's name and tokens to US dollars, or None if the price is unknown.
    Input tokens that a prompt cache keeps (`written`) or gives (`read`) are not in `taken`."""

    def __call__(
        self, model: str, taken: int, given: int, written: int = 0, read: int = 0, /
    ) -> float | None: ...


@node
class Meter:
    """What a model call may cost, known before it is made. Pure functions.

    estimate(payload) -> input tokens, rather too many than too few
    load_price() -> the price function; only a budget of money asks for it
    """

    estimate: Callable[[Any], int]
    load_price: Callable[[], Price]


def _no_price(
    model: str, taken: int, given: int, written: int = 0, read: int = 0, /
) -> float | None:
    return None


def rough_estimate(payload: Any) -> int:
    """Return input tokens from the size of the payload: one for three bytes."""
    try:
        return len(dumps(payload, 2)) // 3 + 1  # 2: equal payloads are equally long, shared or not
    except ValueError:
        return _deep_estimate(payload)


def _deep_estimate(payload: Any) -> int:
    """Return about the same for a payload that nests too deep for that."""
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


METER = Meter(rough_estimate, lambda: _no_price)

Learned = Map[str, tuple[int, int]]
"""By model: the input tokens that were estimated at first and that were reported, in total."""


def correct(guess: int, learned: tuple[int, int]) -> int:
    """Return an estimate corrected by the reports so far: their share, and a quarter more."""
    guessed, reported = learned
    return -(-guess * reported * 5 // (guessed * 4)) + 8


_WHOLE, _MEASURED = ("calls", "tokens"), ("seconds", "usd")


_EXAMPLE = "for example (with-budget {calls: 20 tokens: 50000 usd: 0.5 seconds: 60} …)"


def check_budget(given: Value, example: str = _EXAMPLE) -> dict[str, Value]:
    """Return a checked budget from a program, a command or a caller. `example` is for its hint.
    Raises Fault."""
    if not isinstance(given, dict) or not given:
        raise Fault("wrong-type", f"{abbreviate(given)} is no budget", hint=example)
    for name, value in given.items():
        if name not in _WHOLE + _MEASURED:
            raise no_bound(name, example)
        if not _is_amount(value, name):
            kind = "an integer" if name in _WHOLE else "a number"
            words = f"`{name}` of a budget is {kind} from 0 on, not {abbreviate(value)}"
            raise Fault("wrong-type", words, hint=example)
    return given


def no_bound(name: str, example: str) -> Fault:
    """Return the fault of a bound that no budget has."""
    guess = did_you_mean(name[:20], _WHOLE + _MEASURED)
    return Fault(
        "wrong-type", f"`{name}` is no bound of a budget", hint=f"{guess} {example}".lstrip()
    )


def timeout(given: Value) -> dict[str, Value]:
    """Return the checked argument of `with-timeout` as settings of a scope. Raises Fault."""
    if not _is_amount(given, "seconds"):
        message = f"`with-timeout` takes a number of seconds from 0 on, not {abbreviate(given)}"
        raise Fault("wrong-type", message, hint="for example (with-timeout 60 …)")
    more = f"allow more there, (with-timeout {2 * given or 1:g} …), or catch `seconds` and go on"
    return {"seconds": given, "more": f"{more} with what there is"}


def _is_amount(value: Value, name: str) -> bool:
    is_number = type(value) is int or (type(value) is float and name in _MEASURED)
    return is_number and 0 <= value <= GREATEST


_NOTHING: Learned = Map()


@node
class Refused:
    """A call that does not fit: the scope that breaks, and its error."""

    scope: str
    error: Record


def reserve(
    accounts: Accounts,
    budgets: list[Scope],
    payload: Any,
    meter: Meter,
    learned: Learned = _NOTHING,
) -> tuple[Accounts, Any, Held] | Refused:
    """Reserve a model call in its budgets, outermost first. Return the accounts, the payload with
    the output tokens that are left, and the reservation; or the refusal. Raises Fault if the
    payload does not bound its output tokens."""
    is_metered = False
    for budget in budgets:
        bounds, calls = budget.bounds, budget.spent[0]
        if bounds.calls is not None and calls >= bounds.calls:
            return Refused(budget.id, budget.error("calls", bounds.calls, calls + 1))
        if bounds.tokens is not None or bounds.usd is not None:
            is_metered = True
    names = tuple([budget.id for budget in budgets])
    if is_metered:
        held = _reserve(budgets, names, payload, meter, learned)
        if isinstance(held, Refused):
            return held
        most = held.tokens - held.taken
        if most and payload.get("max_tokens") != most:
            payload = {**payload, "max_tokens": most}
    else:
        held = Held(names, "", 0, 0.0)
    tokens, usd = held.tokens, held.usd
    for budget in budgets:
        accounts = accounts.set(budget.id, budget.with_change(1, tokens, usd, 1, tokens, usd))
    return accounts, payload, held


def _reserve(
    budgets: list[Scope], names: tuple[str, ...], payload: Any, meter: Meter, learned: Learned
) -> Held | Refused:
    """Return the greatest usage of a call. Its output is the most that all budgets have room
    for."""
    is_table = isinstance(payload, dict)
    model = str(payload.get("model") or "") if is_table else ""
    guess, given = meter.estimate(payload), _most(payload)
    taken = correct(guess, learned[model]) if model in learned else guess
    price: Callable[[int], float | None] | None = None
    for budget in budgets:
        bounds = budget.bounds
        if bounds.tokens is not None:
            used = budget.spent[1] + taken
            if used + bool(given) > bounds.tokens:
                return Refused(budget.id, budget.error("tokens", bounds.tokens, used + bool(given)))
            if given > bounds.tokens - used:
                given = bounds.tokens - used
        if bounds.usd is not None:
            price = price or _price(meter, model, taken, _cache_writes(payload, taken))
            fitting = _fitting(budget, given, price)
            if isinstance(fitting, Refused):
                return fitting
            given = fitting
    if price is None:
        return Held(names, model, taken + given, 0.0, guess, taken, input=taken)
    usd, input_usd = price(given) or 0.0, price(0) or 0.0
    return Held(names, model, taken + given, usd, guess, taken, input_usd, True, taken, input_usd)


def _price(meter: Meter, model: str, taken: int, written: int) -> Callable[[int], float | None]:
    """Return the function from output tokens to the cost of a call whose input is known."""
    price, fresh = meter.load_price(), 0 if written else taken
    return lambda output: price(model, fresh, output, written)


def _cache_writes(payload: Any, taken: int) -> int:
    """Return the input tokens that the server is asked to cache. They cost more."""
    from sexplang.terms.model.payload import cache_marks

    if not isinstance(payload, dict) or not any(cache_marks(payload)):
        return 0
    return taken + _dearer(taken) if payload.get("cache") == "1h" else taken


def _dearer(hour: int) -> int:
    """Return the extra tokens that the higher price of cached input equals: input kept for an hour
    costs twice as much, and for five minutes one and a quarter as much."""
    return -(-hour * 3 // 5)


def _most(payload: Any) -> int:
    """Return the output tokens that a call asks for: none for embeddings."""
    most = payload.get("max_tokens") if isinstance(payload, dict) else 0
    if isinstance(payload, dict) and payload.get("embed") is not None:
        return 0
    if most is None:
        return 4096
    if type(most) is not int or most < 1:
        raise Fault(
            "wrong-type",
            "under a budget of tokens or money, `model` takes a table; its `max_tokens`, if it is "
            "there, is an integer from 1 on",
        )
    return most


def _fitting(budget: Scope, given: int, price: Callable[[int], float | None]) -> int | Refused:
    """Return the output tokens that a budget of money has room for, from one to `given`."""
    limit, spent = budget.bounds.usd, budget.spent_usd
    assert limit is not None
    while True:
        cost = price(given)
        if cost is None:
            return Refused(budget.id, budget.error("usd", limit, None))
        if spent + cost <= limit:
            return given
        if given <= 1:
            return Refused(budget.id, budget.error("usd", limit, round(spent + cost, 6)))
        given //= 2


def settle(
    accounts: Accounts, held: Held, reply: Value, meter: Meter, learned: Learned
) -> tuple[Accounts, Learned]:
    """Replace a reservation by the usage that the reply reports, or by the reservation itself if it
    reports none. Correct the estimates of later calls."""
    usage = reply.get("usage") if isinstance(reply, dict) else None
    if not isinstance(usage, dict):
        return _over(accounts, held, held.tokens, held.usd), learned
    counts = _counts(usage)
    told = counts[1] + counts[2] + counts[3]
    if "lost" in reply and isinstance(reply["lost"], dict):
        # Attempts before the successful one teach nothing.
        told -= sum(_counts(reply["lost"])[1:4])
    if held.guess and told > 0:
        guessed, reported = learned.get(held.model, (0, 0))
        learned = learned.set(held.model, (guessed + held.guess, reported + told))
    tokens, usd = _took(counts, held, meter)
    if held.is_priced and (hour := _for_an_hour(usage)):
        counts[2] += _dearer(hour)
        usd = _took(counts, held, meter)[1]
    return _over(accounts, held, tokens, usd), learned


_COUNTS = {
    "output_tokens": 0,
    "input_tokens": 1,
    "cache_creation_input_tokens": 2,
    "cache_read_input_tokens": 3,
    "uncounted": 4,
}


def _counts(usage: dict[str, Value]) -> list[int]:
    """Return the reported output, the parts of the input, and the number of attempts that may have
    been sent without a reported input."""
    counts = [0, 0, 0, 0, 0]
    for name, count in usage.items():
        at = _COUNTS.get(name)
        if at is not None and type(count) is int and count > 0:
            counts[at] = count
    return counts


def _for_an_hour(usage: dict[str, Value]) -> int:
    told = usage.get("cache_creation")
    count = told.get("ephemeral_1h_input_tokens") if isinstance(told, dict) else 0
    return count if type(count) is int and count > 0 else 0


def _took(counts: list[int], held: Held, meter: Meter) -> tuple[int, float]:
    """Return the reported tokens, and US dollars if a budget counts them. Unreported usage is the
    estimate."""
    given, fresh, written, read, uncounted = counts
    tokens = given + fresh + written + read + uncounted * held.input
    if not held.is_priced:
        return tokens, 0.0
    usd = meter.load_price()(held.model, fresh, given, written, read) or 0.0
    return tokens, usd + uncounted * held.input_usd


def refund(accounts: Accounts, held: Held, error: Value, meter: Meter) -> Accounts:
    """Settle a failed call: charge the usage that its error reports and the input of attempts that
    may have been sent. It was made, so it counts as a call."""
    details = error.fields.get("details") if isinstance(error, Record) else None
    usage = details.get("usage") if isinstance(details, dict) else None
    tokens, usd = _took(_counts(usage), held, meter) if isinstance(usage, dict) else (0, 0.0)
    return _over(accounts, held, tokens, usd)


def reserve_next_attempt(
    accounts: Accounts, held: Held, usage: dict[str, Value], meter: Meter
) -> tuple[Accounts, Held] | None:
    """Reserve the next attempt at a call beside the usage of a failed one. Return None if a budget
    has no room for it."""
    tokens, usd = _took(_counts(usage), held, meter)
    for name in held.scopes:
        budget = accounts[name]
        bounds = budget.bounds
        if bounds.tokens is not None and budget.spent_tokens + tokens > bounds.tokens:
            return None
        if bounds.usd is not None and budget.spent_usd + usd > bounds.usd:
            return None
        accounts = accounts.set(name, budget.with_estimate(tokens, usd))
    return accounts, held.with_estimate(tokens, usd)


def take_back(accounts: Accounts, held: Held, part: Part | None, meter: Meter) -> Accounts:
    """Settle a withdrawn call. If it was made, it counts, and its usage is that reported by the
    server. If none is reported, the input may have been sent and stays charged."""
    if part is not None and "unmade" in part:
        for name in held.scopes:
            accounts = accounts.set(name, accounts[name].without_call(held))
        return accounts
    if part is None:
        return _over(accounts, held, held.taken, held.taken_usd)
    counts = _counts(part["usage"])
    if "uncounted" not in part:
        return _over(accounts, held, *_took(counts, held, meter))
    counts[4] += 1
    tokens, usd = _took(counts, held, meter)
    return _over(accounts, held, max(tokens, held.taken), max(usd, held.taken_usd))


def _over(accounts: Accounts, held: Held, tokens: int, usd: float) -> Accounts:
    """Settle a call that took so much of its reservation."""
    more, dearer = tokens - held.tokens, usd - held.usd
    for name in held.scopes:
        scope = accounts[name].with_change(0, more, dearer, -1, -held.tokens, -held.usd)
        accounts = accounts.set(name, scope)
    return accounts
