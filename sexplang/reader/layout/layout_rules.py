"""The style of the layout, as tables: first lines of forms, and line widths."""

from collections.abc import Sequence

from sexplang.reader.layout.concrete import Comment, Node
from sexplang.terms.classes.node import frozen

WIDTH = 100
"""The columns of a line."""

DEEPEST = 90
"""The greatest indentation. A node beyond it stays on one line if it can: a text of 10,000 levels
may not become one of 10,000 columns."""

NEVER = 1 << 40
"""The width of a node that cannot be on one line. (Text has at most 10,000,000 characters.)"""


@frozen
class Shape:
    """The layout of a special form.

    The first `head` operands stay beside its name, the others are a body, two columns in. `ways`
    are the layouts of the head operands, `rest` that of each other operand (see `line_breaks.py`).
    """

    head: int
    ways: tuple[str, ...] = ()
    rest: str = ""
    few: int = WIDTH
    """The columns on one line with one body form or clause,"""
    many: int = 60
    """and with more of them."""
    further: int = 4
    """The additional indentation of a head operand on a line of its own."""
    must_fit: bool = False
    """Whether the head operands stay on the first line only if it holds them whole."""


_FUNCTION = Shape(1, ("parameters",), few=80)
_LET = Shape(1, ("rows",), few=60)
_BODY = Shape(0)
_ONE = Shape(1)
_TEST = Shape(1, few=80)
_CLAUSES = Shape(1, rest="clause", few=60)

SHAPES = {
    "define": Shape(1, ("signature",), few=80, many=0),
    "define-tool": Shape(1, ("signature",), few=80, many=0),
    "lambda": _FUNCTION,
    "fn": _FUNCTION,
    "bind": _ONE,
    "let": _LET,
    "let*": _LET,
    "letrec": _LET,
    "loop": _LET,
    "when": _TEST,
    "unless": _TEST,
    "begin": _BODY,
    "progn": _BODY,
    "case": _CLAUSES,
    "match": _CLAUSES,
    "syntax-rules": _CLAUSES,
    "handle": Shape(1, rest="handler", few=50, many=50, must_fit=True),
    "try": Shape(1, few=70, many=70, further=2, must_fit=True),
    "catch": _ONE,
    "finally": _BODY,
    "return": _ONE,
    "test": _ONE,
}
_NAMED_LET = Shape(2, ("", "rows"), few=60)
_VARIABLE = Shape(1, few=WIDTH, many=60)
_TRY_OF_MANY = Shape(0)

ALIGNED = frozenset(("if", "and", "or", "cond", "->", "par", "race"))
"""Forms whose operands are alike and always aligned."""

# The layout of aligned operands, and the columns of the form on one line.
_CLAUSES_OF = {"cond": "clause"}
_LIMITS = {"if": 70, "cond": 60, "par": 80, "race": 80}

# The width of a string's or text block's first line, enough to recognise it.
_PART = 10

# The number of forms of a clause on its first line.
CLAUSES = {"clause": 1, "handler": 2}


def name_of(node: Node) -> str:
    """Return the symbol at the head of a list, or an empty text."""
    if node.kind == "list" and not node.quoted and node.items and node.items[0].kind == "atom":
        return node.items[0].text
    return ""


def operands(node: Node) -> list[Node]:
    """Return the items after the head of a list, without dropped ones."""
    return [item for item in node.items[1:] if not item.is_dropped]


def shape_of(node: Node) -> Shape | None:
    """Return the shape of a special form; None for any other."""
    name = name_of(node)
    shape = SHAPES.get(name)
    if shape is None:
        return _ONE if name.startswith(("def", "with-")) and name != "define-input" else None
    if name in ("let", "define", "try"):
        given = operands(node)
        first = given[0].kind if given else ""
        if name == "let" and first == "atom":
            return _NAMED_LET
        if name == "define" and first == "atom":
            return _VARIABLE
        if name == "try" and sum(name_of(each) not in ("catch", "finally") for each in given) > 1:
            return _TRY_OF_MANY
    return shape


def clause_of(name: str) -> str:
    """Return the layout of the operands of an aligned form."""
    return _CLAUSES_OF.get(name, "")


def measure(node: Node) -> None:
    """Set `width`, `narrow` and `wide` of a node from those of its items."""
    if node.kind == "atom":
        node.width = node.narrow = len(node.text)
        if "\n" in node.text or "\r" in node.text:
            node.width, node.narrow = NEVER, _PART
        return
    # A space between items, and one after a label.
    # A space between items, and one after a label.
    width = len(node.text) + len(node.close) + max(len(node.items) - 1, 0) + (node.kind == "label")
    narrow, wide = 0, False
    for item in node.items:
        width += item.width + _beside(item.before)
        width += NEVER if item.after else 0
        narrow = max(narrow, item.narrow)
        wide = wide or item.wide
    width += _beside(node.ending) + (NEVER if node.opening else 0)
    node.width = min(width, NEVER)
    node.narrow = max(narrow + 2, len(node.text)) + len(node.close)
    node.wide = wide or node.width > _most(node)


def _beside(comments: Sequence[Comment]) -> int:
    """Return the columns of comments within a line."""
    if any(each.place != "within" or "\n" in each.text for each in comments):
        return NEVER
    return sum(len(each.text) + 1 for each in comments)


def _most(node: Node) -> int:
    """Return the greatest width of a node on one line."""
    if node.kind != "list" or (node.width <= 50 and name_of(node) != "define"):
        return NEVER
    shape = shape_of(node)
    if shape is None:
        return _LIMITS.get(name_of(node), NEVER)
    return shape.many if len(operands(node)) > shape.head + 1 else shape.few
