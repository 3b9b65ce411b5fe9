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
    NO_MEMORY,
    Limits,
    plan_too_deep,
    too_many_frames,
    too_many_steps,
    too_much_held,
    too_much_made,
)
from sexplang.machine.stack import BOTTOM, Exit, Frame, Segment, Step
from sexplang.machine.unwind import SCOPE
from sexplang.terms.quota import ACCOUNT
from sexplang.terms.task import error_of
from sexplang.terms.values.value import Fault, Record

_SHORT = 64
_LONG = 20_000
"""The steps of a turn: of a run's first turn, and of all others."""

_AT_ONCE = 4_096
"""The greatest number of elements in one step of Python."""

_TICKS = (None,) * _LONG
"""The iterable of a turn, or its end. An iterator of a tuple can be set forward."""
_UNSEEN = 500_000
"""The elements made between two looks at the memory that the process holds and at the clock."""
_HARD = 16
"""The elements that are made in about the time of a step."""


STOPPED: ContextVar[Callable[[], bool]] = ContextVar("stopped", default=lambda: False)
"""Whether the host wants the run to be cancelled. It is asked after each turn, and before a branch
goes on."""

COMPUTING: ContextVar[bool] = ContextVar("computing", default=False)
"""Whether a run computes, and so will ask STOPPED."""


class Account:
    """The charges of a branch until it waits. It ends the run at a limit."""

    ticks: Any = iter(())
    """The steps that are left of a turn. Ctrl-C may come before the first one."""
    beyond = 0
    """The steps that may follow this turn."""
    over = 0
    """The steps taken in this turn beyond its last; below 0, the steps that were left when it
    ended."""
    is_over = False
    """Whether a turn ended because too much was made."""
    unseen = 0
    """The elements made since the last look at memory."""
    _walk: Any = iter(())
    """The elements that are visited at once."""
    _walked = 0
    """The number of these elements."""
    _effort = 0
    """The elements made and the work done since the visit began."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self.left = limits.allocation
        """The elements that may still be made."""

    def charge(self, size: int) -> None:
        self.left -= size
        if self.left < 0:
            raise LimitReached(too_much_made(self._limits.allocation))
        self._see(size)

    def work(self, count: int) -> None:
        left = self.ticks.__length_hint__() - count
        if left >= 0:
            self.ticks.__setstate__(_LONG - left)
        else:
            self._end(left)
            if self.over > self.beyond:
                raise LimitReached(too_many_steps(self._limits.steps))
        self._see(count * _HARD)

    def walk(self, items: tuple[Any, ...], start: int) -> Any:
        """Return the next elements from `start` on, for one turn of the loop. They end after an
        element that took much work, so they are the same wherever a slice ends."""
        chunk = items[start : start + _AT_ONCE]
        self._walk, self._walked, self._effort = iter(chunk), len(chunk), 0
        return self._walk

    def count_walked(self, known: int = 1) -> int:
        """Return how many of the elements have been begun, and count them as steps but for `known`.
        By default the first is known: it is the step that was taken to go on."""
        done: int = self._walked - self._walk.__length_hint__()
        if done > known:
            self.work(done - known)
        return done

    def _see(self, size: int) -> None:
        self._effort += size
        if self._effort > _UNSEEN:
            self._walked -= self._walk.__length_hint__()
            self._walk.__setstate__(_AT_ONCE)
        self.unseen += size
        if self.unseen > _UNSEEN:
            self.unseen = 0
            broken = look(self._limits)
            if broken is not None:
                raise LimitReached(broken)
            self.is_over = True
            self.stop()

    def stop(self) -> None:
        """End the turn with the current step."""
        self._end(self.ticks.__length_hint__())

    def _end(self, left: int) -> None:
        """End the turn with the current step."""
        self.ticks.__setstate__(_LONG)
        self.over -= left


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
            ticks.__setstate__(_LONG - length)
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
            if room < _LONG:  # a turn could fill it
                room, reached = _frames_left(limits, plan, step)
                if reached is not None:
                    return LimitReached(reached, step), used
            turn, length, turns = _roomy_turn, _LONG, turns + 1
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


def look(limits: Limits) -> Record | None:
    """Return the error of a run that holds too much memory, if it does."""
    if limits.held is not None and limits.held() > limits.memory:
        return too_much_held(limits.memory)
    return None
