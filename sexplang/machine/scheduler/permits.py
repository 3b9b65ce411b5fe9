"""Permits: how many jobs are done at a time, and which comes next.

`(with-permit f)` begins a job. Jobs begun inside of it are its children, so all of them stand
in trees, and each is named by its way from the root. A job is active while a branch waits for the
host in it or in one of its children. Active jobs without active children hold the permits: a child
works with the permit of its parent, which needs none meanwhile and has it back when the last of its
children is done. So a tree that has begun always has a permit, and no job ever waits for a permit
whose holder waits for that job.
"""

from collections.abc import Callable
from typing import Any, TypeAlias

from immutables import Map

from sexplang.terms.classes.node import node

Job: TypeAlias = tuple[str, ...]
"""A job: its identity, behind those of the jobs that it is a part of."""

Line: TypeAlias = tuple[Any, Any]
"""A queue, first come first served: linked pairs from the front, and from the back."""

_Waits = Callable[[Any, Job], bool]
"""Whether the branch at a path waits for the permit of a job."""


@node(eq=False)
class Permits:
    """The jobs that have a permit, and those that wait for one."""

    active: Map[Job, tuple[int, int]] = Map()
    """How many branches wait for the host right in it, and how many of its children are active."""
    used: int = 0
    queued: Map[Job, tuple[Any, ...]] = Map()
    """The branches, by path, that wait until it has a permit."""
    line: Line = (None, None)
    lines: Map[Job, Line] = Map()
    """Children that wait, by the holder of the permit that can be theirs."""


class PermitQueue:
    """The permits of one delivery. It is told of every branch that starts or stops waiting."""

    def __init__(self, permits: Permits, most: int) -> None:
        self._active = permits.active
        self._used = permits.used
        self._queued = permits.queued
        self._line = permits.line
        self._lines = permits.lines
        self._before = permits
        self._most = most
        self._touched: dict[Job, None] = {}

    @property
    def permits(self) -> Permits:
        """As they are now."""
        if self._active is self._before.active and self._queued is self._before.queued:
            return self._before
        return Permits(self._active, self._used, self._queued, self._line, self._lines)

    @property
    def touched(self) -> tuple[Job, ...]:
        """The jobs that may be over."""
        return tuple(self._touched)

    def touch(self, jobs: tuple[Job, ...]) -> None:
        """They may be, as a delivery knew that goes on here."""
        self._touched.update(dict.fromkeys(jobs))

    def acquire(self, job: Job) -> bool:
        """Whether what stands in the job may go on: it has a permit, or gets one now."""
        if job in self._active:
            return True
        held = self._find_active(job)
        more = not held or self._active[held][1] > 0
        if more and self._used >= self._most:
            return False
        if held:
            waiting, children = self._active[held]
            self._active = self._active.set(held, (waiting, children + 1))
        for length in range(len(held) + 1, len(job)):
            self._active = self._active.set(job[:length], (0, 1))
        self._active = self._active.set(job, (0, 0))
        self._used += more
        self._touched[job] = None
        return True

    def _find_active(self, job: Job) -> Job:
        """The nearest active job around it."""
        for length in range(len(job) - 1, 0, -1):
            if job[:length] in self._active:
                return job[:length]
        return ()

    def count(self, job: Job, by: int) -> None:
        """A branch begins or ends to wait for the host in the job."""
        waiting, children = self._active[job]
        self._active = self._active.set(job, (waiting + by, children))
        self._touched[job] = None

    def queue(self, job: Job, path: Any) -> None:
        """A branch waits until its job has a permit."""
        paths = self._queued.get(job, ())
        self._queued = self._queued.set(job, (*paths, path))
        if not paths:
            self._line = _put_behind(self._line, job)
            held = self._find_active(job)
            if held:
                line = self._lines.get(held, _EMPTY)
                self._lines = self._lines.set(held, _put_behind(line, job))

    def grant_free(self, waits: _Waits) -> list[Any]:
        """Takes back the permits of jobs that are over, and grants those that are free to the jobs
        that came first: the branches that go on."""
        found: list[Any] = []
        if self._touched:
            touched, self._touched = self._touched, {}
            for job in sorted(touched, key=len, reverse=True):
                self._release(job, waits, found)
        while self._used < self._most and self._line != _EMPTY:
            self._line, job, paths = self._first(self._line, waits)
            if paths:
                self._grant(job, paths, found)
        return found

    def _release(self, job: Job, waits: _Waits, found: list[Any]) -> None:
        """Releases the job's permit when its last branch has left, then those of its ancestors that
        are idle too. A child that waits comes before its parent."""
        while job in self._active:
            waiting, children = self._active[job]
            if children:
                return
            if job in self._lines:
                line, child, paths = self._first(self._lines[job], waits)
                if paths:
                    self._lines = self._lines.set(job, line)
                    self._grant(child, paths, found)
                    return
                self._lines = self._lines.delete(job)
            if waiting:
                return
            self._active = self._active.delete(job)
            job = job[:-1]
            siblings = 0
            if job:
                waiting, children = self._active[job]
                siblings = children - 1
                self._active = self._active.set(job, (waiting, siblings))
            if siblings or not job:
                self._used -= 1

    def _first(self, line: Line, waits: _Waits) -> tuple[Line, Job, list[Any]]:
        """The first of the line for which branches still wait: the line behind it, the job, and
        the branches."""
        while line != _EMPTY:
            job, line = _take_front(line)
            paths = [path for path in dict.fromkeys(self._queued.get(job, ())) if waits(path, job)]
            if paths:
                return line, job, paths
            if job in self._queued:
                self._queued = self._queued.delete(job)
        return line, (), []

    def _grant(self, job: Job, paths: list[Any], found: list[Any]) -> None:
        self._queued = self._queued.delete(job)
        self.acquire(job)
        found.extend(paths)


_EMPTY: Line = (None, None)


def _put_behind(line: Line, job: Job) -> Line:
    return line[0], (job, line[1])


def _take_front(line: Line) -> tuple[Job, Line]:
    """The first of a queue that is not empty, and those behind it."""
    front, back = line
    if front is None:
        while back is not None:
            front, back = (back[0], front), back[1]
    return front[0], (front[1], back)
