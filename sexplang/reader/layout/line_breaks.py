"""The line breaks within a node that does not fit on one line.

An item stays on the line, goes to a new line at a column, or fills the line and goes to a new one
when it is full.
"""

from collections.abc import Sequence

from sexplang.reader.layout.concrete import Node
from sexplang.reader.layout.layout_rules import (
    ALIGNED,
    CLAUSES,
    DEEPEST,
    NEVER,
    WIDTH,
    Shape,
    clause_of,
    name_of,
    shape_of,
)

STAY, TURN, FILL = "stay", "turn", "fill"

LineItem = tuple[Node, str, int, str]
"""An item, whether it begins a line, the column of that line, and the layout of the item."""

# A vector or a list of data fills its lines if its items are no longer than this.
_SHORT = 30

# The length of a head behind which aligned operands have too little room.
_LONG_HEAD = 12

# The length of a head behind which only unbroken operands are aligned.
_LONGEST_HEAD = 16

# The width of clauses and bindings on one line, and its reduction for many items.
_MOST = {"clause": (80, 3, 60), "handler": (80, 4, 60), "rows": (WIDTH, 2, 60)}


def fits_at(node: Node, column: int, tail: int = 0) -> bool:
    """Return whether a node fits on the line from a column on, with `tail` closing brackets."""
    return not node.wide and column + node.width + tail <= WIDTH


def stands(node: Node, column: int, tail: int, way: str) -> bool:
    """Return whether a node with a given layout should be on one line."""
    if way in _MOST:
        most, full, less = _MOST[way]
        if node.width > (less if len(node.items) >= full else most):
            return False
    return fits_at(node, column, tail)


def place_items(node: Node, column: int, tail: int, way: str) -> tuple[list[LineItem], int]:
    """Return the placement of a node's items, and the column of comments before its end."""
    if node.kind == "mark":
        inner = column + len(node.text)
        return [(item, STAY, inner, "") for item in node.items], inner
    if node.kind == "label":
        return _value(node, column, tail), column + 2
    if node.kind == "list" and node.items:
        return _list(node, column, tail, way), column + (2 if name_of(node) else 1)
    if node.kind == "vector":
        return _data(node, column, column + 1), column + 1
    return _rows(node, column), column + 1


def _list(node: Node, column: int, tail: int, way: str) -> list[LineItem]:
    if way == "rows":
        return _rows(node, column)
    if way in ("parameters", "signature"):
        return _data(node, column, column + 1 + (way == "signature"))
    name = name_of(node)
    if way in CLAUSES and name != "return":
        return _clause(node, column, tail, way)
    if not name or node.items[0].after or len(node.items) == 1:
        return _rows(node, column) if name else _data(node, column, column + 1)
    if _holds_block(node, column):
        return [(item, STAY, column + 1 + (at > 0), "") for at, item in enumerate(node.items)]
    if name in ALIGNED:
        return _call(node, column, tail, clause_of(name))
    shape = shape_of(node)
    return _special(node, shape, column, tail) if shape else _arguments(node, column, tail)


def _rows(node: Node, column: int) -> list[LineItem]:
    """Place one item a line."""
    return [(each, TURN if at else STAY, column + 1, "") for at, each in enumerate(node.items)]


def _data(node: Node, column: int, inner: int) -> list[LineItem]:
    """Place as many short items on a line as it holds; long items one a line."""
    is_short = all(item.width <= _SHORT and not item.wide for item in node.items)
    how = FILL if is_short else TURN
    return [
        (each, how if at else STAY, inner if at else column + 1, "")
        for at, each in enumerate(node.items)
    ]


def _value(node: Node, column: int, tail: int) -> list[LineItem]:
    """Place a label and its value. The value begins a line only if it has no room beside the
    label."""
    beside = column + len(node.text) + 1
    value = node.items[-1]
    has_room = beside + min(value.width, value.narrow) + tail <= WIDTH
    first = STAY if has_room or beside <= column + 4 else TURN
    return [(each, STAY if at else first, column + 2, "") for at, each in enumerate(node.items)]


