"""The concrete syntax tree of a text: tokens as written, with comments in place.

Forms drop comments; the formatter may not. So this is a second, lighter parse of texts that `read`
accepts: no diagnostics, no values, every token as spelled.

Law: the tree depends on tokens, on comments with their places (own line, end of a line, within a
line), and on blank lines at the top; on no other white space.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Literal

from sexplang.reader.parser import TOKEN, comment_end
from sexplang.terms.classes.node import define, field

Kind = Literal["atom", "list", "vector", "table", "mark", "label", "text"]
Place = Literal["own", "end", "within"]

_BRACKETS: dict[str, tuple[Kind, str]] = {
    "LPAR": ("list", ")"),
    "LSQB": ("vector", "]"),
    "LBRACE": ("table", "}"),
}
_CLOSING = frozenset(("RPAR", "RSQB", "RBRACE"))
_MARKS = frozenset(("QUOTE", "QUASIQUOTE", "UNQUOTE", "SPLICE", "DROP"))
_LABELS = frozenset(("LABEL", "STRING_LABEL"))

_TRIVIA = re.compile(r"(?P<BREAK>\r\n|[\r\n])|(?P<LINE>;[^\r\n\u2028\u2029]*+)|(?P<BLOCK>#\|)")


@define(eq=False)
class Comment:
    """One comment, or several on one line. `lines` has more than one item if line comments continue
    below the end of a line, in the same column."""

    lines: list[str]
    place: Place
    blank: bool
    """Whether a blank line precedes it."""
    begins: bool
    """Whether only white space precedes it on its line."""
    column: int

    @property
    def text(self) -> str:
        return self.lines[0]


@define(eq=False)
class Node:
    """One form, a dropped form, or a label with its value, with the comments before and after
    it."""

    kind: Kind
    text: str
    """An atom's whole token; else the opening token: a bracket, a mark, a label."""
    items: "list[Node]" = field(factory=list)
    """The items in brackets, in order. For a mark or a label: the dropped forms before the value,
    and the value."""
    close: str = ""
    before: Sequence[Comment] = ()
    after: Comment | None = None
    """The comment at the end of its last line."""
    opening: Comment | None = None
    """The comment at the end of its first line."""
    ending: Sequence[Comment] = ()
    """Comments before the closing bracket."""
    blank: bool = False
    quoted: bool = False
    width: int = 0
    """The columns on one line; `layout_rules.NEVER` if it cannot be on one line."""
    narrow: int = 0
    """The columns when it is broken wherever possible, or slightly fewer."""
    wide: bool = False
    """Whether it should be broken although it fits on one line."""

    @property
    def is_dropped(self) -> bool:
        return self.text == "#;" and self.kind == "mark"


def concrete(text: str) -> Iterator[Node]:
    """Yield every node of a text, inner ones first. The last, of kind `text`, is the root."""
    root = Node("text", "")
    at = int(text.startswith("\ufeff"))
    last = root  # what has just ended or begun: it gets the comment at the end of its line
    stack = [root]
    while True:
        kind, start, end = _token(text, at)
        comments: Sequence[Comment] = ()
        blank = False
        # Most gaps are a single space.
        if start > at + 1 or (start > at and text[at] != " "):
            comments, blank = _comments(text, at, start, kind == "END")
        if comments and comments[0].place == "end":
            if last is stack[-1]:
                last.opening = comments[0]
            else:
                last.after = comments[0]
            comments = comments[1:]
        at = end
        if kind == "END":
            root.ending = comments
            yield root
            return
        top = stack[-1]
        if kind in _CLOSING:
            top.ending = comments
            last = stack.pop()
            yield last
        else:
            node = _open(kind, text[start:end])
            node.before, node.blank = comments, blank
            node.quoted = top.kind == "mark" and top.text == "'"
            if node.kind != "atom":
                stack.append(node)
                last = node
                continue
            last = node
            yield node
        # The end of a node may end the marks and labels that wait for it.
        while True:
            top = stack[-1]
            top.items.append(last)
            if top.kind not in ("mark", "label") or last.is_dropped:
                break
            last = stack.pop()
            yield last


def _token(text: str, at: int) -> tuple[str, int, int]:
    """Return the token after white space and comments."""
    while True:
        match = TOKEN.match(text, at)
        assert match is not None and match.lastgroup is not None
        start, end = match.start(1), match.end()
        if match.lastgroup != "COMMENT":
            return match.lastgroup, start, end
        at = comment_end(text, end)


def _open(kind: str, text: str) -> Node:
    if kind in _BRACKETS:
        name, close = _BRACKETS[kind]
        return Node(name, text, close=close)
    if kind in _MARKS:
        return Node("mark", text)
    if kind in _LABELS:
        return Node("label", text[:-1].rstrip(" \t\r\n") + ":")
    return Node("atom", text)


def _comments(text: str, at: int, end: int, is_last: bool) -> tuple[list[Comment], bool]:
    """Return the comments between two tokens, and whether a blank line follows them."""
    found: list[Comment] = []
    is_first = not text[:at].strip("\ufeff")
    breaks = 0
    while match := _TRIVIA.search(text, at, end):
        at = match.end()
        if match.lastgroup == "BREAK":
            _end_line(found, breaks)
            breaks += 1
            continue
        if match.lastgroup == "BLOCK":
            at = comment_end(text, at)
        shown = text[match.start() : at].rstrip(" \t")
        if found and not breaks:
            found[-1].lines[-1] += " " + shown
            continue
        begins = breaks > 0 or (is_first and not found)
        column = match.start() - text.rfind("\n", 0, match.start())
        comment = Comment([shown], "own" if begins else "within", breaks > 1, begins, column)
        if breaks == 1 and _goes_on(found, comment):
            found[-1].lines.append(shown)
        else:
            found.append(comment)
        breaks = 0
    if is_last:
        _end_line(found, breaks)
    elif found and not breaks:
        found[-1].place = "within"
    return found, breaks > 1


def _end_line(found: list[Comment], breaks: int) -> None:
    """End the line of the last comment. Only a comment after a token is at its line's end."""
    if found and not breaks and not found[-1].begins:
        found[-1].place = "end"


def _goes_on(found: list[Comment], comment: Comment) -> bool:
    """Return whether a comment on a line of its own continues the one at the end of the line
    above."""
    return (
        len(found) == 1
        and found[0].place == "end"
        and comment.column == found[0].column
        and comment.text.startswith(";")
        and found[0].text.startswith(";")
    )
