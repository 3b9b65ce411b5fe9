"""Samples: each test is run many times against a model, and its rate of success is reported."""

import math
from collections.abc import Callable, Mapping
from time import perf_counter
from typing import Any

from sexplang.hosts.testing.cases import Test
from sexplang.hosts.testing.live import Live
from sexplang.hosts.testing.test_run import Result, run_test
from sexplang.runtime.driver.events import model_name_of
from sexplang.terms.classes.node import define, evolve, field, frozen
from sexplang.terms.effect import Request
from sexplang.terms.values.value import Value

Price = Callable[..., float | None]


class BudgetSpent(Exception):
    """The end of all samples at a bound of the budget."""


@define(eq=False)
class Account:
    """The model calls of all samples, and the bounds of their sum."""

    bounds: Mapping[str, Any]
    price: Price
    since: float = field(factory=perf_counter)
    calls: int = 0
    tokens: int = 0
    usd: float | None = 0.0
    """None if the price of a call is not known."""
    stopped: str | None = None
    """The bound at which the samples ended."""

    def _find_bound(self) -> str | None:
        """Return the bound that is reached, or None. Without a price, dollars are: what cannot be
        counted is not spent."""
        used = {
            "calls": self.calls,
            "tokens": self.tokens,
            "usd": math.inf if self.usd is None else self.usd,
            "seconds": perf_counter() - self.since,
        }
        return next((name for name, most in self.bounds.items() if used[name] >= most), None)

    def count_calls(self, answer: Live) -> Live:
        """Return the function with its calls counted. It raises BudgetSpent if none is left."""

        def answer_and_count(request: Request) -> Value | None:
            self.stopped = self._find_bound()
            if self.stopped is not None:
                raise BudgetSpent
            reply = answer(request)
            if reply is not None:
                self._count(request, reply)
            return reply

        return answer_and_count

    def _count(self, request: Request, reply: Value) -> None:
        self.calls += 1
        usage = reply.get("usage") if isinstance(reply, dict) else None
        counts = usage if isinstance(usage, dict) else {}
        taken, given = [counts.get(name) or 0 for name in ("input_tokens", "output_tokens")]
        self.tokens += taken + given
        cost = self.price(model_name_of(request), taken, given)
        self.usd = None if cost is None or self.usd is None else self.usd + cost

    def plain(self) -> dict[str, Any]:
        """Return the counts as data, for `--json`."""
        return {"calls": self.calls, "tokens": self.tokens, "usd": self.usd, "spent": self.stopped}


@frozen
class Rate:
    """The samples of a test."""

    test: Test
    results: tuple[Result, ...]

    @property
    def passed(self) -> int:
        return sum(each.is_success for each in self.results)

    @property
    def interval(self) -> tuple[float, float]:
        """The interval that holds the rate of success, with 95 % confidence (Wilson)."""
        return wilson(self.passed, len(self.results))

    def is_success(self, least: float) -> bool:
        """Whether there are samples, and the share of those that passed is at least `least`."""
        return bool(self.results) and self.passed >= least * len(self.results)

    def plain(self, least: float) -> dict[str, Any]:
        """Return the rate as data, for `--json`, with the findings of the first failure."""
        failed = next((each for each in self.results if not each.is_success), None)
        return {
            "name": self.test.name,
            "file": self.test.source.name,
            "line": self.test.span.begin.line,
            "passed": self.is_success(least),
            "samples": len(self.results),
            "successes": self.passed,
            "interval": [round(each, 4) for each in self.interval],
            "seconds": round(sum([each.seconds for each in self.results]), 6),
            "findings": [each.plain() for each in failed.findings] if failed is not None else [],
        }

    def __str__(self) -> str:
        low, high = [f"{100 * each:.0f}" for each in self.interval]
        place = f"{self.test.source.name}:{self.test.span.begin.line}"
        counted = f"{self.passed} of {len(self.results)}"
        return f"{counted:>9}  {low:>3} to {high:>3} %  {self.test.name}  {place}"


_Z = 1.959964
"""The quantile of the normal distribution for 95 %."""


def wilson(passed: int, count: int) -> tuple[float, float]:
    """Return the Wilson interval of a rate, from 0 to 1."""
    if count == 0:
        return 0.0, 1.0
    rate, part = passed / count, _Z * _Z / count
    middle = rate + part / 2
    reach = _Z * math.sqrt(rate * (1 - rate) / count + part / (4 * count))
    low, high = (middle - reach) / (1 + part), (middle + reach) / (1 + part)
    return max(0.0, low), min(1.0, high)


def sample(
    tests: list[Test], count: int, answer: Live, account: Account
) -> tuple[list[Rate], bool]:
    """Run each test `count` times, all of them once before any is run again, until the budget is
    spent or Ctrl-C. Return the rates in the order of the tests, and whether it was Ctrl-C. A test
    that asks no model is run once."""
    results: list[list[Result]] = [[] for _ in tests]
    asking = [True] * len(tests)
    answering, is_cut = account.count_calls(answer), False
    try:
        for _ in range(count):
            for at, each in enumerate(tests):
                if asking[at]:
                    before = account.calls
                    results[at].append(run_test(evolve(each, answering=answering)))
                    asking[at] = account.calls > before
    except BudgetSpent:
        pass
    except KeyboardInterrupt:
        is_cut = True
    rates = [Rate(each, tuple(found)) for each, found in zip(tests, results, strict=True)]
    return rates, is_cut
