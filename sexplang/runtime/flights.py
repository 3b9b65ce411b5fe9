"""Equal model calls in flight at the same time → one call, and its reply for all of them."""

from collections.abc import Awaitable, Callable
from typing import Any, TypeAlias

import anyio
from attrs import field

from sexplang.runtime.answers import Answer
from sexplang.runtime.journal import digest
from sexplang.runtime.refusal import Refusal
from sexplang.terms.effect import Request
from sexplang.terms.node import define


@define(eq=False)
class Flight:
    """A call that others wait for. It has a reply, a refusal, or neither: it was withdrawn."""

    id: str
    over: anyio.Event = field(factory=anyio.Event)
    reply: Any = None
    refusal: Refusal | None = None


Flights: TypeAlias = dict[str, Flight]
"""The calls in flight, by the model's name and the digest of what is asked."""

NOTHING = {"input_tokens": 0, "output_tokens": 0}


async def shared(
    flights: Flights, name: str, request: Request, call: Callable[[], Awaitable[Any]]
) -> Any:
    """The reply to a request: its own, or that of an equal one which is on its way. The latter has
    used nothing, and says in `shared` whose it is. An equal call that fails fails for all."""
    key = f"{name} {digest(request.operation, request.arguments)}"
    while (flight := flights.get(key)) is not None:
        await flight.over.wait()
        if flight.refusal is not None:
            raise flight.refusal
        if flight.reply is not None:
            return {**flight.reply, "usage": dict(NOTHING), "shared": flight.id}
    flight = flights[key] = Flight(request.id)
    try:
        reply = await call()
        flight.reply = reply.value if isinstance(reply, Answer) else reply
        return reply
    except Refusal as refusal:
        if refusal.error.fields["type"] == "TASK_FAILURE":  # not its own deadline
            flight.refusal = refusal
        raise
    finally:
        del flights[key]
        flight.over.set()
