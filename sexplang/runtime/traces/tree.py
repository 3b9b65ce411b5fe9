"""What is told of a run → spans that stand in one another.

A span's parent is the work in the context of its request, on whose behalf it is performed. What
happens to be running says nothing.
"""

from collections.abc import Mapping
from time import monotonic, time
from typing import TYPE_CHECKING, Any

from sexplang.machine import Outcome, span_events_of
from sexplang.machine.scheduler.branches import Path, path_of
from sexplang.runtime.driver.answers import Watch, failure
from sexplang.runtime.driver.events import Event, Retrying
from sexplang.runtime.journal.journal import Row
from sexplang.terms.classes.node import define, field
from sexplang.terms.effect import Request
from sexplang.terms.task import error_record
from sexplang.terms.values.value import Record
from sexplang.terms.work import BRANCHES, RUN, Begins, Ends, Work

if TYPE_CHECKING:
    from sexplang.runtime.traces.sink import Sink

CLOCK = "timer"
"""The operation of deadlines: they are no part of what a run does, and get no span."""


@define(eq=False)
class _Node:
    """A span and where it stands. `path` is that of the branch in which it began."""

    span: Any
    above: "_Node | None"
    path: Path
    own: Path | None = None
    """That of the branch that it is."""
    failing: Record | None = None
    """How the last thing below it ended."""


@define(eq=False)
class Trace:
    """The spans of one run, for whoever drives it."""

    spans: "Sink"
    since: float | None = None
    """When the run began, in seconds since the epoch; None is now."""
    _open: dict[str, _Node] = field(factory=dict)
    """Requests and works that are not over, by id."""
    _works: dict[str, _Node] = field(factory=dict)
    """All works, also those that are over: a continuation may come back to one."""
    _begun: dict[Path, list[str]] = field(factory=dict)
    """Works that have begun in a branch and are not over, the innermost last."""
    _offset: float = field(factory=lambda: time() - monotonic())
    _current: Any = None

    def __attrs_post_init__(self) -> None:
        at = self._now() if self.since is None else self.since
        root = _Node(self.spans.run(at), None, ())
        self._open[RUN.id] = self._works[RUN.id] = root
        self._current = root.span

    @property
    def ids(self) -> dict[str, str]:
        """The `trace_id` and the `span_id` of what is being done, as hexadecimal digits."""
        return self.spans.ids(self._current)

    def advance(self, outcome: Outcome, cut: Mapping[str, Row] | None = None) -> None:
        """The run has gone on to this: work has begun and ended, requests were withdrawn. `cut`
        says by their ids what calls among them had got."""
        at = self._now()
        for id in outcome.withdrawn:
            if id in self._open:
                if cut and id in cut:
                    self.spans.record_reply(self._open[id].span, cut[id])
                self._close(id, at, cut=True)
        for each in span_events_of(outcome):
            if isinstance(each, Begins):
                self._begin(each.work, each.path, at)
            elif each.id in self._open:
                self._end(each, at)

    def start_request(self, request: Request) -> None:
        """A request is about to be performed."""
        if request.operation == CLOCK:
            return
        at, path = self._now(), path_of(request.id)
        parent = self._parent(path, request.context.work, at)
        self._current = self.spans.request(request, parent.span, at)
        self._open[request.id] = _Node(self._current, parent, path)

    def finish_request(self, row: Row) -> None:
        """A request has its reply."""
        if row.id in self._open:
            self.spans.record_reply(self._open[row.id].span, row)
            self._close(row.id, self._now(), row.reply if row.failed else None)

    def watching(self, watch: Watch | None) -> Watch:
        """Whoever watches, and the trace beside them, for what performers tell."""

        def notify(event: Event) -> None:
            if isinstance(event, Retrying) and not event.held and event.id in self._open:
                self.spans.record_retry(self._open[event.id].span, event, self._now())
            if watch is not None:
                watch(event)

        return notify

    def over(self, error: Record | None = None) -> None:
        """The run has ended, and with it whatever is still open. Later calls do nothing."""
        at = self._now()
        for id in reversed([*self._open]):
            if id == RUN.id:
                self._close(id, at, error)
            else:
                self._close(id, at, self._open[id].failing, cut=True)

    def __enter__(self) -> "Trace":
        return self

    def __exit__(self, kind: object, raised: BaseException | None, _: object) -> None:
        """However the run is left, its spans end, and are handed over to whoever collects them.
        That takes a bounded time."""
        self._finish(raised)
        self.spans.close()

    async def __aenter__(self) -> "Trace":
        return self

    async def __aexit__(self, kind: object, raised: BaseException | None, _: object) -> None:
        """The same, without holding up an event loop."""
        import anyio.to_thread

        self._finish(raised)
        with anyio.CancelScope(shield=True):
            await anyio.to_thread.run_sync(self.spans.close)

    def _finish(self, raised: BaseException | None) -> None:
        if isinstance(raised, Exception):
            self.over(failure(raised, "run"))
        else:
            self.over(error_record("TASK_FAILURE", "cancelled", "the run was cancelled"))

    def _now(self) -> float:
        """Seconds since the epoch. Within a run they never go back."""
        return self._offset + monotonic()

    def _begin(self, work: Work, path: Path, at: float) -> None:
        parent = self._parent(path, work.parent, at)
        own = path_of(f"{work.id[1:]}.0") if work.kind in BRANCHES else None
        node = _Node(self.spans.work(work, parent.span, at), parent, path, own)
        self._open[work.id] = self._works[work.id] = node
        if own is None:
            self._begun.setdefault(path, []).append(work.id)

    def _end(self, ends: Ends, at: float) -> None:
        node = self._open[ends.id]
        if node.own is not None:
            self._leave(node.own, 0, at)
            self._begun.pop(node.own, None)
        else:
            begun = self._begun[node.path]
            self._leave(node.path, begun.index(ends.id) + 1, at)
            begun.pop()
        self._close(ends.id, at, ends.error, cut=ends.cut)

    def _parent(self, path: Path, work: Work | None, at: float) -> _Node:
        """What something stands in that begins in a branch as a part of a work. Works of that
        branch that it is no part of have been left."""
        begun = self._begun.get(path)
        if begun and (work is None or begun[-1] != work.id):
            around = set()
            above = work
            while above is not None:
                around.add(above.id)
                above = above.parent
            while begun and begun[-1] not in around:
                self._leave(path, len(begun) - 1, at)
        # Of a run that began before anybody traced it, or elsewhere, not all works are known.
        while work is not None and work.id not in self._works:
            work = work.parent
        return self._works[RUN.id if work is None else work.id]

    def _leave(self, path: Path, count: int, at: float) -> None:
        """Works of a branch that have been left without a word, by an error or otherwise."""
        begun = self._begun.get(path, [])
        while len(begun) > count:
            id = begun.pop()
            self._close(id, at, self._open[id].failing, cut=True)

    def _close(self, id: str, at: float, error: Record | None = None, *, cut: bool = False) -> None:
        node = self._open.pop(id)
        self.spans.end(node.span, at, error, cut=cut and error is None)
        if node.above is not None:
            node.above.failing = error
