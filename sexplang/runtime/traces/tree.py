"""The tree of spans of a run.

The parent of a span is the work in the context of its request. The order of execution has no
effect.
"""

from collections.abc import Callable, Mapping
from time import monotonic, time
from typing import TYPE_CHECKING, Any

from sexplang.machine import Outcome, span_events_of
from sexplang.machine.scheduler.branches import Path, path_of
from sexplang.runtime.driver.events import Event, Retrying
from sexplang.runtime.driver.requests import Watch, failure
from sexplang.runtime.journal.rows import Row
from sexplang.terms.classes.node import define, field
from sexplang.terms.effect import Request
from sexplang.terms.task import error_record
from sexplang.terms.values.value import Record
from sexplang.terms.work import BRANCHES, RUN, Begins, Ends, Work

if TYPE_CHECKING:
    from sexplang.runtime.traces.sink import Sink

CLOCK = "timer"
"""The operation of deadlines. They are no work of the run and have no span."""


@define(eq=False)
class _Node:
    """A span, and the path of the branch in which it began."""

    span: Any
    above: "_Node | None"
    path: Path
    own: Path | None = None
    """The path of the branch that this span is."""
    failing: Record | None = None
    """The error of the last child that ended."""


@define(eq=False)
class Trace:
    """The trace of one run, used by its driver."""

    spans: "Sink"
    since: float | None = None
    """The start of the run in seconds since the epoch; None is now."""
    clock: Callable[[], float] | None = None
    """Return the time of what is told, in seconds since the epoch; by default it is now."""
    _open: dict[str, _Node] = field(factory=dict)
    """Open requests and works, by id."""
    _works: dict[str, _Node] = field(factory=dict)
    """All works, also ended ones: a continuation may resume in one."""
    _begun: dict[Path, list[str]] = field(factory=dict)
    """Open works of a branch, innermost last."""
    _offset: float = field(factory=lambda: time() - monotonic())
    _current: Any = None

    def __attrs_post_init__(self) -> None:
        at = self._now() if self.since is None else self.since
        root = _Node(self.spans.run(at), None, ())
        self._open[RUN.id] = self._works[RUN.id] = root
        self._current = root.span

    @property
    def ids(self) -> dict[str, str]:
        """Return the `trace_id` and `span_id` of the current work, as hexadecimal digits."""
        return self.spans.ids(self._current)

    def advance(self, outcome: Outcome, cut: Mapping[str, Row] | None = None) -> None:
        """Record the works that began and ended, and the withdrawn requests. `cut` holds the rows
        of their partial replies by id."""
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
        """Begin the span of a request."""
        if request.operation == CLOCK:
            return
        at, path = self._now(), path_of(request.id)
        parent = self._parent(path, request.context.work, at)
        self._current = self.spans.request(request, parent.span, at)
        self._open[request.id] = _Node(self._current, parent, path)

    def finish_request(self, row: Row) -> None:
        """End the span of a request with its reply."""
        if row.id in self._open:
            self.spans.record_reply(self._open[row.id].span, row)
            self._close(row.id, self._now(), row.reply if row.failed else None)

    def wrap_watch(self, watch: Watch | None) -> Watch:
        """Return an observer that passes events of performers to `watch` and to the trace."""

        def notify(event: Event) -> None:
            if isinstance(event, Retrying) and not event.held and event.id in self._open:
                self.spans.record_retry(self._open[event.id].span, event, self._now())
            if watch is not None:
                watch(event)

        return notify

    def finish(self, error: Record | None = None) -> None:
        """End the run and all open spans. Later calls have no effect."""
        at = self._now()
        for id in reversed([*self._open]):
            if id == RUN.id:
                self._close(id, at, error)
            else:
                self._close(id, at, self._open[id].failing, cut=True)

    def __enter__(self) -> "Trace":
        return self

    def __exit__(self, kind: object, raised: BaseException | None, _: object) -> None:
        """End all spans and flush them to the collector, in bounded time."""
        self._finish(raised)
        self.spans.close()

    async def __aenter__(self) -> "Trace":
        return self

    async def __aexit__(self, kind: object, raised: BaseException | None, _: object) -> None:
        """End all spans as `__exit__` does, without blocking the event loop."""
        import anyio.to_thread

        self._finish(raised)
        with anyio.CancelScope(shield=True):
            await anyio.to_thread.run_sync(self.spans.close)

    def _finish(self, raised: BaseException | None) -> None:
        if isinstance(raised, Exception):
            self.finish(failure(raised, "run"))
        else:
            self.finish(error_record("TASK_FAILURE", "cancelled", "the run was cancelled"))

    def _now(self) -> float:
        """Return the seconds since the epoch; within a run they never decrease."""
        return self._offset + monotonic() if self.clock is None else self.clock()

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
        """Return the parent of a span that begins in a branch as a part of a work. Open works of
        the branch that do not contain it are closed."""
        begun = self._begun.get(path)
        if begun and (work is None or begun[-1] != work.id):
            around = set()
            above = work
            while above is not None:
                around.add(above.id)
                above = above.parent
            while begun and begun[-1] not in around:
                self._leave(path, len(begun) - 1, at)
        # A run that began untraced or elsewhere has unknown works.
        while work is not None and work.id not in self._works:
            work = work.parent
        return self._works[RUN.id if work is None else work.id]

    def _leave(self, path: Path, count: int, at: float) -> None:
        """Close works of a branch that ended without an end event, for example by an error."""
        begun = self._begun.get(path, [])
        while len(begun) > count:
            id = begun.pop()
            self._close(id, at, self._open[id].failing, cut=True)

    def _close(self, id: str, at: float, error: Record | None = None, *, cut: bool = False) -> None:
        node = self._open.pop(id)
        self.spans.end(node.span, at, error, cut=cut and error is None)
        if node.above is not None:
            node.above.failing = error
