"""The SDK → loaded, in a thread of its own.

It takes seconds. Meanwhile deadlines pass as they should, and whoever waits can be interrupted: an
interruption in the middle of an import would be lost there, or leave half of it.
"""

from functools import cache
from importlib import import_module
from threading import Thread
from typing import TYPE_CHECKING

from sexplang.runtime.refusal import Refusal, make_task_failure

if TYPE_CHECKING:
    from sexplang.terms.effect import Request

_NEEDED = ("anthropic", "aiohttp")
_GLANCE = 0.01
"""Seconds between two looks whether it is there."""


class _Loader(Thread):
    def __init__(self) -> None:
        super().__init__(name="sexplang-sdk", daemon=True)
        self.why: Exception | None = None

    def run(self) -> None:
        try:
            for name in _NEEDED:
                import_module(name)
        # A broken installation may raise anything; the call that needs it says so.
        except Exception as error:
            self.why = error

    def check(self) -> None:
        """Raises a Refusal if it could not be loaded."""
        if self.why is not None:
            raise make_task_failure(
                "configuration_error",
                "broken-install",
                f"what servers are asked with cannot be loaded: {self.why}",
                hint="install it again: pip install --force-reinstall 'anthropic[aiohttp]', or use "
                "--model local",
            )


@cache
def start_loading() -> _Loader:
    """The one thread, which has begun."""
    thread = _Loader()
    thread.start()
    return thread


def is_loaded() -> bool:
    """Whether nobody has to wait for it. Raises a Refusal if it could not be loaded."""
    thread = start_loading()
    if thread.is_alive():
        return False
    thread.check()
    return True


def wait() -> None:
    """Waits for it where no event loop runs. Raises a Refusal if it cannot be loaded."""
    while not is_loaded():
        start_loading().join(_GLANCE)


async def wait_for_call(request: "Request") -> None:
    """Waits for it on behalf of a call, which has taken nothing until then. Raises as above."""
    from anyio import sleep

    from sexplang.runtime.driver.event_loop import follow
    from sexplang.runtime.models.attempts import Attempts

    follow(request, Attempts())
    try:
        while not is_loaded():
            await sleep(_GLANCE)
    except Refusal as refusal:
        refusal.attempts = 0
        raise
