"""A function to the seconds that it takes; what all benchmarks share."""

import gc
from collections.abc import Callable
from statistics import median
from sys import gettrace, settrace
from time import process_time
from types import FrameType, FunctionType
from typing import Any

Timed = Callable[[], Any]


def seconds(function: Timed) -> float:
    """Processor time of one call, from a roomy frame, garbage collected before."""
    gc.collect()
    begun = process_time()
    function()
    return process_time() - begun


def opcodes(function: Timed) -> int:
    """The opcodes of Python that a call takes, whatever else the machine does."""
    count = 0

    def watch(frame: FrameType, event: str, _: Any) -> Any:
        nonlocal count
        if event == "call":
            frame.f_trace_opcodes, frame.f_trace_lines = True, False
        count += event == "opcode"
        return watch

    before = gettrace()
    settrace(watch)
    try:
        function()
    finally:
        settrace(before)
    return count


def _roomy(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function with a frame so large that CPython maps one chunk for all frames below it.

    Without this, a program runs up to 30 times slower when the caller happens to stand where
    CPython's 16 KiB chunks of frames end (CPython 3.11 to 3.13).
    """
    code = function.__code__.replace(co_stacksize=600_000)
    return FunctionType(code, function.__globals__, function.__name__, function.__defaults__)


@_roomy
def in_turns(functions: list[Timed], rounds: int) -> list[list[float]]:
    """The seconds of each function in each round, so that all meet the same weather."""
    times: list[list[float]] = [[] for _ in functions]
    for _ in range(rounds):
        for function, found in zip(functions, times, strict=True):
            found.append(seconds(function))
    return times


def interleaved(functions: list[Timed], rounds: int) -> list[float]:
    """The median seconds of each function, measured in turns."""
    return [median(found) for found in in_turns(functions, rounds)]


def ratio(times: list[float], others: list[float]) -> float:
    """The median of how many times longer the one took than the other in the same round: what
    slows both down leaves it as it is."""
    return median([one / other for one, other in zip(times, others, strict=True)])