def _clause(node: Node, column: int, tail: int, way: str) -> list[LineItem]:
    """`(test body…)`, `(pattern when guard body…)`, `((operation x) resume body…)`."""
    count = CLAUSES[way]
    if len(node.items) > 2 and node.items[1].text in ("when", "=>"):
        count = 3
    shape = Shape(count - 1)
    return _special(node, shape, column, tail, column + (2 if way == "handler" else 1))


def _special(
    node: Node, shape: Shape, column: int, tail: int, body: int | None = None
) -> list[LineItem]:
    """Place the head and its operands on the first line, and the body below."""
    body = column + 2 if body is None else body
    found: list[LineItem] = []
    at = column + 1
    count = -1  # of the operands so far
    is_open = True  # whether the first line is still open
    for index, item in enumerate(node.items):
        count += not item.is_dropped
        if count > shape.head:
            found.append((item, TURN, body, shape.rest))
            continue
        way = shape.ways[count - 1] if 0 < count <= len(shape.ways) else ""
        rest = tail + 1 if index == len(node.items) - 1 else 0
        fits = fits_at(item, at, rest)
        can_break = not shape.must_fit and item.kind != "atom" and at + item.narrow <= WIDTH
        stays = not index or (is_open and (fits or can_break))
        turned = column + (shape.further if index else 1)
        found.append((item, STAY if stays else TURN, turned, way))
        is_open = is_open and fits
        at += item.width + 1
    return found


def _arguments(node: Node, column: int, tail: int) -> list[LineItem]:
    """Place the arguments of a call. Positional arguments stay on the first line, if they fit, when
    labels or a block follow. Otherwise all are below one another."""
    count = _leading(node)
    if count > 1 and _fits(node.items[:count], column + 1):
        return [
            (each, STAY if at < count else TURN, column + 1 + (at > 0), "")
            for at, each in enumerate(node.items)
        ]
    return _call(node, column, tail, "")


def _leading(node: Node) -> int:
    """Return the number of items before the first label or a last argument that is a block."""
    items = node.items
    labels = (at for at, item in enumerate(items) if item.kind == "label")
    first = next(labels, None)
    if first is not None:
        return first
    is_block = items[-1].kind in ("table", "vector") or name_of(items[-1]) in ("lambda", "fn")
    return len(items) - 1 if is_block else 0


def _call(node: Node, column: int, tail: int, way: str) -> list[LineItem]:
    """Align arguments with the first one or, if that leaves too little room, below the head."""
    head, *arguments = node.items
    aligned, near = column + head.width + 2, column + 2
    indent, first = aligned, STAY
    if head.width > _LONG_HEAD and arguments[0].kind == "label":
        indent, first = near, TURN
    elif not _all_stand(arguments, aligned, tail):
        is_squeezed = head.width > _LONG_HEAD and _all_stand(arguments, near, tail)
        if is_squeezed or head.width > _LONGEST_HEAD or not _fit(arguments, aligned, tail):
            indent, first = near, TURN
    return [
        (head, STAY, column + 1, ""),
        *((each, TURN if at else first, indent, way) for at, each in enumerate(arguments)),
    ]


def _all_stand(items: Sequence[Node], column: int, tail: int) -> bool:
    return all(fits_at(item, column) for item in items) and fits_at(items[-1], column, tail + 1)


def _fit(items: Sequence[Node], column: int, tail: int) -> bool:
    return column < DEEPEST and column + max(item.narrow for item in items) + tail + 1 <= WIDTH


def _fits(items: Sequence[Node], column: int) -> bool:
    """Return whether items fit on one line."""
    width = sum(item.width + 1 for item in items) - 1
    return column + width <= WIDTH and not any(
        item.wide or item.after or item.before for item in items
    )


def _holds_block(node: Node, column: int) -> bool:
    """Return whether a list ends in a text block that can begin on its first line."""
    last = node.items[-1]
    return (
        last.width == NEVER
        and last.text.startswith(('"""\n', '"""\r\n'))
        and not last.before
        and not node.opening
        and _fits(node.items[:-1], column + 5)
    )
