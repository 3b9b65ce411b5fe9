"""The tree of work under way, as lines for a terminal.

To draw costs time by the lines that are shown, not by the amount of work.
"""

from collections import deque
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import AbstractContextManager
from itertools import chain, islice
from time import time
from typing import Any, Literal

from sexplang.runtime.driver.events import Retrying
from sexplang.runtime.journal.rows import Row
from sexplang.terms.classes.node import define, field, frozen
from sexplang.terms.effect import Request
from sexplang.terms.values.value import Record
from sexplang.terms.work import Work

PASSING = frozenset(("branch", "race", "task"))
"""Kinds of work that disappear when they end; nodes of a plan stay."""

SIBLINGS = 8
"""The most children of one parent that are shown; the rest are counted."""

KEPT = 50
"""The most ended children of one parent that are kept, the latest."""

State = Literal["runs", "waits", "done", "failed", "cut", "more"]

Tell = Callable[[str], tuple[State, str]]
"""A function of a request's id to its state and words about it."""


@frozen
class Line:
    """One line: depth, name, state and further words."""

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
    """The rank among children that began at the same time."""
    state: State = "runs"
    ended: float = 0.0
    over: int = 0
    tokens: int = 0
    running: int = 0
    """Requests under way in it."""
    open: dict[int, "_Node"] = field(factory=dict)
    busy: dict[int, "_Node"] = field(factory=dict)
    """Those of `open` with a request under way, in the order in which they got one."""
    kept: deque["_Node"] = field(factory=lambda: deque(maxlen=KEPT))

    @property
    def count(self) -> int:
        return len(self.kept) + len(self.open)

    def below(self) -> list["_Node"]:
        """Return the children to show: the latest that ended, those at work, the others."""
        before = min(len(self.kept), max(SIBLINGS - len(self.open), SIBLINGS // 2))
        kept = list(islice(self.kept, len(self.kept) - before, None))
        others = (each for each in self.open.values() if id(each) not in self.busy)
        work = islice(chain(self.busy.values(), others), SIBLINGS - before)
        return [*kept, *sorted(work, key=lambda node: (node.began, node.order))]

    def counts(self, change: int) -> None:
        """Count a request that begins or ends in it."""
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
    """A sink of traces for a terminal. `lock` is held while anything changes."""

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
            elif span.kept:  # a branch of a plan ends, its node stays
                above.kept.extend(span.kept)

    def ids(self, span: _Node) -> dict[str, str]:
        return {}

    def close(self) -> None:
        pass

    def lines(self, room: int, tell: Tell) -> list[Line]:
        """Return the work under way, in at most `room` lines. The caller holds `lock`."""
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
    """Return the requests under way in a run without traces, in at most `room` lines.

    `requests` are ids by task.
    """
    lines: list[Line] = []
    for name, ids in requests.items():
        left = room - len(lines)
        if left <= 0:
            break
        most = min(SIBLINGS, left - (len(ids) > left))  # one line may be needed to count the others
        lines += [Line(0, name, *tell(id)) for id in islice(ids, most)]
        if most < len(ids):
            lines.append(Line(0, f"{len(ids) - most:,} more", "more"))
    return lines


def _end_of(node: _Node) -> _Node:
    """Return the last node of a chain of works with one child each: the chain is one line."""
    while node.kind != "run" and len(node.open) == 1 and not node.kept:
        node = next(iter(node.open.values()))
    return node


def _names(first: _Node, last: _Node) -> list[str]:
    """Return the names of the works of a chain; a model call is left out."""
    found = []
    node: _Node | None = last
    while node is not None:
        if node.request is None or node.name != "model" or node is first:
            found.append(node.name)
        node = None if node is first else node.above
    return found[::-1]
