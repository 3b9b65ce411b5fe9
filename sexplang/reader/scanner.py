"""The scanner for diagnosis: tokens, with reports of invalid ones."""

import re
from collections.abc import Callable, Iterator

from sexplang.reader import reader_diagnostics
from sexplang.reader.characters import find_hidden
from sexplang.reader.parser import TOKEN, Unreadable, comment_end
from sexplang.terms.diagnostic import Diagnostic
from sexplang.terms.source import Source, Span

Token = tuple[str, int, int]
Tell = Callable[[Diagnostic], None]

_WORD = re.compile(r"""[^\x00-\x20\x7f,()\[\]{}"';`~]+""")


class StopDiagnosis(Exception):
    """Nothing more is worth a report: the rest is unintelligible, or there are too many
    diagnostics."""


def tell_hidden(source: Source, at: int, tell: Tell) -> None:
    """Report every hidden character."""
    for match in find_hidden(source.text, at):
        try:
            tell(reader_diagnostics.report_hidden_character(Span(source, *match.span()), match[0]))
        except StopDiagnosis:
            return


def scan(source: Source, at: int, tell: Tell) -> Iterator[Token]:
    """Yield the tokens of a text up to its end. A word that runs into a quoting mark is a
    `WORD`."""
    text = source.text
    while True:
        kind = ""
        for match in TOKEN.finditer(text, at):
            kind = str(match.lastgroup)
            start, at = match.start(1), match.end()
            if kind in ("COMMENT", "BAD"):
                break
            yield kind, start, at
        if kind == "END":
            return
        if kind == "COMMENT":
            at = _comment(source, start, at, tell)
        elif word := _report_broken_word(source, start, tell):
            at = word
            yield "WORD", start, at


def _comment(source: Source, start: int, end: int, tell: Tell) -> int:
    try:
        return comment_end(source.text, end)
    except Unreadable:
        tell(
            reader_diagnostics.report_unterminated("unterminated-comment", Span(source, start, end))
        )
        raise StopDiagnosis from None


def _report_broken_word(source: Source, start: int, tell: Tell) -> int:
    """Report the flaw at a place where no token begins. Return the end of the word there, or 0."""
    text = source.text
    if text[start] == '"':
        if text.startswith('"""', start):
            tell(
                reader_diagnostics.report_unterminated(
                    "unterminated-text", Span(source, start, start + 3)
                )
            )
        else:
            tell(
                reader_diagnostics.report_unterminated(
                    "unterminated-string", Span(source, start, start + 1)
                )
            )
        raise StopDiagnosis
    word = _WORD.match(text, start)
    if word is None:
        return 0  # a control character, reported already
    end = word.end()
    tell(reader_diagnostics.mark_after_word(Span(source, start, end), word[0], text[end]))
    return end
