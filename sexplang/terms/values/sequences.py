"""Long lists, which `rest`, `cons` and `append` make without copies.

A list of at most PLAIN items is a tuple. A longer one is a tuple, a View (a suffix of a tuple), or
a Long, which has grown at its ends. They differ only in their class. Outside of the machine, the
primitives and these terms, lists are tuples (`boundary`).

Law: lists are immutable, so two lists that grow from one are two lists. Law: a list keeps at most
about four times its own items alive.
"""

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any, TypeAlias

from sexplang.terms.quota import charge

PLAIN = 100
"""Items up to which a list is always a tuple."""

CHUNK = 32
_BLOCK = CHUNK * CHUNK
"""Items of the tuples in which an end of a list grows."""

MOST = 10_000_000
"""Items of a list."""
ROOM = MOST - 3 * CHUNK
"""Items in the middle of a Long up to which there is room at both ends."""

Items: TypeAlias = tuple[Any, ...]

any_made = False
"""Whether this process has made a View or a Long. Most make none and skip all searches for one."""


class View:
    """The suffix of a tuple from `start` on; `last` is the greatest start."""

    __slots__ = ("items", "last", "start")

    items: Items
    start: int
    last: int

    def __len__(self) -> int:
        return len(self.items) - self.start

    def __iter__(self) -> Iterator[Any]:
        return _from(self.items, self.start)

    def __getitem__(self, at: Any) -> Any:
        """Return the item at an index from 0, or the tuple of a slice with both ends."""
        start = self.start
        if type(at) is slice:
            return self.items[start + at.start : start + at.stop]
        return self.items[start + at]


class Middle:
    """The constant part of a Long: a tuple from `start` on, with chunks and, further inward, blocks
    before and after it. The items before it are counted from the tuple outward."""

    __slots__ = ("after", "backs", "before", "body", "fronts", "size", "start")

    def __init__(
        self,
        fronts: tuple[Items, ...],
        before: tuple[Items, ...],
        body: Items,
        start: int,
        after: tuple[Items, ...],
        backs: tuple[Items, ...],
        size: int,
    ) -> None:
        self.fronts = fronts
        self.before = before
        self.body = body
        self.start = start
        self.after = after
        self.backs = backs
        self.size = size

    @property
    def parts(self) -> tuple[Any, ...]:
        """The arguments of the constructor."""
        parts = self.fronts, self.before, self.body, self.start, self.after, self.backs
        return *parts, self.size


class Long:
    """The first items, the middle, the last items; at most a chunk at either end. `made` is the
    list as a tuple, once that was needed."""

    __slots__ = ("head", "made", "middle", "tail")

    head: Items
    middle: Middle
    tail: Items
    made: Items

    def __len__(self) -> int:
        return len(self.head) + self.middle.size + len(self.tail)

    def __iter__(self) -> Iterator[Any]:
        try:
            return iter(self.made)
        except AttributeError:
            return _all(self)

    def __getitem__(self, at: int) -> Any:
        """Return the item at an index from 0."""
        at -= len(self.head)
        if at < 0:
            return self.head[at]
        if at < self.middle.size:
            return _inside(self.middle, at)
        return self.tail[at - self.middle.size]


