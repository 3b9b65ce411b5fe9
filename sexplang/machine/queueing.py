"""Branches that wait for a place, and how they get one."""

from sexplang.machine import exits
from sexplang.machine.branch import Branch, Path, Queued, identity
from sexplang.machine.cutting import Cutting
from sexplang.machine.jobs import ask_again, begin
from sexplang.machine.leaving import JOB
from sexplang.machine.places import Job
from sexplang.machine.stack import BOTTOM, Step


class Queueing(Cutting):
    """The branches of one delivery, and those of them that wait for a place."""

    def _place(self, branch: Branch, left: exits.Placed) -> None:
        """A job begins, or waits until it may."""
        context = left.s[3].placed(identity(branch.path, branch.ordinal))
        branch = Branch(branch.path, branch.ordinal + 1, branch.leaving)
        job = (left.function, left.span)
        step = (begin, job, BOTTOM, (JOB, left.k, left.s, context, None))
        if self.placing.admits(context.jobs or ()):
            self._go(branch, step)
        else:
            self._queue(branch, step)

    def _lacks_place(self, branch: Branch, left: exits.Asked) -> bool:
        """Whether what asks is part of a job that has no place; then it waits for one."""
        if self.placing.admits(left.s[3].jobs):
            return False
        asked = (left.operation, left.arguments, left.span)
        self._queue(branch, (ask_again, asked, left.k, left.s))
        return True

    def _queue(self, branch: Branch, step: Step) -> None:
        """The branch goes on with the step when its job has a place. The deadlines around it are
        counted down meanwhile."""
        queued = Queued(branch.path, branch.ordinal, branch.leaving, step)
        context = queued.s[3]
        if context.scopes:
            late = self.timing.late(context.scopes)
            if late is not None:
                self._break(branch, queued, late.scope, late.error)
                return
            self.timing.count(context.scopes, 1)
        self.placing.queue(context.jobs, branch.path)
        self.branches[branch.path] = queued

    def _admit(self) -> bool:
        """Gives the places that are free to those who came first. Whether anybody goes on."""
        paths = self.placing.admitted(self._stands)
        for path in sorted(paths, reverse=True):
            branch = self.branches[path]
            self._withdraw(branch)
            assert isinstance(branch, Queued)
            self._go(branch, branch.step)
        return bool(paths)

    def _stands(self, path: Path, job: Job) -> bool:
        branch = self.branches.get(path)
        if not isinstance(branch, Queued):
            return False
        jobs: Job = branch.step[3][3].jobs
        return jobs == job
