"""A seed to a program that spends wherever it can, and what its budget and its host say of it.

Law: no more is spent than the budget of the run allows, and it reports all that was sent: replies,
failures, attempts that were made again, calls that were withdrawn, whenever the run is left.
"""

from random import Random
from typing import Any

from attrs import define, field
from support.running import built

from sexplang.hosts.cli.output import ROOT, spending
from sexplang.machine import Done, Failed, Limits, Suspended, halt, hold_attempt, start
from sexplang.pipeline.pipeline import meter, tasks
from sexplang.terms.effect import UNCOUNTED, Request
from sexplang.terms.task import error_record
from sexplang.terms.values.value import Record
from sexplang.testing.program_writer import EVERYTHING, Shape, program

SPENT = Shape(allowed=EVERYTHING | {"spent"})
PLANNED = Shape(allowed=SPENT.allowed | {"plans"})

SAY = """
(define (say x)
  (begin (model {max_tokens: 40 messages: [{role: "user" content: (str "say " (number? x))}]})
         (if (number? x) x 0)))
"""

PLANS = '''
(define plan """
  (define (say x) (model {max_tokens: 40 messages: [{role: "user" content: (str "plan " x)}]}))
  (try (map say xs) (finally (try (par-map say xs) (finally (loop 3 (say 0))))))
""")
(define (planned budget xs)
  (bind outcome (eval-plan plan inputs: {xs: xs} allow: ['model] budget: budget))
  (if (equal? outcome.status "done") (length outcome.value) -1))
'''

LIMITS = Limits(steps=1_000_000)
LEAST = 10
"""Tokens that no call of these programs is estimated to take less than."""
FAILED = error_record("TASK_FAILURE", "odd", "nobody knows")


def price(model: str, taken: int, given: int, written: int = 0, read: int = 0) -> float:
    """US dollars, as a model of middle size costs."""
    return 3e-6 * taken + 15e-6 * given + 3.75e-6 * written + 0.3e-6 * read


def paying(seed: int, shape: Shape = PLANNED, preamble: str = SAY + PLANS) -> str:
    """The text of a program; whatever would ask a model with a number says it instead."""
    text = program(Random(seed), shape).text
    return preamble + text.replace("((model ", "((MODEL ").replace("(model ", "(say ").replace(
        "((MODEL ", "((model "
    )


def allowed(seed: int) -> dict[str, Any]:
    """The budget of a run. Most runs come to its end."""
    random = Random(seed)
    bounds = {
        "calls": random.randrange(9),
        "tokens": random.randrange(600),
        "usd": random.random() * 0.006,
    }
    others = random.sample(["tokens", "usd"], random.choice((0, 0, 1, 2)))
    return {name: bounds[name] for name in ("calls", *others)}


