"""The clock of a preview: time passes only when nothing else is at work.

So requests beside a `sleep` are shown before the sleep ends.
"""

from collections.abc import Callable
from typing import Any

_QUIET = 5
"""Turns of the event loop without activity before time passes. A reply takes two turns to lead to
the next request."""


class VirtualClock:
    """The elapsed seconds and the wake-up times of sleepers."""

    def __init__(self) -> None:
        self._now = 0.0
        self._until: list[float] = []
        self._busy = 0
        self._quiet = 0

    async def sleep(self, seconds: float) -> None:
        """Sleep until all shorter sleeps are over and no performer is at work."""
        import anyio

        mine = self._now + seconds
        self._until.append(mine)
        self._quiet = 0
        try:
            while self._busy or mine > min(self._until) or self._quiet < _QUIET:
                await anyio.sleep(0.001 if self._busy else 0)
                if mine == min(self._until):
                    self._quiet += 1
            self._now = mine
        finally:
            self._until.remove(mine)
            self._quiet = 0

    async def perform_busy(self, performer: Callable[[Any], Any], request: Any) -> Any:
        """Call a performer and await its reply; time does not pass meanwhile."""
        from inspect import isawaitable

        self._busy += 1
        try:
            given = performer(request)
            return await given if isawaitable(given) else given
        finally:
            self._busy -= 1
            self._quiet = 0
