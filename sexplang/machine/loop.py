"""The loop: steps on the registers until an Exit, within the limits of steps and frames.

A step is a call of a function, a turn of a loop or an element that a primitive visits. The return
of a value to the frame on top is no step. Code that the compiler puts in place of a call counts as
that call.

Values are immutable, so steps make no cycles of Python objects, and the garbage collector is off
within a turn: with a deep stack or much data, Python would search it all again and again. It runs
between turns, more and more rarely.

CPython 3.11 to 3.13 keep Python frames in small chunks and map and unmap one whenever a call
crosses the border between two. At unlucky depths of the caller's stack this makes the same work
many times slower. A function whose code asks for a large stack gets a chunk of its own. To enter it
costs some ten microseconds, so a short turn does without.
"""

import gc
from collections.abc import Callable
from contextvars import ContextVar
from types import FunctionType
from typing import Any

from sexplang.machine.errors import Failure, blame, name_task
from sexplang.machine.exits import ENDS, LimitReached, SliceEnd, StepInterrupt
from sexplang.machine.handlers import fail
from sexplang.machine.limits import (
    LONG,
    NO_MEMORY,
    Account,
    Limits,
    look,
    plan_too_deep,
    too_many_frames,
    too_many_steps,
)
from sexplang.machine.stack import BOTTOM, Exit, Frame, Segment, Step
from sexplang.machine.unwind import SCOPE
from sexplang.terms.quota import ACCOUNT
from sexplang.terms.task import error_of
from sexplang.terms.values.value import Fault, Record

_SHORT = 64
"""The steps of a run's first turn; all others have LONG."""


_TICKS = (None,) * LONG
"""The iterable of a turn, or its end. An iterator of a tuple can be set forward."""


STOPPED: ContextVar[Callable[[], bool]] = ContextVar("stopped", default=lambda: False)
"""Whether the host wants the run to be cancelled. It is asked after each turn, and before a branch
goes on."""

COMPUTING: ContextVar[bool] = ContextVar("computing", default=False)
"""Whether a run computes, and so will ask STOPPED."""


def run(
    step: Step,
    limits: Limits,
    used: int,
    plan: tuple[str, int] | None = None,
    until: int | None = None,
    rest: tuple[int, int] | None = None,
) -> tuple[Exit, int]:
    """Take steps until an exit, or until `until` steps are used. Return the exit and the number of
    steps used so far.

    `plan` is the scope of a program from a model that this work is a part of, and the steps it has
    left. `rest` is the rest of the last slice, as SliceEnd has it.
    """
    account = Account(limits)
    outer = ACCOUNT.set(account)
    most = limits.steps if plan is None else min(limits.steps, used + plan[1])
    length, end = _SHORT, most if until is None else min(most, until)
    room = 0
    if rest is not None:
        room, account.left = rest
    turn: Callable[..., Any] = _turn
    turns, collects = 0, False
    try:
        while True:
            if length > end - used:
                length = end - used
            if length <= 0 or (until is not None and account.is_over):
                if used < most:
                    return SliceEnd(step, (room, account.left)), used
                return LimitReached(too_many_steps(limits.steps), step), used
            ticks: Any = iter(_TICKS)
            ticks.__setstate__(LONG - length)
            account.ticks = ticks
            account.beyond, account.over, account.is_over = most - used - length, 0, False
            if collects:
                gc.disable()
            step = turn(step, ticks)
            used += length - ticks.__length_hint__() + account.over
            if isinstance(step, Exit):
                return step, used
            room -= length
            broken = look(limits)
            if broken is not None:
                return LimitReached(broken, step), used
            if STOPPED.get()():  # during the look
                return StepInterrupt(step), used
            if room < LONG:  # a turn could fill it
                room, reached = _frames_left(limits, plan, step)
                if reached is not None:
                    return LimitReached(reached, step), used
            turn, length, turns = _roomy_turn, LONG, turns + 1
            if turns == 1:
                collects = gc.isenabled()
            elif collects and turns & (turns - 1) == 0:
                gc.enable()
    finally:
        ACCOUNT.reset(outer)
        if collects:
            gc.enable()


def _turn(step: Step, ticks: Any) -> Step | Exit:
    fn, a, k, s = step
    while True:
        try:
            for _ in ticks:
                fn, a, k, s = fn(a, k, s)
                while fn is k[0]:
                    fn, a, k, s = fn(a, k, s)
            return fn, a, k, s
        except Exit as left:
            if left.__class__ in ENDS:
                left.record_step(fn, a, k, s)  # type: ignore[attr-defined]
            # Its traceback would keep all Python frames of the step alive: a fifth of the time
            # of a request.
            left.__traceback__ = None
            return left
        except Fault as fault:
            fn, a, k, s = _fail, Failure(fault, fn, a), k, s
        except MemoryError:
            fn, a, k, s = _out_of_memory, (fn, a), k, s


def _fail(failure: Failure, k: Frame, s: Segment) -> Step:
    fault = name_task(failure.fault, s[3].linked)
    return fail(blame(error_of(fault), k, s, failure.fn), k, s, resumable=False)


def _out_of_memory(_: Any, k: Frame, s: Segment) -> Step:
    raise LimitReached(NO_MEMORY)


_roomy_turn = FunctionType(_turn.__code__.replace(co_stacksize=600_000), globals(), "_roomy_turn")


def stop_turn() -> None:
    """End the current turn, if any, with the current step. A signal handler may call this."""
    account = ACCOUNT.get()
    if account is not None:
        account.stop()


def _frames_left(
    limits: Limits, plan: tuple[str, int] | None, step: Step
) -> tuple[int, Record | None]:
    """Return how many more frames there may be, or the error of the run or its plan at that
    limit."""
    _, _, k, s = step
    room = limits.frames - _depth(k, s)
    if room < 0:
        return room, too_many_frames(limits.frames)
    if plan is not None:
        room = min(room, limits.plan_frames - _depth_above(plan[0], k, s))
        if room < 0:
            return room, plan_too_deep(limits.plan_frames)
    return room, None


def _depth(k: Frame | None, s: Segment) -> int:
    """Return the number of frames and segments."""
    count = 0
    while True:
        count += 1 if k is BOTTOM else _frames(k)
        if s is None:
            return count
        k, s = s[1], s[2]


def _depth_above(scope: str, k: Frame | None, s: Segment) -> int:
    """Return the number of frames and segments above the form of a scope; 0 if it is not on this
    stack."""
    count = 0
    while s is not None:
        count += 1 if k is BOTTOM else _frames(k)
        if s[4] == scope and s[0] is SCOPE:
            return count
        k, s = s[1], s[2]
    return 0


def _frames(k: Any) -> int:
    """Return the number of frames in a segment. Long chains are counted eight at a time."""
    count = 0
    while k is not None and count < _SHORT:
        k = k[1]
        count += 1
    try:
        while k is not None:
            k = k[1][1][1][1][1][1][1][1]
            count += 8
    except TypeError:  # fewer than eight are left
        while k is not None:
            k = k[1]
            count += 1
    return count
