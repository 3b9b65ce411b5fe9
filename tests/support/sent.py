"""The programs of `spent`, behind the whole runtime and the SDK: the calls that arrive at a loopback
server are those that a person is told of.
"""

from collections.abc import Callable
from functools import cache
from random import Random
from typing import Any

import anyio
from support.running import built
from support.spent import LIMITS, allowed, paying, price, unlike
from support.wide_server import WideServer

from sexplang.machine import Suspended, start
from sexplang.pipeline import meter, tasks
from sexplang.runtime import Retries, Settings, drive, performers
from sexplang.runtime.events import Finished, Withdrawn
from sexplang.terms.effect import Request
from sexplang.terms.models import worded


@cache
def server() -> WideServer:
    """The one server of all runs of this process, which ends with it."""
    return WideServer(latency=0.001, spread=True, failing=0.1)


QUICK = Retries(attempts=1, overloads=1_000_000)


def sent(seed: int) -> str | None:
    """Behind the runtime and the SDK: the calls that arrive at a server are those reported."""
    budget, text, host = allowed(seed), paying(seed), server()
    host.counts()
    events: list[Any] = []
    settings = Settings(run_id=str(seed), models=worded(f"{host.url}#m"), retries=QUICK)
    table = {**performers(settings), **_world(Random(seed))}
    outcome = start(built(text), {}, tasks(), LIMITS, budget, meter(price))
    if isinstance(outcome, Suspended):
        outcome = drive(outcome, table, on_event=events.append)
    arrived = host.counts()["requests"]
    found = unlike(arrived, budget, outcome)
    over = [each for each in events if isinstance(each, (Finished, Withdrawn))]
    told = sum(each.operation == "model" for each in over)
    if found is None and told < arrived:
        found = f"{arrived} calls were made, and {told} are told"
    return found and f"{budget}\n{text}\n{found}"


def _world(random: Random) -> dict[str, Callable[[Request], Any]]:
    """Who answers what no model is asked; a second of a deadline takes two milliseconds."""

    async def waited(request: Request) -> None:
        await anyio.sleep(0.002 * request.arguments[0])

    async def said(request: Request) -> int:
        await anyio.sleep(0.001 * random.randrange(4))
        return random.randrange(-3, 10)

    names = ("ask", "note", "alpha", "beta", "gamma", "enter", "leave")
    return {"timer": waited, **dict.fromkeys(names, said)}
