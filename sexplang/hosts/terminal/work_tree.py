"""The work of a run that is under way → lines for a terminal, never more than there is room for.

What it costs depends on the lines that are shown, not on how much work there is.
"""

from collections import deque
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import AbstractContextManager
from itertools import chain, islice
from time import time
from typing import Any, Literal

from sexplang.runtime.driver.events import Retrying
from sexplang.runtime.journal.journal import Row
from sexplang.terms.classes.node import define, field, frozen
from sexplang.terms.effect import Request
from sexplang.terms.values.value import Record
from sexplang.terms.work import Work

PASSING = frozenset(("branch", "race", "task"))
"""Kinds of work that are not shown any more once they are over; parts of a plan are."""

SIBLINGS = 8
"""So many of one parent are shown, and the rest are counted."""

KEPT = 50
"""So many that are over are kept of one parent, the latest."""

State = Literal["runs", "waits", "done", "failed", "cut", "more"]

Tell = Callable[[str], tuple[State, str]]
"""The id of a request to how it stands, and what there is to say of it."""


@frozen
class Line:
    """One line: how deep it stands, what it is called, how it is, and more words."""

    depth: int
    name: str
    state: State
    words: str = ""


@define(eq=False)
class _Node:
    name: str
    kind: str
    above: "_Node | None"
    began: float
    request: str | None = None
    order: int = 0
    """Among those that began at the same time."""
    state: State = "runs"
    ended: float = 0.0
    over: int = 0
    tokens: int = 0
    running: int = 0
    """Requests that are under way in it."""
    open: dict[int, "_Node"] = field(factory=dict)
    busy: dict[int, "_Node"] = field(factory=dict)
    """Those of `open` in which a request is under way, in the order in which they came to that."""
    kept: deque["_Node"] = field(factory=lambda: deque(maxlen=KEPT))

    @property
    def count(self) -> int:
        return len(self.kept) + len(self.open)

    def below(self) -> list["_Node"]:
        """What is shown of it: the latest that are over, then those at work, then the others."""
        before = min(len(self.kept), max(SIBLINGS - len(self.open), SIBLINGS // 2))
        kept = list(islice(self.kept, len(self.kept) - before, None))
        others = (each for each in self.open.values() if id(each) not in self.busy)
        work = islice(chain(self.busy.values(), others), SIBLINGS - before)
        return [*kept, *sorted(work, key=lambda node: (node.began, node.order))]

    def counts(self, change: int) -> None:
        """A request in it begins, or is over."""
        node = self
        while node.above is not None:
            node.running += change
            if node.running == 0:
                node.above.busy.pop(id(node), None)
            else:
                node.above.busy.setdefault(id(node), node)
            node = node.above


@define(eq=False)
class WorkTree:
    """The sink of a terminal. `lock` is held while anything changes."""

    lock: AbstractContextManager[Any]
    clock: Callable[[], float] = time
    _root: _Node | None = None

    def run(self, at: float) -> _Node:
        self._root = _Node("", "run", None, at)
        return self._root

    def work(self, work: Work, parent: _Node, at: float) -> _Node:
        named = work.kind in ("task", "subagent", "plan-node")
        name = work.name if named else f"{work.kind} {work.name}"
        order = int(work.name) if work.kind in ("branch", "race") else 0
        return self._begins(_Node(name, work.kind, parent, at, order=order))

    def request(self, request: Request, parent: _Node, at: float) -> _Node:
        node = self._begins(_Node(request.operation, "request", parent, at, request.id))
        with self.lock:
            node.counts(1)
        return node

    def record_retry(self, span: _Node, event: Retrying, at: float) -> None:
        pass

    def record_reply(self, span: _Node, row: Row) -> None:
        used = [row.usage.get(name) for name in ("input_tokens", "output_tokens")]
        if span.above is not None:
            span.above.tokens += sum(each for each in used if type(each) is int)

    def end(self, span: _Node, at: float, error: Record | None, *, cut: bool) -> None:
        with self.lock:
            span.state = "failed" if error is not None else "cut" if cut else "done"
            span.ended = at
            above = span.above
            if above is None:
                return
            above.open.pop(id(span), None)
            if span.kind == "request":
                span.counts(-1)
                return
            above.over += 1
            if span.kind not in PASSING:
                above.kept.append(span)
            elif span.kept:  # a branch of a plan goes, its node stays
                above.kept.extend(span.kept)

    def ids(self, span: _Node) -> dict[str, str]:
        return {}

    def close(self) -> None:
        pass

    def lines(self, room: int, tell: Tell) -> list[Line]:
        """What is at work, in at most so many lines. `lock` is held."""
        if self._root is None or room <= 0:
            return []
        shown: dict[int, list[_Node]] = {}
        queue, left = deque([self._root]), room
        while queue and left > 0:
            node = _end_of(queue.popleft())
            below = node.below()[:left]
            if len(below) < node.count and len(below) == left:
                below.pop()  # the line that counts the others
            shown[id(node)] = below
            left -= len(below) + (len(below) < node.count)
            queue.extend(below)
        return list(self._lines(self._root, 0, shown, tell))

    def _begins(self, node: _Node) -> _Node:
        with self.lock:
            if node.above is not None:
                node.above.open[id(node)] = node
        return node

    def _lines(
        self, node: _Node, depth: int, shown: dict[int, list[_Node]], tell: Tell
    ) -> Iterator[Line]:
        node = _end_of(node)
        below = shown.get(id(node), [])
        for each in below:
            yield self._line(each, depth, tell)
            yield from self._lines(each, depth + 1, shown, tell)
        more = node.count - len(below)
        if more and id(node) in shown:
            yield Line(depth, f"{more:,} more", "more", f"{node.over:,} done" if node.over else "")

    def _line(self, node: _Node, depth: int, tell: Tell) -> Line:
        last = _end_of(node)
        names = " › ".join(_names(node, last))
        if last.request is not None:
            state, words = tell(last.request)
            spent = last.above.tokens if last.above is not None else 0
            return Line(depth, names, state, f"{words}  {spent:,} tokens" if spent else words)
        seconds = (last.ended or self.clock()) - last.began
        over = f"{last.over:,} done  " if last.over else ""
        state = last.state if last.state != "runs" or last.open else "waits"
        return Line(depth, names, state, f"{over}{seconds:.1f} s")


def flat(requests: Mapping[str, Collection[str]], room: int, tell: Tell) -> list[Line]:
    """The requests that are under way, where nobody tells of the work that they are for, in at
    most so many lines: their ids, by what they are called."""
    lines: list[Line] = []
    for name, ids in requests.items():
        left = room - len(lines)
        if left <= 0:
            break
        most = min(SIBLINGS, left - (len(ids) > left))  # a line may have to count the others
        lines += [Line(0, name, *tell(id)) for id in islice(ids, most)]
        if most < len(ids):
            lines.append(Line(0, f"{len(ids) - most:,} more", "more"))
    return lines


def _end_of(node: _Node) -> _Node:
    """Where a chain of work with one part each ends: it is one line."""
    while node.kind != "run" and len(node.open) == 1 and not node.kept:
        node = next(iter(node.open.values()))
    return node


def _names(first: _Node, last: _Node) -> list[str]:
    """What the works of a chain are called; a model call goes without saying."""
    found = []
    node: _Node | None = last
    while node is not None:
        if node.request is None or node.name != "model" or node is first:
            found.append(node.name)
        node = None if node is first else node.above
    return found[::-1]
