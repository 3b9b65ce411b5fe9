"""Text to forms by lark's table: quick, and silent about what is wrong.

The table shifts and reduces; nothing here knows the notation. A text that does not fit raises
`Unreadable`, and `diagnosing.py` says why.
"""

import re
from collections.abc import Callable
from itertools import repeat
from typing import Any

from sexplang.reader import _table
from sexplang.reader.forms import Forms
from sexplang.terms.form import Form

# White space before a token costs no match of its own.
_TOKENS = dict(line.split(" ", 1) for line in _table.TOKENS.strip().splitlines())
_SPACE = _TOKENS.pop("SPACE")
TOKEN = re.compile(
    f"(?:{_SPACE})?+(?:"
    + "|".join(f"(?P<{name}>{pattern})" for name, pattern in _TOKENS.items())
    + r"|(?P<END>\Z)|(?P<BAD>[\s\S]))"
)
_COMMENT_MARK = re.compile(r"\|#|#\|")

MARKS = ("QUOTE", "QUASIQUOTE", "UNQUOTE", "SPLICE")
DEEPER = frozenset(("LPAR", "LSQB", "LBRACE", *MARKS))
_SHALLOWER = frozenset(("list", "vector", "table", "marked", "add_splice"))

_Reduction = tuple[str, int, str]
_Step = tuple[str, int, Callable[[list[Any]], Any], bool]

# Half of all reductions add an item to a sequence. After such a one the parser stands where it
# stood before the item, so the item need not be pushed: a quarter of the time is saved.
_ADD: _Step = ("", 0, list, False)


class Unreadable(Exception):
    """The text is not a sequence of forms."""


class Endless(Exception):
    """The text goes on after the last word that is read; `end` is where that ends."""

    def __init__(self, end: int) -> None:
        super().__init__(end)
        self.end = end


def parse(text: str, forms: Forms, max_depth: int, max_words: int, at: int) -> list[Form]:
    """The forms of a text from `at` on. Raises Unreadable, Endless, or a token's Flaw."""
    steps = _steps(forms)
    makers = forms.tokens()
    # The first reduction, of nothing to no forms, is done.
    states, values = [0, 1], [[]]  # type: tuple[list[int], list[Any]]
    depth = 0
    words = repeat(None, max_words + 1)  # the end of the text is a token too
    while True:
        kind: Any = None
        for match, _ in zip(TOKEN.finditer(text, at), words, strict=False):
            kind = match.lastgroup
            place = match.span(kind)
            state = _WAYS[states[-1]].get(kind)
            if state is None:
                break
            maker = makers.get(kind)
            value = place if maker is None else maker(match[kind], *place)
            step = steps[state]
            if step is _ADD:
                values[-1].append(value)
                continue
            states.append(state)
            values.append(value)
            if kind in DEEPER:
                depth += 1
                if depth > max_depth:
                    raise Unreadable
            while step is not None:
                symbol, size, action, rise = step
                depth -= rise
                if size:
                    parts = values[-size:]
                    del values[-size:], states[-size:]
                else:
                    parts = []
                value = action(parts)
                state = _WAYS[states[-1]][symbol]
                step = steps[state]
                if step is _ADD:
                    values[-1].append(value)
                    break
                states.append(state)
                values.append(value)
        if kind == "COMMENT":
            at = comment_end(text, place[1])
        elif kind == "END" and len(states) == 2:
            return values[0]  # type: ignore[no-any-return]
        elif not words.__length_hint__():
            raise Endless(at if kind is None else place[1])
        else:
            raise Unreadable


def comment_end(text: str, at: int) -> int:
    """Where the comment whose opening ends at `at` is over. Raises Unreadable if nowhere."""
    depth = 1
    for mark in _COMMENT_MARK.finditer(text, at):
        depth += 1 if mark[0] == "#|" else -1
        if not depth:
            return mark.end()
    raise Unreadable


def _steps(forms: Forms) -> list[_Step | None]:
    """For each state what it reduces, if anything, with the method bound."""
    return [
        _ADD
        if step and step[2] == "add"
        else step and (step[0], step[1], getattr(forms, step[2]), step[2] in _SHALLOWER)
        for step in _REDUCTIONS
    ]


def _unpack() -> tuple[list[dict[str, int]], list[_Reduction | None]]:
    """The table as it is used: each state's ways on, each state's reduction."""
    rows = dict(row.split(": ", 1) for row in _table.STATES.strip().splitlines())
    ways: list[dict[str, int]] = []
    reductions: list[_Reduction | None] = []
    for number in range(max(map(int, rows)) + 1):
        on, _, reduction = rows.get(str(number), "").partition("-> ")
        pairs = (way.split("=") for way in on.split())
        ways.append({symbol: int(state) for symbol, state in pairs})
        symbol, size, method = reduction.split() if reduction else ("", "0", "")
        reductions.append((symbol, int(size), method) if reduction else None)
    return ways, reductions


_WAYS, _REDUCTIONS = _unpack()
