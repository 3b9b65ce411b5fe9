"""Places: how many jobs are done at a time, and who comes next.

`(in-place f)` begins a job. Jobs that are begun inside of it are its children, so all of them stand
in trees, and each is named by its way from the root. A job is there while a branch waits for the
host in it or in one of its children. Jobs that are there and have no children there hold the
places: a child works in the place of its parent, which needs none meanwhile and has it back when
the last of its children is done. So a tree that has begun always has a place, and nobody ever
waits for a place whose holder waits for him.
"""

from collections.abc import Callable
from typing import Any, TypeAlias

from immutables import Map

from sexplang.terms.node import node

Job: TypeAlias = tuple[str, ...]
"""A job: its identity, behind those of the jobs that it is a part of."""

Line: TypeAlias = tuple[Any, Any]
"""Who waits, first come first served: linked pairs from the front, and from the back."""

_Stands = Callable[[Any, Job], bool]
"""Whether the branch at a path waits for the place of a job."""


@node(eq=False)
class Places:
    """Who has a place, and who waits for one."""

    there: Map[Job, tuple[int, int]] = Map()
    """How many branches wait for the host right in it, and how many of its children are there."""
    used: int = 0
    queued: Map[Job, tuple[Any, ...]] = Map()
    """The branches, by path, that wait until it has a place."""
    line: Line = (None, None)
    lines: Map[Job, Line] = Map()
    """Children that wait, by who holds the place that can be theirs."""


class Placing:
    """The places of one delivery. Every branch that starts or stops waiting is told."""

    def __init__(self, places: Places, most: int) -> None:
        self._there = places.there
        self._used = places.used
        self._queued = places.queued
        self._line = places.line
        self._lines = places.lines
        self._before = places
        self._most = most
        self._touched: dict[Job, None] = {}

    @property
    def places(self) -> Places:
        """As they are now."""
        if self._there is self._before.there and self._queued is self._before.queued:
            return self._before
        return Places(self._there, self._used, self._queued, self._line, self._lines)

    @property
    def touched(self) -> tuple[Job, ...]:
        """The jobs that may be over."""
        return tuple(self._touched)

    def touch(self, jobs: tuple[Job, ...]) -> None:
        """They may be, as a delivery knew that goes on here."""
        self._touched.update(dict.fromkeys(jobs))

    def admits(self, job: Job) -> bool:
        """Whether what stands in the job may go on: it has a place, or gets one now."""
        if job in self._there:
            return True
        held = self._around(job)
        more = not held or self._there[held][1] > 0
        if more and self._used >= self._most:
            return False
        if held:
            waiting, children = self._there[held]
            self._there = self._there.set(held, (waiting, children + 1))
        for length in range(len(held) + 1, len(job)):
            self._there = self._there.set(job[:length], (0, 1))
        self._there = self._there.set(job, (0, 0))
        self._used += more
        self._touched[job] = None
        return True

    def _around(self, job: Job) -> Job:
        """The nearest job around it that is there."""
        for length in range(len(job) - 1, 0, -1):
            if job[:length] in self._there:
                return job[:length]
        return ()

    def count(self, job: Job, by: int) -> None:
        """A branch begins or ends to wait for the host in the job."""
        waiting, children = self._there[job]
        self._there = self._there.set(job, (waiting + by, children))
        self._touched[job] = None

    def queue(self, job: Job, path: Any) -> None:
        """A branch waits until its job has a place."""
        paths = self._queued.get(job, ())
        self._queued = self._queued.set(job, (*paths, path))
        if not paths:
            self._line = _behind(self._line, job)
            held = self._around(job)
            if held:
                line = self._lines.get(held, _NOBODY)
                self._lines = self._lines.set(held, _behind(line, job))

    def admitted(self, stands: _Stands) -> list[Any]:
        """Takes back the places that nobody works in any more, and gives those that are free to
        who came first: the branches that go on."""
        found: list[Any] = []
        if self._touched:
            touched, self._touched = self._touched, {}
            for job in sorted(touched, key=len, reverse=True):
                self._leave(job, stands, found)
        while self._used < self._most and self._line != _NOBODY:
            self._line, job, paths = self._first(self._line, stands)
            if paths:
                self._admit(job, paths, found)
        return found

    def _leave(self, job: Job, stands: _Stands, found: list[Any]) -> None:
        """The job is over if nobody is there any more, and so may be those that it is a part of.
        A child that waits comes before its parent."""
        while job in self._there:
            waiting, children = self._there[job]
            if children:
                return
            if job in self._lines:
                line, child, paths = self._first(self._lines[job], stands)
                if paths:
                    self._lines = self._lines.set(job, line)
                    self._admit(child, paths, found)
                    return
                self._lines = self._lines.delete(job)
            if waiting:
                return
            self._there = self._there.delete(job)
            job = job[:-1]
            siblings = 0
            if job:
                waiting, children = self._there[job]
                siblings = children - 1
                self._there = self._there.set(job, (waiting, siblings))
            if siblings or not job:
                self._used -= 1

    def _first(self, line: Line, stands: _Stands) -> tuple[Line, Job, list[Any]]:
        """The first of the line for which branches still wait: the line behind it, the job, and
        the branches."""
        while line != _NOBODY:
            job, line = _front(line)
            paths = [path for path in dict.fromkeys(self._queued.get(job, ())) if stands(path, job)]
            if paths:
                return line, job, paths
            if job in self._queued:
                self._queued = self._queued.delete(job)
        return line, (), []

    def _admit(self, job: Job, paths: list[Any], found: list[Any]) -> None:
        self._queued = self._queued.delete(job)
        self.admits(job)
        found.extend(paths)


_NOBODY: Line = (None, None)


def _behind(line: Line, job: Job) -> Line:
    return line[0], (job, line[1])


def _front(line: Line) -> tuple[Job, Line]:
    """The first of a line that is not empty, and those behind it."""
    front, back = line
    if front is None:
        while back is not None:
            front, back = (back[0], front), back[1]
    return front[0], (front[1], back)
