"""The parser: text to forms by the generated LALR table, without diagnostics.

The table shifts and reduces; no code here depends on the notation. The methods of `Forms` are the
semantic actions of the grammar, for lark as an inline transformer and for the generated table
alike. A text that does not fit raises `Unreadable`; `diagnosis.py` explains it.
"""

import re
from collections.abc import Callable
from itertools import islice
from typing import Any, TypeAlias

from sexplang.reader import _table
from sexplang.reader.token_values import (
    CONSTANTS,
    check_label,
    check_name,
    number,
    string,
    string_label,
    text_block,
)
from sexplang.terms.form import Form, Label, ListForm, Literal, Name, TableForm, VectorForm
from sexplang.terms.source import Source, Span

Items: TypeAlias = list[Form]
Place: TypeAlias = tuple[int, int]

MARKS = {"'": "quote", "`": "quasiquote", "~": "unquote", "~@": "unquote-splicing"}


class Forms:
    """The builder of the forms of one source."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.seen: set[str] = set()
        # A splice in a table is valid only in a quasiquote, which is known only at its end.
        self.spliced = False

    def name(self, text: str, start: int, end: int) -> Form:
        if text not in self.seen:
            if text in CONSTANTS:
                return Literal(CONSTANTS[text], Span(self.source, start, end))
            check_name(text)
            self.seen.add(text)
        return Name(text, Span(self.source, start, end))

    def number(self, text: str, start: int, end: int) -> Form:
        return Literal(number(text), Span(self.source, start, end))

    def string(self, text: str, start: int, end: int) -> Form:
        return Literal(string(text), Span(self.source, start, end))

    def text(self, text: str, start: int, end: int) -> Form:
        return Literal(text_block(text), Span(self.source, start, end))

    def label(self, text: str, start: int, end: int) -> Form:
        if text not in self.seen:
            check_label(text)
            self.seen.add(text)
        return Label(text[:-1], Span(self.source, start, end))

    def string_label(self, text: str, start: int, end: int) -> Form:
        return Label(string_label(text), Span(self.source, start, end))

    def none(self) -> Items:
        return []

    def add(self, forms: Items, form: Form) -> Items:
        forms.append(form)
        return forms

    def add_labelled(self, forms: Items, label: Form, value: Form) -> Items:
        forms += (label, value)
        return forms

    def add_splice(self, forms: Items, mark: Place, form: Form) -> Items:
        self.spliced = True
        forms.append(self.quotation(mark, form))
        return forms

    def drop(self, forms: Items, dropped: None) -> Items:
        return forms

    def omission(self, mark: Place, *entry: Form) -> None:
        return None

    entry_omission = omission

    def value(self, form: Form) -> Form:
        return form

    def second(self, dropped: None, form: Form) -> Form:
        return form

    def list(self, opening: Place, items: Items, closing: Place) -> Form:
        return ListForm(tuple(items), Span(self.source, opening[0], closing[1]))

    def vector(self, opening: Place, items: Items, closing: Place) -> Form:
        return VectorForm(tuple(items), Span(self.source, opening[0], closing[1]))

    def table(self, opening: Place, items: Items, closing: Place) -> Form:
        return TableForm(tuple(items), Span(self.source, opening[0], closing[1]))

    def quotation(self, mark: Place, form: Form) -> Form:
        start, end = mark
        name = Name(MARKS[self.source.text[start:end]], Span(self.source, start, end))
        return ListForm((name, form), Span(self.source, start, form.span.end))


MAKERS: dict[str, Callable[[Forms, str, int, int], Form]] = {
    "NAME": Forms.name,
    "NUMBER": Forms.number,
    "STRING": Forms.string,
    "TEXT": Forms.text,
    "LABEL": Forms.label,
    "STRING_LABEL": Forms.string_label,
}
"""The action for a token, by its name. Any other token is kept as its place."""


# White space before a token costs no match of its own: group 1 is the begin of the token. The empty
# group that names the token is behind it, so that its first character is tested first.
_TOKENS = dict(line.split(" ", 1) for line in _table.TOKENS.strip().splitlines())
_SPACE = _TOKENS.pop("SPACE")
TOKEN = re.compile(
    f"(?:{_SPACE})?+()(?:"
    + "|".join(f"(?:{pattern})(?P<{name}>)" for name, pattern in _TOKENS.items())
    + r"|\Z(?P<END>)|[\s\S](?P<BAD>))"
)
_COMMENT = re.compile(f"(?:{_SPACE})?+#\\|")
_COMMENT_MARKS = re.compile(r"(?:\|#)++|(?:#\|)++")

MARK_TOKENS = ("QUOTE", "QUASIQUOTE", "UNQUOTE", "SPLICE")
DEEPER = frozenset(("LPAR", "LSQB", "LBRACE", *MARK_TOKENS))
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
                if kind in MARK_TOKENS:
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
    """Return the end of a comment that opens at `at`. Raises Unreadable if it is not closed."""
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