@define
class Border:
    """A host that answers a run's requests in any order, and counts what it was shown."""

    random: Random
    shown: dict[str, Request] = field(factory=dict)
    """The model calls that it was asked for, by their ids."""
    tokens: int = 0
    """What its replies have reported, and those that it cut."""
    uncounted: int = 0
    """Attempts that it has read, and no more."""
    lost: dict[str, dict[str, int]] = field(factory=dict)
    """By the ids of calls, what attempts took that failed."""

    def driven(self, outcome: Any, cancel_after: int | None, halt_after: int) -> Done | Failed:
        while isinstance(outcome, Suspended):
            self.see(outcome)
            if cancel_after == 0:
                outcome, cancel_after = outcome.cancel(so_far=self.so_far), None
                continue
            if cancel_after is None and halt_after == 0:
                return halt(outcome, None, self.so_far)
            if cancel_after is None:
                halt_after -= 1
            else:
                cancel_after -= 1
            request = self.random.choice(outcome.requests)
            outcome = self.answered(outcome, request)
        return outcome

    def see(self, outcome: Suspended) -> None:
        self.shown |= {each.id: each for each in outcome.requests if each.operation == "model"}

    def so_far(self, id: str) -> Any:
        usage = self.lost.pop(id, {})
        if self.random.random() < 0.5:
            return {**UNCOUNTED, "usage": usage}
        most = self.shown[id].arguments[0]["max_tokens"]
        return {"usage": _both(usage, self.used(most)), "text": ""}

    def used(self, most: int) -> dict[str, int]:
        """What a server counts; where it closes, that nobody has."""
        if self.random.random() < 0.3:
            self.uncounted += 1
            return {"uncounted": 1}
        usage = {
            "input_tokens": self.random.randint(1, 8),
            "output_tokens": self.random.randint(1, most),
        }
        self.tokens += sum(usage.values())
        return usage

    def answered(self, outcome: Suspended, request: Request) -> Any:
        if request.operation == "model":
            return self.said(outcome, request)
        if request.operation == "timer":
            return outcome.resume(request.id, None, so_far=self.so_far)
        if self.random.random() < 0.1:
            return outcome.fail(request.id, FAILED, so_far=self.so_far)
        return outcome.resume(request.id, self.random.randrange(-3, 10), so_far=self.so_far)

    def said(self, outcome: Suspended, request: Request) -> Any:
        most, before = request.arguments[0]["max_tokens"], self.lost.pop(request.id, {})
        if self.random.random() < 0.2:
            took = self.used(most)
            again = hold_attempt(outcome, request.id, took)
            usage = _both(before, took)
            if again is not None and self.random.random() < 0.7:
                self.lost[request.id] = usage
                return again
            details = {"usage": usage}
            error = Record("error", {**FAILED.fields, "details": details})
            return outcome.fail(request.id, error, so_far=self.so_far)
        usage = _both(before, self.used(most))
        reply = {"content": [], "stop_reason": "end_turn", "usage": usage, "model": "m"}
        reply |= {"lost": before} if before else {}
        return outcome.resume(request.id, reply, so_far=self.so_far)


def _both(one: dict[str, int], other: dict[str, int]) -> dict[str, int]:
    return {name: one.get(name, 0) + other.get(name, 0) for name in {**one, **other}}


def counted(seed: int) -> str | None:
    """At the border: the calls that a host was shown are those that are reported."""
    random, budget, text = Random(seed), allowed(seed), paying(seed)
    host = Border(random)
    cancel_after = random.randrange(12) if seed % 3 == 0 else None
    outcome = start(built(text), {}, tasks(), LIMITS, budget, meter(lambda: price))
    ended = host.driven(outcome, cancel_after, random.randrange(30))
    account = ended.accounts[ROOT]
    found = unlike(len(host.shown), budget, ended)
    if found is None and host.tokens > account.spent_tokens:
        found = f"{host.tokens} tokens were taken, and {account.spent_tokens} are reported"
    least = host.tokens + host.uncounted * LEAST
    if found is None and account.is_metered and least > account.spent_tokens:
        found = f"{least} tokens were sent at least, and {account.spent_tokens} are reported"
    if found is None and (above := _above(account)):
        found = f"{above} is above what is allowed"
    return found and f"{budget}\n{text}\n{found}"


def _above(account: Any) -> str:
    """What is spent beyond its bound. An estimate is never less than what is counted here."""
    return ", ".join(
        [f"{spent} {name}" for name, limit, spent in account.spending() if spent > limit + 1e-9]
    )


def unlike(sent: int, budget: dict[str, Any], ended: Done | Failed) -> str | None:
    """How what was sent differs from what was allowed and what is reported."""
    account = ended.accounts[ROOT]
    if sent > budget["calls"]:
        return f"{sent} calls were made, and {budget['calls']} are allowed"
    if sent != account.spent_calls:
        return f"{sent} calls were made, and {account.spent_calls} are reported"
    if any([account.held_calls, account.held_tokens, account.held_usd]):
        return f"something is held when all is over: {account}"
    said = spending(ended)
    if sent and f"{sent} of {budget['calls']} calls" not in said:
        return f"{sent} calls were made, and a person is told {said!r}"
    return None
