"""Seeded runs of 64 branches under random budgets, against a server that is slow and fails."""

from functools import cache
from random import Random
from typing import Any

from attrs import frozen
from support.sources import no_files
from support.spent import price
from support.wide_server import WideServer

from sexplang.machine import Done, Failed, Limits, start
from sexplang.pipeline.pipeline import build, meter
from sexplang.runtime import Retries, Settings, drive, performers
from sexplang.terms.model.roles import read_models
from sexplang.terms.source import Source

WIDTH = 64

BRANCHES = (
    "(attempt (begin (ask i 0) (ask i 1)))",
    "(begin (ask i 0) (ask i 1))",
    "(attempt (race (ask i 0) (ask i 1)))",
    "(attempt (with-budget {calls: 1 tokens: 300} (begin (ask i 0) (ask i 1))))",
    "(attempt (with-timeout 0.004 (begin (ask i 0) (ask i 1))))",
    "(attempt (hedge (lambda () (ask i (random 1000000))) after: 0.003 n: 3))",
    '(attempt (par (ask i 0) (begin (ask i 1) (raise {reason: "odd"}))))',
)

PROGRAM = """
(define-input seed type: integer)
(define (ask i n)
  (model {max_tokens: 40
          messages: [{role: "user" content: (format "run ~a, branch ~a, call ~a" seed i n)}]}))
(par-map (lambda (i) (sleep (* 0.001 (random 40))) BRANCH) (range WIDTH))
"""

QUICK = Retries(attempts=3, first=0.004, most=0.02, alone=0.01)


@frozen
class Seen:
    """What one run was allowed and did."""

    budget: dict[str, Any]
    outcome: Done | Failed
    distinct: int
    """Different calls that arrived at the server."""

    @property
    def leaks(self) -> list[Any]:
        """The accounts in which something is reserved at the end."""
        accounts = self.outcome.accounts.values()
        return [each for each in accounts if each.held_calls or each.held_tokens or each.held_usd]

    @property
    def over(self) -> list[str]:
        """What went above its limit."""
        account = self.outcome.accounts["0"]
        above = [name for name, limit, spent in account.spending() if spent > limit]
        if self.distinct > self.budget.get("calls", self.distinct):
            above.append("calls at the server")
        return above


@cache
def _program(branch: str) -> Any:
    text = PROGRAM.replace("BRANCH", branch).replace("WIDTH", str(WIDTH))
    return build(Source("budgeted.sexp", text), no_files)


def drawn(seed: int) -> tuple[str, dict[str, Any]]:
    """What each branch does, and the run's budget."""
    random = Random(seed)
    bounds = {
        "calls": random.randint(0, 2 * WIDTH),
        "tokens": random.randint(0, 9_000),
        "usd": random.random() * 0.09,
    }
    names = random.sample(sorted(bounds), random.randint(1, 3))
    return random.choice(BRANCHES), {name: bounds[name] for name in names}


def run(seed: int, server: WideServer) -> Seen:
    """One run, from its start to its end."""
    branch, budget = drawn(seed)
    server.counts()
    settings = Settings(run_id=str(seed), models=read_models(f"{server.url}#m"), retries=QUICK)
    program = _program(branch)
    outcome = start(program, {"seed": seed}, None, Limits(), budget, meter(lambda: price))
    ended = drive(outcome, performers(settings), parallel=WIDTH) if _waits(outcome) else outcome
    return Seen(budget, ended, server.counts()["distinct"])


def _waits(outcome: Any) -> bool:
    return hasattr(outcome, "requests")
