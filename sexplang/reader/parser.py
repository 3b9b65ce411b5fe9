"""Text to forms by lark's table: quick, and silent about what is wrong.

The table shifts and reduces; nothing here knows the notation. A text that does not fit raises
`Unreadable`, and `diagnosing.py` says why.
"""

import re
from itertools import islice
from typing import Any, TypeAlias

from sexplang.reader import _table
from sexplang.reader.form_builder import MAKERS, Forms
from sexplang.terms.form import Form

# White space before a token costs no match of its own: group 1 is where the token begins. The
# group that names it is empty and stands behind it, so that its first character is looked at first.
_TOKENS = dict(line.split(" ", 1) for line in _table.TOKENS.strip().splitlines())
_SPACE = _TOKENS.pop("SPACE")
TOKEN = re.compile(
    f"(?:{_SPACE})?+()(?:"
    + "|".join(f"(?:{pattern})(?P<{name}>)" for name, pattern in _TOKENS.items())
    + r"|\Z(?P<END>)|[\s\S](?P<BAD>))"
)
_COMMENT = re.compile(f"(?:{_SPACE})?+#\\|")
_COMMENT_MARKS = re.compile(r"(?:\|#)++|(?:#\|)++")

MARKS = ("QUOTE", "QUASIQUOTE", "UNQUOTE", "SPLICE")
DEEPER = frozenset(("LPAR", "LSQB", "LBRACE", *MARKS))
_SHALLOWER = frozenset(("list", "vector", "table", "quotation", "add_splice"))

_Row: TypeAlias = dict[str, "_Move"]
"""What comes of each symbol in a state."""

_Move: TypeAlias = tuple[Any, Any, Any]
"""What makes the value of a token; what is done with a value; the next state's row.

Done with it: `_ADD` or `_BEGIN`, or a reduction: the symbol that comes of it, how many values
below it are taken, what makes the new one, and whether it ends a level. None only moves on."""

# Half of all reductions add an item to a sequence. After such a one the parser stands where it
# stood before the item, so the item need not be pushed: a quarter of the time is saved.
_ADD = "add"

# An opening bracket begins a sequence: its own state and that of the sequence follow at once.
_BEGIN = "begin"

_STOP = "stop"


class Unreadable(Exception):
    """The text is not a sequence of forms."""


class TooManyWords(Exception):
    """The text goes on after the last word that is read; `end` is where that ends."""

    def __init__(self, end: int) -> None:
        super().__init__(end)
        self.end = end


def parse(text: str, forms: Forms, max_depth: int, max_words: int, at: int) -> list[Form]:
    """The forms of a text from `at` on. Raises Unreadable, Endless, or a token's Flaw."""
    # The state and the value on top, and those below.
    row, top = _START["forms"][2], []  # type: tuple[_Row, Any]
    stack: list[tuple[_Row, Any]] = [(_START, None)]
    depth = 0
    left = max_words + 1  # the end of the text is a token too
    while True:
        end = at
        for match in islice(TOKEN.finditer(text, at), left):
            kind: Any = match.lastgroup
            maker, step, onward = row[kind]
            start, end = match.start(1), match.end()
            if step is _ADD:
                top.append(maker(forms, text[start:end], start, end))
                continue
            if step is _STOP:
                break
            if step is _BEGIN:
                stack += (row, top), (onward[0], (start, end))
                row, top = onward[1], []
                depth += 1
                if depth > max_depth:
                    raise Unreadable
                continue
            value = (start, end) if maker is None else maker(forms, text[start:end], start, end)
            while step is not None:
                symbol, below, action, rise = step
                depth -= rise
                newest = top
                row, top = stack.pop()
                if below == 1:
                    value = action(forms, newest, value)
                else:
                    value = action(forms, top, newest, value)
                    row, top = stack.pop()
                _, step, onward = row[symbol]
                if step is _ADD:
                    top.append(value)
                    break
            else:
                stack.append((row, top))
                row, top = onward, value
                if kind in MARKS:
                    depth += 1
                    if depth > max_depth:
                        raise Unreadable
        else:
            raise TooManyWords(end)
        if kind == "COMMENT":
            read = TOKEN.finditer(text, at, start)
            left -= 1 + sum(match.lastgroup != "END" for match in read)
            at = comment_end(text, end)
            while left > 0 and (comment := _COMMENT.match(text, at)):
                left -= 1
                at = comment_end(text, comment.end())
        elif kind == "END" and len(stack) == 1:
            return top  # type: ignore[no-any-return]
        else:
            raise Unreadable


def comment_end(text: str, at: int) -> int:
    """Where the comment whose opening ends at `at` is over. Raises Unreadable if nowhere."""
    depth = 1
    for marks in _COMMENT_MARKS.finditer(text, at):
        start, end = marks.span()
        count = (end - start) // 2
        if text[start] == "#":
            depth += count
        elif count < depth:
            depth -= count
        else:
            return start + 2 * depth
    raise Unreadable


def _unpack() -> _Row:
    """The table as it is used: the row of the state in which a text begins."""
    table = {}
    for line in _table.STATES.strip().splitlines():
        number, _, rest = line.partition(": ")
        ways, _, reduction = rest.partition("-> ")
        table[number] = dict(way.split("=") for way in ways.split()), reduction.split()
    rows: dict[str, _Row] = {number: {} for number in table}

    def move(state: str, symbol: str) -> tuple[Any, Any]:
        """The reduction and the next row after a symbol."""
        onward = table[state][0][symbol]
        if not table[onward][1]:
            return None, rows[onward]
        result, size, method = table[onward][1]
        if size == "0":
            return _BEGIN, (rows[onward], rows[table[onward][0][result]])
        if size == "1":
            # Another name for the same value.
            return move(state, result)
        if method == "add":
            return _ADD, None
        return (result, int(size) - 1, getattr(Forms, method), method in _SHALLOWER), None

    for state, row in rows.items():
        for symbol in table[state][0]:
            row[symbol] = (MAKERS.get(symbol), *move(state, symbol))
        for symbol in TOKEN.groupindex:
            row.setdefault(symbol, (None, _STOP, None))
    return rows["0"]


_START = _unpack()
