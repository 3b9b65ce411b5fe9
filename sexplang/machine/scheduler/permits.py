"""Permits: how many jobs are done at a time, and which comes next.

`(with-permit f)` begins a job. The jobs begun inside it are its children, so jobs form trees, and
the path from the root names each. A job is active while a branch waits for the host in it or in one
of its children. The active jobs without active children hold the permits, and `used` is their
number. A child works with the permit of its parent; the parent needs none meanwhile and has it back
when its last child is done. So a tree that has begun always has a permit, and no job waits for a
permit whose holder waits for that job.

The law `shared_out` (`tests/support/laws.py`) derives the active jobs and `used` from the branches.
"""

from collections.abc import Callable
from typing import Any, TypeAlias

from immutables import Map

from sexplang.terms.classes.node import node

Job: TypeAlias = tuple[str, ...]
"""A job: its identity after those of the jobs around it."""

Line: TypeAlias = tuple[Any, Any]
"""A queue, first come first served: linked pairs from the front, and from the back."""

_Waits = Callable[[Any, Job], bool]
"""Whether the branch at a path waits for the permit of a job."""


@node(eq=False)
class Permits:
    """The jobs that have a permit, and those that wait for one."""

    active: Map[Job, tuple[int, int]] = Map()
    """The number of branches that wait for the host directly in the job, and of its active
    children."""
    used: int = 0
    """The number of active jobs without active children."""
    queued: Map[Job, tuple[Any, ...]] = Map()
    """The branches, by path, that wait for the job's permit."""
    line: Line = (None, None)
    lines: Map[Job, Line] = Map()
    """The waiting children, by the holder of the permit that they can have."""


class PermitQueue:
    """The permits of one delivery. It must be called for every branch that starts or stops
    waiting."""

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
        """The current permits."""
        if self._active is self._before.active and self._queued is self._before.queued:
            return self._before
        return Permits(self._active, self._used, self._queued, self._line, self._lines)

    @property
    def touched(self) -> tuple[Job, ...]:
        """The jobs that may be over."""
        return tuple(self._touched)

    def touch(self, jobs: tuple[Job, ...]) -> None:
        """Add jobs that may be over, known from a delivery that goes on here."""
        self._touched.update(dict.fromkeys(jobs))

    def acquire(self, job: Job) -> bool:
        """Return whether work in the job may go on: the job has a permit or gets one now."""
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
        """Return the nearest active job around a job."""
        for length in range(len(job) - 1, 0, -1):
            if job[:length] in self._active:
                return job[:length]
        return ()

    def count(self, job: Job, by: int) -> None:
        """Count a branch that begins or ends to wait for the host in the job."""
        waiting, children = self._active[job]
        self._active = self._active.set(job, (waiting + by, children))
        self._touched[job] = None

    def queue(self, job: Job, path: Any) -> None:
        """Let a branch wait for its job's permit."""
        paths = self._queued.get(job, ())
        self._queued = self._queued.set(job, (*paths, path))
        if not paths:
            self._line = _put_behind(self._line, job)
            held = self._find_active(job)
            if held:
                line = self._lines.get(held, _EMPTY)
                self._lines = self._lines.set(held, _put_behind(line, job))

    def grant_free(self, waits: _Waits) -> list[Any]:
        """Take back the permits of jobs that are over, and grant the free ones to the jobs that
        came first. Return the branches that go on."""
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
        """Release the job's permit when its last branch has left, then those of its idle ancestors.
        A waiting child comes before its parent."""
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
        """Return the first of the line that branches still wait for: the line behind it, the job
        and the branches."""
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
    """Return the first of a nonempty queue, and the rest."""
    front, back = line
    if front is None:
        while back is not None:
            front, back = (back[0], front), back[1]
    return front[0], (front[1], back)
