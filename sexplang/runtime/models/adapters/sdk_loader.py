"""The background import of the SDKs.

The import takes seconds. In a thread, deadlines still fire and waits can be interrupted. An
interrupted import in the main thread would be incomplete or lose the interruption.
"""

from functools import cache
from importlib import import_module
from threading import Thread
from typing import TYPE_CHECKING

from sexplang.runtime.models.protocols import Protocol
from sexplang.runtime.refusal import Refusal, make_task_failure

if TYPE_CHECKING:
    from sexplang.terms.effect import Request

_GLANCE = 0.01
"""Seconds between two checks for completion."""


class _Loader(Thread):
    def __init__(self, protocol: Protocol) -> None:
        super().__init__(name="sexplang-sdk", daemon=True)
        self.protocol = protocol
        self.why: Exception | None = None

    def run(self) -> None:
        try:
            for name in self.protocol.packages:
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
                f"the Python packages for model servers cannot be loaded: {self.why}",
                hint="install them again: pip install --force-reinstall "
                f"{_INSTALLED[self.protocol.scheme]}, or use --model local",
            )


_INSTALLED = {"anthropic": "'anthropic[aiohttp]'", "openai": "'openai[aiohttp]'"}


@cache
def start_loading(protocol: Protocol) -> _Loader:
    """Start the one loader thread of a protocol's SDK and return it."""
    thread = _Loader(protocol)
    thread.start()
    return thread


def is_loaded(protocol: Protocol) -> bool:
    """Whether the SDK is loaded. Raises a Refusal if the import failed."""
    thread = start_loading(protocol)
    if thread.is_alive():
        return False
    thread.check()
    return True


def wait(protocol: Protocol) -> None:
    """Wait for the SDK outside an event loop. Raises a Refusal if the import failed."""
    while not is_loaded(protocol):
        start_loading(protocol).join(_GLANCE)


async def wait_for_call(request: "Request", protocol: Protocol) -> None:
    """Wait for the SDK before a call, which has used nothing so far. Raises as `wait` does."""
    from anyio import sleep

    from sexplang.runtime.driver.event_loop import follow_attempts
    from sexplang.runtime.models.retry import Attempts

    follow_attempts(request, Attempts())
    try:
        while not is_loaded(protocol):
            await sleep(_GLANCE)
    except Refusal as refusal:
        refusal.attempts = 0
        raise
