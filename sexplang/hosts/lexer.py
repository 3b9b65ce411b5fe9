"""A Pygments lexer: program text to coloured tokens.

Law: the tokens of any text are the text again. A text that the reader accepts has no Error token.
"""

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from pygments.lexer import Lexer
from pygments.token import (
    Comment,
    Error,
    Keyword,
    Name,
    Number,
    Operator,
    Punctuation,
    String,
    Whitespace,
)

from sexplang.hosts.tokens import CLOSING, LABELS, MARKS, OPENING, TRIVIA, Token, tokens

_BY_KIND: dict[str, Any] = {
    "SPACE": Whitespace,
    "LINE_COMMENT": Comment.Single,
    "COMMENT": Comment.Multiline,
    "DROP": Comment.Special,
    "STRING": String.Double,
    "TEXT": String.Doc,
    "LABEL": Name.Attribute,
    "STRING_LABEL": Name.Attribute,
    "OPEN": Error,
    "BAD": Error,
    **dict.fromkeys(MARKS, Operator),
    **dict.fromkeys([*OPENING, *CLOSING], Punctuation),
}

_FUNCTIONS = ("syntax", "task")
"""The kinds of defined names that are called."""


class SexplangLexer(Lexer):
    """Tells special forms, the prelude, definitions, labels and data apart."""

    name = "sexplang"
    aliases = ["sexplang", "sexp"]  # noqa: RUF012
    filenames = ["*.sexp"]  # noqa: RUF012
    mimetypes = ["text/x-sexplang"]  # noqa: RUF012

    def get_tokens_unprocessed(self, text: str) -> Iterator[tuple[int, Any, str]]:
        """Yield offset, type and text of each token."""
        before = _Before()
        dropped = _DroppedForm()
        for token in tokens(text):
            kind = _BY_KIND.get(token.kind) or _word(text[token.start : token.end], token, before)
            before.take(token, text)
            if dropped.takes(token) and kind is not Error and token.kind not in TRIVIA:
                kind = Comment.Special
            yield token.start, kind, text[token.start : token.end]


def _word(word: str, token: Token, before: "_Before") -> Any:
    if token.kind == "NUMBER":
        return Number.Integer if word.lstrip("-").isdigit() else Number.Float
    if before.is_quoted:
        return String.Symbol
    if before.defines:
        return Name.Function if before.defines_function else Name.Variable
    return _list_known().get(word, Name)


class _Before:
    """The previous tokens, as far as the colour of a word depends on them."""

    def __init__(self) -> None:
        self.last = ""
        self.at_head = self.is_quoted = self.defines = self.defines_function = False

    def take(self, token: Token, text: str) -> None:
        if token.kind in TRIVIA:
            return
        word = text[token.start : token.end] if token.kind == "NAME" else ""
        opens = token.kind == "LPAR"
        kind = _list_defining().get(word) if self.at_head else None
        if kind:
            self.defines, self.defines_function = True, kind in _FUNCTIONS
        else:
            # `(define (f …`: the parenthesis keeps the definition open and makes it a function.
            self.defines = self.defines and opens
            self.defines_function = self.defines
        self.at_head = opens
        self.is_quoted = token.kind == "QUOTE"


class _DroppedForm:
    """The tokens that belong to a form which `#;` drops."""

    def __init__(self) -> None:
        self.waiting = self.depth = 0

    def takes(self, token: Token) -> bool:
        if token.kind in TRIVIA:
            return False
        if token.kind == "DROP" and not self.depth:
            self.waiting += 1
            return True
        if not self.waiting:
            return False
        if token.kind in OPENING:
            self.depth += 1
        elif token.kind in CLOSING:
            if not self.depth:
                self.waiting = 0
                return False
            self.depth -= 1
        if not self.depth and token.kind not in MARKS and token.kind not in LABELS:
            self.waiting -= 1
        return True


@cache
def _list_defining() -> Mapping[str, str]:
    from sexplang.compiler.forms.shapes import DEFINING

    return DEFINING


@cache
def _list_known() -> dict[str, Any]:
    from sexplang.compiler.forms.shapes import RESERVED
    from sexplang.machine import HIGHER
    from sexplang.pipeline.pipeline import STANDARD
    from sexplang.primitives import OPERATIONS, PRIMITIVES
    from sexplang.reader.token_values import CONSTANTS

    return {
        **dict.fromkeys([*PRIMITIVES, *HIGHER, *STANDARD], Name.Builtin),
        **dict.fromkeys(OPERATIONS, Name.Builtin.Pseudo),
        **dict.fromkeys(RESERVED, Keyword),
        **dict.fromkeys(CONSTANTS, Keyword.Constant),
    }
