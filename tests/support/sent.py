"""The programs of `spent` behind the whole runtime and the SDK: what arrives at a loopback server.

One thing happens at a time, and not before every call that was begun has arrived. So a call that is
withdrawn was made, and what is reported can be held against what arrived, to the last call.
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
from support.spent import LIMITS, allowed, paying, price, unlike

from sexplang.hosts.progress import Progress
from sexplang.machine import Suspended, start
from sexplang.pipeline import meter, tasks
from sexplang.runtime import Retries, Settings, drive, performers
from sexplang.runtime.events import Finished, Started, Withdrawn
from sexplang.terms.effect import Request
from sexplang.terms.models import worded

ONCE = Retries(attempts=1, overloads=1_000_000)


@cache
def server() -> MessagesServer:
    """The one server of all runs of this process, which ends with it. Every tenth call fails."""
    random = Random(0)
    found = MessagesServer(
        lambda body: {"status": 400} if random.random() < 0.1 else {"content": [], "usage": USAGE}
    )
    atexit.register(found.__enter__().__exit__)
    return found


_TOLD = re.compile("([0-9]+) (?:calls?|withdrawn)")

USAGE = {"input_tokens": 7, "output_tokens": 30}


@define
class Watched:
    """A run, and what has arrived at the server since it began."""

    server: MessagesServer
    before: int
    begun: int = 0
    """Model calls that have been started."""
    over: set[str] = field(factory=lambda: {""})
    progress: Progress = field(factory=lambda: Progress(StringIO(), live=False))
    last: str = ""
    """The request that was answered last."""

    @property
    def arrived(self) -> int:
        return len(self.server.journal) - self.before

    @property
    def told(self) -> int:
        """The calls that a person is told on standard error: their ends, and those withdrawn."""
        return sum(map(int, _TOLD.findall(self.progress.summary())))

    def event(self, event: Any) -> None:
        self.progress(event)
        if isinstance(event, Started):
            self.begun += event.operation == "model"
        elif isinstance(event, (Finished, Withdrawn)):
            self.over.add(event.id)

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
    watched = Watched(server(), len(server().journal))
    settings = Settings(run_id=str(seed), models=worded(f"{server().url}#m"), retries=ONCE)
    table = {**performers(settings), **_world(Random(seed))}
    table |= {name: watched.in_turn(table[name]) for name in ("model", "timer", *NAMES)}
    outcome = start(built(text), {}, tasks(), LIMITS, budget, meter(price))
    if isinstance(outcome, Suspended):
        outcome = drive(outcome, table, on_event=watched.event)
    found = unlike(watched.arrived, budget, outcome)
    if found is None and watched.told != watched.arrived:
        found = f"{watched.arrived} calls were made, and told is {watched.progress.summary()!r}"
    return found and f"{budget}\n{text}\n{found}"


NAMES = ("ask", "note", "alpha", "beta", "gamma", "enter", "leave")


def _world(random: Random) -> dict[str, Callable[[Request], Any]]:
    """Who answers what no model is asked; a second of a deadline takes two milliseconds."""

    async def waited(request: Request) -> None:
        await anyio.sleep(0.002 * request.arguments[0])

    async def said(request: Request) -> int:
        await anyio.sleep(0.001 * random.randrange(4))
        return random.randrange(-3, 10)

    return {"timer": waited, **dict.fromkeys(NAMES, said)}
