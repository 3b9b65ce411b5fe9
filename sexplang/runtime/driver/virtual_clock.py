"""The time of a preview: nobody waits for it, and it passes only when nothing else is at work, so
that what stands beside a `sleep` is seen before it is over."""

from collections.abc import Callable
from typing import Any

_QUIET = 5
"""How many turns of the event loop nothing must have happened in: a reply takes two to lead to the
next request."""


class VirtualClock:
    """The seconds that have passed, and who sleeps until when."""

    def __init__(self) -> None:
        self._now = 0.0
        self._until: list[float] = []
        self._busy = 0
        self._quiet = 0

    async def sleep(self, seconds: float) -> None:
        """Sleeps until all who sleep less long are awake again, and nobody is at work."""
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

    async def meanwhile(self, performer: Callable[[Any], Any], request: Any) -> Any:
        """What a performer gives that may have to wait."""
        from inspect import isawaitable

        self._busy += 1
        try:
            given = performer(request)
            return await given if isawaitable(given) else given
        finally:
            self._busy -= 1
            self._quiet = 0
