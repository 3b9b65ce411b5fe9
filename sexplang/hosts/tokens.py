"""The tokens of any text, whole or broken, for editors and colours.

Law: the tokens together are the text again. The tokens of a sound text are the reader's. At a
lexical error the reader stops and this scanner goes on.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from sexplang.reader.parser import TOKEN, Unreadable, comment_end


class Token(NamedTuple):
    """A stretch of text.

    `kind` is the grammar's name of a token (`NAME`, `LPAR`, `STRING_LABEL` …), or SPACE,
    LINE_COMMENT, COMMENT for a nested one, OPEN for a string, text block or comment that never
    ends, or BAD.
    """

    kind: str
    start: int
    end: int


OPENING = {"LPAR": "(", "LSQB": "[", "LBRACE": "{"}
CLOSING = {"RPAR": "(", "RSQB": "[", "RBRACE": "{"}
MARKS = {
    "QUOTE": "quote",
    "QUASIQUOTE": "quasiquote",
    "UNQUOTE": "unquote",
    "SPLICE": "unquote-splicing",
}
LABELS = frozenset(["LABEL", "STRING_LABEL"])
TRIVIA = frozenset(["SPACE", "LINE_COMMENT", "COMMENT"])

_BETWEEN = re.compile(r"(?P<SPACE>[ \t\r\n,]+)|(?P<LINE_COMMENT>;[^\r\n\u2028\u2029]*)")
_WORD = re.compile(r"""[^\x00-\x20\x7f,()\[\]{}"';`~]+""")
_REST_OF_LINE = re.compile(r"[^\r\n]*")


def tokens(text: str) -> Iterator[Token]:
    """Yield the tokens of a text; each begins where the one before ends."""
    at, stopped = 0, False
    while not stopped:
        stopped = True
        for match in TOKEN.finditer(text, at):
            kind = str(match.lastgroup)
            start, end = match.start(1), match.end()
            yield from _between(text, at, start)
            at = end
            if kind == "END":
                break
            if kind in ("COMMENT", "BAD"):
                token = (
                    _comment(text, start, end) if kind == "COMMENT" else _read_broken(text, start)
                )
                yield token
                at, stopped = token.end, False
                break
            yield Token(kind, start, end)


def _between(text: str, at: int, end: int) -> Iterator[Token]:
    while at < end:
        match = _BETWEEN.match(text, at, end)
        assert match is not None
        yield Token(str(match.lastgroup), at, match.end())
        at = match.end()


def _comment(text: str, start: int, end: int) -> Token:
    try:
        return Token("COMMENT", start, comment_end(text, end))
    except Unreadable:
        return Token("OPEN", start, len(text))


def _read_broken(text: str, start: int) -> Token:
    """Return a token for text that the grammar has no token for: a string without an end, a mark
    inside a word, a character without a meaning."""
    if text.startswith('"""', start):
        return Token("OPEN", start, len(text))
    if text[start] == '"':
        # Usually the end is missing on the line that is being typed.
        line = _REST_OF_LINE.match(text, start)
        assert line is not None
        return Token("OPEN", start, line.end())
    word = _WORD.match(text, start)
    return Token("BAD", start, word.end() if word else start + 1)