def view(items: Items, start: int) -> View:
    """Return a tuple from a valid `start` on."""
    global any_made
    any_made = True
    made = View()
    made.items = items
    made.start = start
    made.last = min(len(items) - PLAIN - 1, len(items) * 3 // 4)
    return made


def long(head: Items, middle: Middle, tail: Items) -> Long:
    """Return the list of these parts."""
    global any_made
    any_made = True
    made = Long()
    made.head = head
    made.middle = middle
    made.tail = tail
    return made


LONG = frozenset((View, Long))
"""The classes of lists that are no tuples."""

LISTS = frozenset((tuple, View, Long))
"""The classes of all lists."""


def _from(items: Items, start: int) -> Iterator[Any]:
    found: Any = iter(items)
    if start:
        found.__setstate__(start)  # without a visit of the items before it
    return found  # type: ignore[no-any-return]


def _all(items: Long) -> Iterator[Any]:
    middle = items.middle
    joined = chain.from_iterable
    return chain(
        items.head,
        joined(reversed(middle.before)),
        joined(reversed(middle.fronts)),
        _from(middle.body, middle.start),
        joined(middle.backs),
        joined(middle.after),
        items.tail,
    )


def _inside(middle: Middle, at: int) -> Any:
    """Return the item at an index of the middle."""
    at -= len(middle.before) * CHUNK + len(middle.fronts) * _BLOCK
    if at < 0:
        at = -1 - at  # outward from the body
        if at < len(middle.fronts) * _BLOCK:
            return middle.fronts[at // _BLOCK][-1 - at % _BLOCK]
        at -= len(middle.fronts) * _BLOCK
        return middle.before[at // CHUNK][-1 - at % CHUNK]
    at += middle.start
    if at < len(middle.body):
        return middle.body[at]
    at -= len(middle.body)
    if at < len(middle.backs) * _BLOCK:
        return middle.backs[at // _BLOCK][at % _BLOCK]
    at -= len(middle.backs) * _BLOCK
    return middle.after[at // CHUNK][at % CHUNK]


def whole_list(items: Any) -> Items:
    """Return the list as a tuple."""
    kind = items.__class__
    if kind is tuple:
        return items  # type: ignore[no-any-return]
    if kind is View:
        charge(len(items))
        return items.items[items.start :]  # type: ignore[no-any-return]
    try:
        return items.made  # type: ignore[no-any-return]
    except AttributeError:
        charge(len(items))
        made: Items = tuple(_all(items))
        items.made = made
        return made


def end_of(items: Any, start: int) -> Any:
    """Return a list without its first `start` items. It has at least as many."""
    if items.__class__ is Long and start <= _BLOCK:
        for _ in range(start):
            items = without_first(items)
        return items
    if items.__class__ is Long:
        items = whole_list(items)
    elif items.__class__ is View:
        items, start = items.items, items.start + start
    left = len(items) - start
    if left <= PLAIN or left * 4 < len(items):
        charge(left)
        return items[start:]
    return view(items, start) if start else items


# -- The first item ------------------------------------------------------------------------------


def without_first(items: Any) -> Any:
    """Return a list that is not empty without its first item."""
    kind = items.__class__
    if kind is Long:
        return _shorter(items)
    if kind is View:
        items, start = items.items, items.start + 1
    else:
        start = 1
    return end_of(items, start)


def _shorter(items: Long) -> Any:
    head, middle, tail = items.head, items.middle, items.tail
    if middle.size <= PLAIN + 1 and len(items) <= PLAIN + 1:
        return tuple(items)[1:]
    if not head:
        head, middle, tail = _refill(middle, tail)
    return long(head[1:], middle, tail)


def _refill(middle: Middle, tail: Items) -> tuple[Items, Middle, Items]:
    """Return the parts of a list whose first chunk is empty."""
    fronts, before, body, start, after, backs, size = middle.parts
    if before:
        head, before = before[-1], before[:-1]
    elif fronts:
        block, fronts = fronts[-1], fronts[:-1]
        head = block[:CHUNK]
        before = tuple([block[at : at + CHUNK] for at in range(_BLOCK - CHUNK, 0, -CHUNK)])
    else:
        if start == len(body):
            if backs:
                body, backs = backs[0], backs[1:]
            elif after:
                body, after = tuple(chain.from_iterable(after)), ()
            else:
                body, tail, size = tail, (), len(tail)
            start = 0
        head = body[start : start + CHUNK]
        start += len(head)
        left = len(body) - start
        if left * 4 < len(body):
            charge(left)
            body, start = body[start:], 0
    size -= len(head)
    return head, Middle(fronts, before, body, start, after, backs, size), tail


def with_first(item: Any, items: Any) -> Any:
    """Return a long list with one item prepended."""
    if items.__class__ is not Long:
        return long((item,), _middle(items), ())
    if len(items.head) < CHUNK:
        return long((item, *items.head), items.middle, items.tail)
    return long((item,), _with_before(items.middle, (items.head,)), items.tail)


def _middle(items: Any) -> Middle:
    """Return a tuple or a View as a middle."""
    if items.__class__ is View:
        return Middle((), (), items.items, items.start, (), (), len(items))
    return Middle((), (), items, 0, (), (), len(items))


def _with_before(middle: Middle, chunks: tuple[Items, ...]) -> Middle:
    """Return the middle with full chunks prepended, the innermost first."""
    before, fronts = middle.before + chunks, middle.fronts
    if len(before) >= 2 * CHUNK:
        count = (len(before) // CHUNK - 1) * CHUNK
        fronts += _blocks([chunk[::-1] for chunk in before[:count]], -1)
        before = before[count:]
    size = middle.size + len(chunks) * CHUNK
    return Middle(fronts, before, middle.body, middle.start, middle.after, middle.backs, size)


def _with_after(middle: Middle, chunks: tuple[Items, ...]) -> Middle:
    """Return the middle with full chunks appended."""
    after, backs = middle.after + chunks, middle.backs
    if len(after) >= 2 * CHUNK:
        count = (len(after) // CHUNK - 1) * CHUNK
        backs += _blocks(after[:count], 1)
        after = after[count:]
    size = middle.size + len(chunks) * CHUNK
    return Middle(middle.fronts, middle.before, middle.body, middle.start, after, backs, size)


def _blocks(chunks: Sequence[Items], step: int) -> tuple[Items, ...]:
    """Return the blocks of full chunks, a multiple of CHUNK, with items in the order of `step`."""
    charge(len(chunks) * CHUNK)
    groups = [chunks[at : at + CHUNK] for at in range(0, len(chunks), CHUNK)]
    return tuple([tuple(chain.from_iterable(group))[::step] for group in groups])


# -- Several lists -------------------------------------------------------------------------------


def join_lists(lists: Sequence[Any]) -> Any:
    """Return the concatenation of lists. A short one next to a long one extends its end."""
    found = [items for items in lists if items]
    if len(found) < 2:
        return found[0] if found else ()
    sizes = [len(items) for items in found]
    size, most = sum(sizes), max(sizes)
    if size <= PLAIN or (size - most) * 4 > most:
        charge(size)
        return tuple(chain.from_iterable(found))
    at = sizes.index(most)
    if at:
        found = [_prepend(found[at], tuple(chain.from_iterable(found[:at]))), *found[at + 1 :]]
    if len(found) > 1:
        return _extend(found[0], tuple(chain.from_iterable(found[1:])))
    return found[0]


def with_tail(items: Long, tail: Items) -> Long:
    """Return a Long with another tail, which is longer than a chunk and shorter than two."""
    return long(items.head, _with_after(items.middle, (tail[:CHUNK],)), tail[CHUNK:])


def _extend(items: Any, more: Items) -> Long:
    """Return a long list with some items appended."""
    if items.__class__ is Long:
        head, middle, tail = items.head, items.middle, items.tail
    else:
        head, middle, tail = (), _middle(items), ()
    if len(tail) + len(more) <= CHUNK:
        return long(head, middle, tail + more)
    charge(len(more))
    more = tail + more
    cut = (len(more) - 1) // CHUNK * CHUNK
    chunks = tuple([more[at : at + CHUNK] for at in range(0, cut, CHUNK)])
    return long(head, _with_after(middle, chunks), more[cut:])


def _prepend(items: Any, more: Items) -> Long:
    """Return a long list with some items prepended."""
    if items.__class__ is Long:
        head, middle, tail = items.head, items.middle, items.tail
    else:
        head, middle, tail = (), _middle(items), ()
    if len(head) + len(more) <= CHUNK:
        return long(more + head, middle, tail)
    charge(len(more))
    more += head
    cut = (len(more) - 1) % CHUNK + 1
    chunks = tuple([more[at : at + CHUNK] for at in range(len(more) - CHUNK, cut - 1, -CHUNK)])
    return long(more[:cut], _with_before(middle, chunks), tail)
