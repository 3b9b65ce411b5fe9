"""Async functions of a caller, which are told of a cancellation once and may clean up."""

from typing import Any

CLEANUP = 5.0
"""Seconds in which an async function that is cancelled can clean up."""


async def await_whole(reply: Any) -> Any:
    """Return what an async function gives. A cancellation is told to it once, and it has CLEANUP
    seconds to clean up: an event loop would cancel each wait of its `finally` again."""
    import asyncio

    import anyio

    try:
        own = asyncio.current_task()
    except RuntimeError:  # the loop is trio's
        return await reply
    is_over = False

    async def call() -> Any:
        try:
            return await reply
        except Exception:
            if not is_over:  # else it is no error of the run any more
                raise

    task = asyncio.ensure_future(call())
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        if own is not None and not own.cancelling():
            raise RuntimeError("the function was cancelled, and not by the run") from None
        is_over = True
        task.cancel()
        with anyio.CancelScope(shield=True):
            await asyncio.wait([task], timeout=CLEANUP)
        raise
