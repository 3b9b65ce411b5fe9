"""The forms of any text, read as if missing brackets were there.

The forms of a sound text are the reader's, except that all numbers are nil. Where brackets do not
match, the tree guesses as editors do: a closing bracket closes the nearest that it fits, and a form
in the first column is at the top. Nesting deeper than a program may have is not read.
"""

from collections import Counter
from collections.abc import Callable, Sequence

from sexplang.hosts.tokens import CLOSING, LABELS, MARKS, OPENING, TRIVIA, Token
from sexplang.reader.characters import Flaw
from sexplang.reader.token_values import CONSTANTS, string, text_block
from sexplang.terms.classes.node import define, field
from sexplang.terms.form import Form, Label, ListForm, Literal, Name, TableForm, VectorForm
from sexplang.terms.source import Source, Span

_KINDS: dict[str, type[ListForm] | type[VectorForm] | type[TableForm]] = {
    "(": ListForm,
    "[": VectorForm,
    "{": TableForm,
}


_DEEPEST = 10_000


def forms_of(source: Source, found: Sequence[Token]) -> tuple[Form, ...]:
    """Return the forms at the top of the text of these tokens."""
    forms, is_balanced = _Tree(source, False).grow(found)
    return forms if is_balanced else _Tree(source, True).grow(found)[0]


@define(eq=False)
class _Frame:
    """An open bracket, or the text itself, with the marks that wait for its next form."""

    opening: str
    start: int
    items: list[Form] = field(factory=list)
    marks: list[Token] = field(factory=list)


class _Tree:
    def __init__(self, source: Source, restarts: bool) -> None:
        self.source = source
        self.restarts = restarts
        self.frames = [_Frame("", 0)]
        self.open = Counter[str]()
        """The number of open brackets of each kind."""

    def grow(self, found: Sequence[Token]) -> tuple[tuple[Form, ...], bool]:
        """Return the forms at the top, and whether every bracket was closed."""
        last = 0
        for token in found:
            kind = token.kind
            if kind in TRIVIA:
                continue
            frame = self.frames[-1]
            if kind in OPENING:
                if self.restarts and self._is_first_column(token):
                    while len(self.frames) > 1:
                        self._close(last)
                if len(self.frames) > _DEEPEST:
                    break
                self.frames.append(_Frame(OPENING[kind], token.start))
                self.open[OPENING[kind]] += 1
            elif kind in CLOSING:
                self._closer(token)
            elif kind in MARKS or kind == "DROP":
                frame.marks.append(token)
            elif kind in LABELS:
                frame.items.append(self._label(token))
            else:
                self._complete(self._atom(token))
            last = token.end
        is_balanced = len(self.frames) == 1
        while len(self.frames) > 1:
            self._close(len(self.source.text))
        return tuple(self.frames[0].items), is_balanced

    def _is_first_column(self, token: Token) -> bool:
        text = self.source.text
        return token.kind == "LPAR" and (token.start == 0 or text[token.start - 1] in "\r\n")

    def _closer(self, token: Token) -> None:
        wanted = CLOSING[token.kind]
        if not self.open[wanted]:
            return
        while self.frames[-1].opening != wanted:
            self._close(token.start)
        self._close(token.end)

    def _close(self, end: int) -> None:
        frame = self.frames.pop()
        self.open[frame.opening] -= 1
        kind = _KINDS[frame.opening]
        self._complete(kind(tuple(frame.items), span=Span(self.source, frame.start, end)))

    def _complete(self, form: Form) -> None:
        frame = self.frames[-1]
        while frame.marks:
            mark = frame.marks.pop()
            if mark.kind == "DROP":
                return
            name = Name(MARKS[mark.kind], span=Span(self.source, mark.start, mark.end))
            span = Span(self.source, mark.start, form.span.end)
            form = ListForm((name, form), span=span)
        frame.items.append(form)

    def _label(self, token: Token) -> Label:
        text = self.source.text[token.start : token.end - 1]
        if token.kind == "STRING_LABEL":
            text = _read(string, text.rstrip(" \t\r\n"))
        return Label(text, span=Span(self.source, token.start, token.end))

    def _atom(self, token: Token) -> Form:
        span = Span(self.source, token.start, token.end)
        text = span.text
        if token.kind == "NAME":
            return (
                Literal(CONSTANTS[text], span=span) if text in CONSTANTS else Name(text, span=span)
            )
        if token.kind == "STRING":
            return Literal(_read(string, text), span=span)
        if token.kind == "TEXT":
            return Literal(_read(text_block, text), span=span)
        if token.kind == "OPEN":
            return Literal(text.lstrip('"#|'), span=span)
        return Literal(None, span=span)


def _read(reading: Callable[[str], str], text: str) -> str:
    try:
        return reading(text)
    except Flaw:
        return text.strip('"')
