"""The use of time zones by a run. Their version is one of the terms of a run, and only the run
itself shows whether it needs them."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from sexplang.terms.classes.node import define


@define(eq=False)
class ZoneUse:
    """The zones that a run has used."""

    version: str | None = None
    """The version of the zones; None while the run has looked up none."""


ZONE_USE: ContextVar[ZoneUse | None] = ContextVar("zone_use", default=None)
"""The zones of the current run."""


@contextmanager
def observe_zones() -> Iterator[ZoneUse]:
    """Observe the zones that a run uses in this context. A run inside of it has its own."""
    use = ZoneUse()
    token = ZONE_USE.set(use)
    try:
        yield use
    finally:
        ZONE_USE.reset(token)
