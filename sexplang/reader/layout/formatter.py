"""The formatter.

Law: the result reads to the same forms, has the same comments in the same places, and is a fixed
point. Law: the result depends only on the tree of `concrete.py`.

From the outside in, each node is put on one line if it fits, and is broken by the rules of
`line_breaks.py` if not. There is no backtracking and no recursion.
"""

from collections.abc import Iterator
from typing import Any

from sexplang.reader.layout.concrete import Comment, Node, concrete
from sexplang.reader.layout.layout_rules import DEEPEST, NEVER, measure
from sexplang.reader.layout.line_breaks import FILL, TURN, fits_at, place_items, stands
from sexplang.reader.layout.printer import Page
from sexplang.reader.reader import no_collection, read
from sexplang.reader.token_values import text_block
from sexplang.terms.source import Source

# Each layout step yields the steps of its parts: a text may be 10,000 levels deep.
Laying = Iterator[Any]


def layout(text: str | Source) -> str:
    """Return a text formatted. Raises `Diagnostics` if it cannot be read."""
    source = text if isinstance(text, Source) else Source("<text>", text)
    forms = read(source)
    with no_collection(len(source.text)):
        result = _layout(source.text)
    # A result with other forms would destroy the author's text.
    again = read(Source(source.name, result), max_size=len(result))
    assert forms == again, "the layout changed what the text says"
    return result


def _layout(text: str) -> str:
    page = Page()
    for node in concrete(text):
        measure(node)
    work = [_lay_text(page, node)]
    while work:
        part = next(work[-1], None)
        if part is None:
            work.pop()
        else:
            work.append(part)
    return page.text()


def _lay_text(page: Page, root: Node) -> Laying:
    is_first = True
    goes_on = False  # whether a comment precedes on the same line
    for item in root.items:
        for comment in item.before:
            _begin(page, is_first, comment.blank)
            page.put(comment.text)
            is_first, goes_on = False, comment.place == "within"
        if goes_on:
            page.put(" ")
        else:
            _begin(page, is_first, item.blank)
        is_first = goes_on = False
        yield _lay(page, item, 0, 0, "")
        _end(page, item.after)
    for comment in root.ending:
        _begin(page, is_first, comment.blank)
        page.put(comment.text)
        is_first = False


def _begin(page: Page, is_first: bool, blank: bool) -> None:
    if not is_first:
        page.turn(0)
        if blank:
            page.turn(0)


def _lay(page: Page, node: Node, base: int, tail: int, way: str) -> Laying:
    """Lay out a node that begins here; `tail` closing brackets follow on its last line. Further
    lines are indented from `base`, the column of the parent."""
    column = page.column
    if node.kind == "atom":
        indent = column if column == page.indent else base + 2
        page.put(_indent(node.text, min(indent, DEEPEST)) if node.width == NEVER else node.text)
        return
    if stands(node, column, tail, way) or (column > DEEPEST and node.width < NEVER):
        page.put(_flat(node))
        return
    items, inner = place_items(node, column, tail, way)
    page.put(node.text)
    must_turn = _end(page, node.opening)
    last = len(items) - 1
    for index, (item, how, indent, item_way) in enumerate(items):
        rest = tail + len(node.close) if index == last and not node.ending else 0
        is_full = how is FILL and not fits_at(item, page.column + 1, rest)
        if must_turn or is_full or how is TURN or _begins_with_line(item):
            page.turn(indent)
        else:
            page.put(_between(node, index))
        _lay_before(page, item, indent)
        yield _lay(page, item, column, rest, item_way)
        must_turn = _end(page, item.after)
    _close(page, node, inner, must_turn)


def _begins_with_line(item: Node) -> bool:
    """Return whether a comment on a line of its own precedes an item."""
    return any(comment.place == "own" for comment in item.before)


def _lay_before(page: Page, item: Node, indent: int) -> None:
    for comment in item.before:
        page.put(comment.text)
        if comment.place == "own":
            page.turn(indent)
        else:
            page.put(" ")


def _close(page: Page, node: Node, inner: int, must_turn: bool) -> None:
    for comment in node.ending:
        if must_turn or comment.place == "own":
            page.turn(inner)
        elif node.items:
            page.put(" ")
        page.put(comment.text)
        must_turn = comment.place == "own"
    if must_turn:
        page.turn(inner)
    page.put(node.close)


def _end(page: Page, comment: Comment | None) -> bool:
    """Put the comment at the end of the line, if there is one. Return whether the line is over."""
    if comment is not None:
        page.end(comment)
    return comment is not None


def _between(node: Node, index: int) -> str:
    """Return the separator before an item on the same line."""
    if index or node.kind == "label":
        return " "
    item = node.items[0]
    # `~ @x` unquotes the symbol `@x`; `~@x` would splice x.
    return " " if node.text == "~" and item.text.startswith("@") and not item.before else ""


def _flat(node: Node) -> str:
    """Return a node on one line."""
    out: list[str] = []
    work: list[Node | str] = [node]
    while work:
        part = work.pop()
        if isinstance(part, str):
            out.append(part)
            continue
        out.append(part.text)
        if part.kind == "atom":
            continue
        work.append(part.close)
        for at in range(len(part.ending) - 1, -1, -1):
            work.append(part.ending[at].text)
            if at or part.items:
                work.append(" ")
        for at in range(len(part.items) - 1, -1, -1):
            item = part.items[at]
            work.append(item)
            for comment in reversed(item.before):
                work.append(comment.text + " ")
            work.append(_between(part, at))
    return "".join(out)


def _indent(token: str, indent: int) -> str:
    """Return a text block with its lines moved to a column, if it begins with a line break and
    keeps its value. Return any other token as it is."""
    if not token.startswith(('"""\n', '"""\r\n')):
        return token
    value = text_block(token)
    space = " " * indent
    lines = [space + line if line.strip("\r") else line for line in value.split("\n")]
    if token[token.rfind("\n") + 1 : -3].strip(" \t"):
        moved = '"""\n' + "\n".join(lines) + '"""'
    else:
        moved = '"""\n' + "\n".join(lines) + f'\n{space}"""'
    return moved if text_block(moved) == value else token
