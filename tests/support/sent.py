"""The programs of `spent` behind the whole runtime and the SDK: what arrives at a loopback server.

One thing happens at a time, and not before every call that was begun has arrived. So a call that is
withdrawn was made, and what is reported can be held against what arrived, to the last call. The
server refuses some calls, closes on some, and cuts some replies. Of four runs one makes further
attempts, and one is interrupted: what arrives of that is no more than what is reported.
"""

import atexit
import re
from collections.abc import Awaitable, Callable
from functools import cache
from io import StringIO
from random import Random
from typing import Any

import anyio
from attrs import define, field
from support.messages_server import MessagesServer
from support.running import built
from support.spent import LEAST, LIMITS, allowed, paying, price, unlike

from sexplang.hosts.cli.output import ROOT
from sexplang.hosts.terminal.progress import Progress
from sexplang.machine import Done, Failed, Suspended, start
from sexplang.pipeline.pipeline import meter, tasks
from sexplang.runtime import Journal, Retries, Settings, drive, performers
from sexplang.runtime.driver.event_loop import finish
from sexplang.runtime.driver.events import Finished, Retrying, Started, Withdrawn
from sexplang.runtime.driver.run import Run
from sexplang.runtime.journal.fold import fold
from sexplang.terms.effect import Request
from sexplang.terms.model.roles import read_models

ONCE = Retries(attempts=1, overloads=1_000_000)
THRICE = Retries(attempts=3, first=0.002, overloads=1_000_000)


@cache
def server() -> MessagesServer:
    """The one server of all runs of this process, which ends with it."""
    random = Random(0)
    whole = {"content": [], "usage": USAGE}
    odd = [{"status": 400}, {"fail": "close"}, {"cut": 1, "then": "torn", **whole}]
    found = MessagesServer(lambda body: random.choice(odd) if random.random() < 0.2 else whole)
    atexit.register(found.__enter__().__exit__)
    return found


_TOLD = re.compile("([0-9]+) (?:calls?|withdrawn)")

USAGE = {"input_tokens": 7, "output_tokens": 30}


@define
class Watched:
    """A run, and what has arrived at the server since it began."""

    server: MessagesServer
    name: str
    """The model's, which no other run asks: what arrives late of another one does not count."""
    before: int
    begun: int = 0
    """Model calls that have been started."""
    again: int = 0
    """Further attempts at them."""
    tokens: int = 0
    """The fewest that they took which have ended."""
    interrupt: Callable[[], object] = lambda: None
    """Is told of each that has been started."""
    over: set[str] = field(factory=lambda: {""})
    progress: Progress = field(factory=lambda: Progress(StringIO(), live=False))
    last: str = ""
    """The request that was answered last."""

    @property
    def arrived(self) -> int:
        return sum(body["model"] == self.name for body in self.server.journal[self.before :])

    @property
    def told(self) -> int:
        """The calls that a person is told on standard error: their ends, and those withdrawn."""
        return sum(map(int, _TOLD.findall(self.progress.summary())))

    def event(self, event: Any) -> None:
        self.progress(event)
        if isinstance(event, Started):
            self.begun += event.operation == "model"
            self.interrupt()
        elif isinstance(event, Retrying):
            self.again += 1
        elif isinstance(event, (Finished, Withdrawn)):
            self.over.add(event.id)
            for name, count in event.usage.items() if event.operation == "model" else ():
                self.tokens += count * (LEAST if name == "uncounted" else 1)

    def in_turn(self, perform: Callable[[Request], Any]) -> Callable[[Request], Awaitable[Any]]:
        """The same performer, whose reply or failure waits for its turn."""

        async def answered(request: Request) -> Any:
            try:
                reply = await perform(request)
            except Exception:
                await self.turn(request)
                raise
            await self.turn(request)
            return reply

        return answered

    async def turn(self, request: Request) -> None:
        """What was answered before has been delivered, and all that has begun has arrived."""
        seen = 0
        while seen < 2:
            await anyio.sleep(0.0003)
            is_quiet = self.last in self.over and self.arrived >= self.begun
            seen = seen + 1 if is_quiet else 0
        self.last = request.id


