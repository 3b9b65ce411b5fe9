"""The diagnosis of a text that cannot be read.

Law: there is a diagnostic exactly when the table refuses the text, or accepts it but there is a
splice in a table outside a quasiquote, or a comma in the place of Scheme's unquote. So the walk
tracks the same state as the grammar: open brackets, and marks and labels that wait for a form.
"""

import re
from itertools import islice

from sexplang.reader import reader_diagnostics
from sexplang.reader.characters import Flaw, find_hidden
from sexplang.reader.foreign_marks import find_hint
from sexplang.reader.parser import DEEPER, MAKERS, Forms
from sexplang.reader.scanner import StopDiagnosis, Token, scan, tell_hidden
from sexplang.terms.classes.node import define, field
from sexplang.terms.diagnostic import Diagnostic
from sexplang.terms.source import Source, Span

# More diagnostics than a person reads at once.
_MOST = 50

_COLON = re.compile(r"[ \t\r\n]+:(?![^\x00-\x20\x7f,()\[\]{}\";])")
_LEVEL = {"QUASIQUOTE": 1, "UNQUOTE": -1, "SPLICE": -1}
_HEAD_LEVEL = {"quasiquote": 1, "unquote": -1, "unquote-splicing": -1}
_OPENING = {"LPAR": "(", "LSQB": "[", "LBRACE": "{"}
_CLOSING = {"RPAR": "(", "RSQB": "[", "RBRACE": "{"}


@define(eq=False)
class _Frame:
    """An open bracket (or the text itself), and the marks and labels in it that wait for a form.

    `level` counts quasiquotes around the next form, waiting marks included.
    """

    opening: str
    start: int
    indentation: int
    level: int
    marks: list[Token] = field(factory=list)
    label: Token | None = None
    empty: bool = True
    complained: bool = False

    def push(self, mark: Token) -> None:
        self.marks.append(mark)
        self.level += _LEVEL.get(mark[0], 0)

    def pop(self) -> str:
        kind = self.marks.pop()[0]
        self.level -= _LEVEL.get(kind, 0)
        return kind


def diagnose(source: Source, max_depth: int, max_words: int, at: int) -> list[Diagnostic]:
    """Return the diagnostics of a text from `at` on, in order; none if it can be read."""
    walk = _Walk(source, max_depth, at)
    tell_hidden(source, at, walk.tell)
    walk.hides = bool(walk.found)
    try:
        walked = scan(source, at, walk.tell)
        for token in islice(walked, max_words + 1):
            walk.take(token)
        if next(walked, None) is not None:
            walk.tell(reader_diagnostics.too_many(source, walk.last[2], max_words))
            raise StopDiagnosis
        walk.finish()
    except StopDiagnosis:
        pass
    return sorted(walk.found, key=_place)


def _place(diagnostic: Diagnostic) -> int:
    assert diagnostic.span is not None
    return diagnostic.span.start


