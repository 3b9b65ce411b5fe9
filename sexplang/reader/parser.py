"""The parser: text to forms by the generated LALR table, without diagnostics.

The table shifts and reduces; no code here depends on the notation. A text that does not fit raises
`Unreadable`; `diagnosis.py` explains it.
"""

import re
from itertools import islice
from typing import Any, TypeAlias

from sexplang.reader import _table
from sexplang.reader.form_builder import MAKERS, Forms
from sexplang.terms.form import Form

# White space before a token costs no match of its own: group 1 is the begin of the token. The empty
# group that names the token is behind it, so that its first character is tested first.
_TOKENS = dict(line.split(" ", 1) for line in _table.TOKENS.strip().splitlines())
_SPACE = _TOKENS.pop("SPACE")
TOKEN = re.compile(
    f"(?:{_SPACE})?+()(?:"
    + "|".join(f"(?:{pattern})(?P<{name}>)" for name, pattern in _TOKENS.items())
    + r"|\Z(?P<END>)|[\s\S](?P<BAD>))"
)
# `re` compiles these at their first use: few texts have such a comment.
_COMMENT = f"(?:{_SPACE})?+#\\|"
_COMMENT_MARKS = r"(?:\|#)++|(?:#\|)++"

MARKS = ("QUOTE", "QUASIQUOTE", "UNQUOTE", "SPLICE")
DEEPER = frozenset(("LPAR", "LSQB", "LBRACE", *MARKS))
_SHALLOWER = frozenset(("list", "vector", "table", "quotation", "add_splice"))

_Row: TypeAlias = dict[str, "_Move"]
"""The moves of a state, by symbol."""

_Move: TypeAlias = tuple[Any, Any, Any]
"""The action on a token, the action on a value, the next state's row.

The action on a value is `_ADD`, `_BEGIN` or a reduction: the resulting symbol, the number of values
that it takes, their action, and whether it ends a level. None only moves on.
"""

# Half of all reductions add an item to a sequence. Such a reduction returns to the state before the
# item, so the item is not pushed. That saves a quarter of the time.
_ADD = "add"

# An opening bracket begins a sequence: its own state and that of the sequence follow at once.
_BEGIN = "begin"

_STOP = "stop"


class Unreadable(Exception):
    """The text is not a sequence of forms."""


class TooManyWords(Exception):
    """The text has more words than are read; `end` is the end of the last one."""

    def __init__(self, end: int) -> None:
        super().__init__(end)
        self.end = end


def parse(text: str, forms: Forms, max_depth: int, max_words: int, at: int) -> list[Form]:
    """Return the forms of a text from `at` on. Raises Unreadable, TooManyWords, or a token's
    Flaw."""
    # The state and the value on top, and those below.
    row, top = _START["forms"][2], []  # type: tuple[_Row, Any]
    stack: list[tuple[_Row, Any]] = [(_START, None)]
    depth = 0
    left = max_words + 1  # the end of the text counts as a token
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
            while left > 0 and (comment := re.compile(_COMMENT).match(text, at)):
                left -= 1
                at = comment_end(text, comment.end())
        elif kind == "END" and len(stack) == 1:
            return top  # type: ignore[no-any-return]
        else:
            raise Unreadable


def comment_end(text: str, at: int) -> int:
    """Return the end of a comment that opens at `at`. Raises Unreadable if it is not closed."""
    depth = 1
    for marks in re.compile(_COMMENT_MARKS).finditer(text, at):
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
    """Return the table in memory, as the row of the initial state."""
    table = {}
    for line in _table.STATES.strip().splitlines():
        number, _, rest = line.partition(": ")
        ways, _, reduction = rest.partition("-> ")
        table[number] = dict(way.split("=") for way in ways.split()), reduction.split()
    rows: dict[str, _Row] = {number: {} for number in table}

    def move(state: str, symbol: str) -> tuple[Any, Any]:
        """Return the reduction and the next row after a symbol."""
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