def sent(seed: int) -> str | None:
    """The calls that arrive at a server are those that are allowed and reported."""
    budget, text = allowed(seed), paying(seed)
    watched, journal = Watched(server(), f"m{seed}", len(server().journal)), Journal()
    retries = THRICE if seed % 4 == 1 else ONCE
    models = read_models(f"{server().url}#{watched.name}")
    given = Settings(run_id=str(seed), models=models, retries=retries, on_event=watched.event)
    table = {**performers(given), **_world(Random(seed))}
    table |= {name: watched.in_turn(table[name]) for name in ("model", "timer", *NAMES)}
    begun = outcome = start(built(text), {}, tasks(), LIMITS, budget, meter(lambda: price))
    if isinstance(begun, Suspended) and seed % 4 == 3:
        outcome = _interrupted(Run(begun, table, journal, watched.event), watched, Random(seed))
        found = _less(watched, budget, outcome)
    elif isinstance(begun, Suspended):
        outcome = drive(begun, table, journal=journal, on_event=watched.event)
        found = unlike(watched.begun, budget, outcome) or _other(watched)
        again = fold(begun, journal.rows)
        if found is None and _spent(again) != _spent(outcome):
            found = f"{_spent(outcome)} was spent, and when it is repeated {_spent(again)}"
    else:
        found = unlike(0, budget, outcome)
    account = outcome.accounts[ROOT]
    if found is None and account.is_metered and watched.tokens > account.spent_tokens:
        found = f"{watched.tokens} tokens were told, and charged are {account.spent_tokens}"
    return found and f"{budget}\n{text}\n{found}"


def _interrupted(run: Run, watched: Watched, random: Random) -> Done | Failed:
    """The end of a run that is cancelled when so many requests have been started, and has little
    time to clean up."""
    left, grace = random.randrange(1, 12), random.choice((0.0, 0.01, 1.0))

    async def cancelled() -> None:
        with anyio.CancelScope() as scope:

            def count() -> None:
                nonlocal left
                left -= 1
                if left == 0:
                    scope.cancel()

            watched.interrupt = count
            await finish(run, grace)
        await anyio.sleep(0.003)  # what is on its way arrives

    anyio.run(cancelled)
    return run.outcome


def _less(watched: Watched, budget: dict[str, Any], ended: Done | Failed) -> str | None:
    """What is not reported of a run that was interrupted."""
    calls = ended.accounts[ROOT].spent_calls
    if calls < watched.arrived or watched.told < watched.arrived:
        said = watched.progress.summary()
        return f"{watched.arrived} calls were made, and {calls} are reported; told is {said!r}"
    return unlike(calls, budget, ended)


def _other(watched: Watched) -> str | None:
    """How what arrived differs from what is told."""
    begun, arrived = watched.begun, watched.arrived
    if begun == watched.told and begun <= arrived <= begun + watched.again:
        return None
    said = watched.progress.summary()
    return f"{begun} calls were begun, {arrived} arrived, and told is {said!r}"


def _spent(outcome: Any) -> Any:
    return {name: scope.spent for name, scope in outcome.accounts.items()}


NAMES = ("ask", "note", "alpha", "beta", "gamma", "enter", "leave")


def _world(random: Random) -> dict[str, Callable[[Request], Any]]:
    """Who answers what no model is asked; a second of a deadline takes two milliseconds."""

    async def waited(request: Request) -> None:
        await anyio.sleep(0.002 * request.arguments[0])

    async def said(request: Request) -> int:
        await anyio.sleep(0.001 * random.randrange(4))
        return random.randrange(-3, 10)

    return {"timer": waited, **dict.fromkeys(NAMES, said)}