class _Walk:
    def __init__(self, source: Source, max_depth: int, at: int) -> None:
        self.source, self.text = source, source.text
        self.max_depth = max_depth
        self.found: list[Diagnostic] = []
        self.hides = False
        self.sound: set[tuple[str, str]] = set()
        """Kinds and texts of tokens that are right anywhere."""
        self.line_end = -1
        """The offset of the line end after the last token, or an earlier line end."""
        self.frames = [_Frame("", -1, -1, 0)]
        self.depth = 0
        self.last: Token = ("", at, at)
        self.indentation = 0
        self.suspects: list[tuple[_Frame, int]] = []
        self.forms = Forms(source)

    def tell(self, diagnostic: Diagnostic) -> None:
        self.found.append(diagnostic)
        if len(self.found) >= _MOST:
            raise StopDiagnosis

    def span(self, start: int, end: int) -> Span:
        return Span(self.source, start, end)

    def take(self, token: Token) -> None:
        kind, start, end = token
        frame = self.frames[-1]
        if start > self.line_end:
            self.note_indentation(token)
        if frame.level > 0 and self.is_unquoting_comma(kind, start):
            self.tell(
                reader_diagnostics.comma_unquote(self.span(start - 1, end), self.text[start:end])
            )
        if kind in _OPENING:
            self.deepen(token)
            level = max(0, frame.level)
            self.frames.append(_Frame(_OPENING[kind], start, self.indentation, level))
        elif kind in _CLOSING:
            self.close(token)
        elif kind in _LEVEL or kind in ("QUOTE", "DROP"):
            if kind != "DROP":
                self.deepen(token)
            frame.push(token)
        elif kind in ("LABEL", "STRING_LABEL"):
            self.take_label(token, sound=self.check(token))
        elif kind != "END":
            self.check(token)
            if frame.empty:
                self.note_head(frame, start, end)
            self.complete(token)
        self.last = token

    def check(self, token: Token) -> bool:
        """Report the flaw of a token, unless a hidden character in it is already reported."""
        kind, start, end = token
        word = kind, self.text[start:end]
        maker = MAKERS.get(kind)
        if maker is None or word in self.sound:
            return True
        if self.hides and any(find_hidden(self.text, start, end)):
            return True
        try:
            maker(self.forms, word[1], start, end)
        except Flaw as flaw:
            if end - start == 1 and kind == "LABEL" and self.last[0] in _CLOSING:
                flaw.hint = "no colon stands before a body: leave it out"
            elif end - start == 1 and kind == "LABEL" and self.last[0] == "NAME":
                flaw.hint = f"write `{self.text[slice(*self.last[1:])]}:`"
            frame = self.frames[-1]
            flaw.hint = (
                find_hint(self.text, start, end, frame.opening, frame.empty and not frame.marks)
                or flaw.hint
            )
            stop = end if flaw.end is None else start + flaw.end
            self.tell(reader_diagnostics.report_flaw(self.span(start + flaw.start, stop), flaw))
            return False
        self.sound.add(word)
        return True

    def deepen(self, token: Token) -> None:
        self.depth += 1
        if self.depth > self.max_depth:
            self.tell(reader_diagnostics.too_deep(self.span(*token[1:]), self.max_depth))
            raise StopDiagnosis

    def take_label(self, token: Token, *, sound: bool) -> None:
        frame = self.frames[-1]
        drops = [kind for kind, _, _ in frame.marks] == ["DROP"]
        if frame.opening not in ("(", "{") or (frame.marks and not (drops and not frame.label)):
            if sound:
                place = self.span(*token[1:])
                self.tell(
                    reader_diagnostics.label_misplaced(place, frame.opening, bool(frame.marks))
                )
            self.give_up_marks(frame)
            return
        if frame.label is not None:
            self.miss_value(frame)
        frame.marks.clear()
        frame.label = token
        frame.empty = False

    def complete(self, token: Token) -> None:
        """Record the end of a form: the marks and labels that waited have it now."""
        frame = self.frames[-1]
        first = frame.marks[0] if frame.marks else token
        while frame.marks:
            if frame.pop() == "DROP":
                return
            self.depth -= 1
        if frame.label is not None:
            frame.label = None
        elif frame.opening == "{" and not self.is_splice(first, frame):
            self.expect_label(frame, first, token)
        frame.empty = False

    def is_splice(self, first: Token, frame: _Frame) -> bool:
        return first[0] == "SPLICE" and frame.level > 0

    def expect_label(self, frame: _Frame, first: Token, token: Token) -> None:
        word = self.text[first[1] : first[2]]
        if first is token and first[0] in ("NAME", "WORD") and ":" in word:
            # `{n:3}`: a label and its value in one word; the next entry may be right.
            frame.complained = frame.complained or word.startswith(":")
            if first[0] == "NAME" and not word.startswith(":"):
                self.tell(reader_diagnostics.label_needs_space(self.span(*first[1:]), word))
        elif not frame.complained and not _COLON.match(self.text, token[2]):
            frame.complained = True
            place = self.span(first[1], max(first[2], token[2]))
            self.tell(reader_diagnostics.label_expected(place, self.text[first[1] : token[2]]))

    # ------------------------------------------------------------- closing

    def close(self, token: Token) -> None:
        kind, start, end = token
        frame, place = self.frames[-1], self.span(start, end)
        if len(self.frames) == 1:
            self.tell(reader_diagnostics.stray_closer(place))
            self.give_up_marks(frame)
            return
        if frame.opening != _CLOSING[kind]:
            opening = self.span(frame.start, frame.start + 1)
            self.tell(reader_diagnostics.report_mismatched_closer(place, opening))
            outer = [at for at, f in enumerate(self.frames) if f.opening == _CLOSING[kind]]
            while outer and len(self.frames) > outer[-1] + 1:
                self.leave()
        else:
            self.miss_forms(frame)
        start = self.frames[-1].start
        self.leave()
        self.complete(("FORM", start, end))

    def leave(self) -> None:
        frame = self.frames.pop()
        self.give_up_marks(frame)
        self.depth -= 1

    def give_up_marks(self, frame: _Frame) -> None:
        while frame.marks:
            self.depth -= frame.pop() != "DROP"

    def miss_forms(self, frame: _Frame) -> None:
        """Report the marks and labels without a form where a bracket closes."""
        if frame.marks:
            self.tell(reader_diagnostics.mark_without_form(self.span(*frame.marks[-1][1:])))
        elif frame.label is not None:
            self.miss_value(frame)

    def miss_value(self, frame: _Frame) -> None:
        assert frame.label is not None
        self.tell(reader_diagnostics.value_missing(self.span(*frame.label[1:])))

    def finish(self) -> None:
        """Report what is open at the end of the text."""
        if len(self.frames) == 1:
            self.miss_forms(self.frames[0])
            return
        outermost = self.frames[1].start
        blamed, end = next(
            ((frame, at) for frame, at in self.suspects if frame.start >= outermost),
            (self.frames[-1], None),
        )
        opening = self.span(blamed.start, blamed.start + 1)
        openings = [frame.opening for frame in reversed(self.frames[1:])]
        guess = None if end is None else self.span(end, end)
        over = self.span(len(self.text), len(self.text))
        self.tell(reader_diagnostics.report_unclosed_bracket(opening, openings, guess, over))

    # ------------------------------------------------------------- hints from the layout

    def note_indentation(self, token: Token) -> None:
        """Record a form that is indented no further than the line of an open bracket."""
        kind, start, end = token
        line_end = self.text.find("\n", end)
        self.line_end = line_end if line_end >= 0 else len(self.text)
        break_before = self.text.rfind("\n", self.last[2], start)
        if break_before < 0 or kind == "END":
            return
        self.indentation = start - break_before - 1
        frame = self.frames[-1]
        if kind not in _CLOSING and self.indentation <= frame.indentation:
            self.suspects.append((frame, self.last[2]))

    def note_head(self, frame: _Frame, start: int, end: int) -> None:
        """Record that `(quasiquote x)` in full counts as the mark does."""
        if frame.opening == "(" and not frame.marks:
            frame.level = max(0, frame.level + _HEAD_LEVEL.get(self.text[start:end], 0))

    def is_unquoting_comma(self, kind: str, start: int) -> bool:
        """Return whether a comma stands directly before a form and separates nothing."""
        if kind in _CLOSING or kind == "END" or self.text[start - 1] != ",":
            return False
        gap = self.text[self.last[2] : start].rstrip(",")
        return gap[-1] in " \t\r\n" if gap else self.last[0] in DEEPER
