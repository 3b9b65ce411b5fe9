"""The background import of the SDK.

The import takes seconds. In a thread, deadlines still fire and waits can be interrupted. An
interrupted import in the main thread would be incomplete or lose the interruption.
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
"""Seconds between two checks for completion."""


class _Loader(Thread):
    def __init__(self) -> None:
        super().__init__(name="sexplang-sdk", daemon=True)
        self.why: Exception | None = None

    def run(self) -> None:
        try:
            for name in _NEEDED:
                import_module(name)
        # A broken installation may raise any error; the call reports it.
        except Exception as error:
            self.why = error

    def check(self) -> None:
        """Raise a Refusal if the import failed."""
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
    """Start the one loader thread and return it."""
    thread = _Loader()
    thread.start()
    return thread


def is_loaded() -> bool:
    """Whether the SDK is loaded. Raises a Refusal if the import failed."""
    thread = start_loading()
    if thread.is_alive():
        return False
    thread.check()
    return True


def wait() -> None:
    """Wait for the SDK outside an event loop. Raises a Refusal if the import failed."""
    while not is_loaded():
        start_loading().join(_GLANCE)


async def wait_for_call(request: "Request") -> None:
    """Wait for the SDK before a call, which has used nothing so far. Raises as `wait` does."""
    from anyio import sleep

    from sexplang.runtime.driver.event_loop import follow_attempts
    from sexplang.runtime.models.retry import Attempts

    follow_attempts(request, Attempts())
    try:
        while not is_loaded():
            await sleep(_GLANCE)
    except Refusal as refusal:
        refusal.attempts = 0
        raise
