"""The patterns of XSDs, matched in linear time.

The XSD library matches with Python's own engine, which a pattern such as `(a+)+b` stalls.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from sexplang.schemas.checker import Account
from sexplang.schemas.linear_patterns import BadPattern, bytes_of, pattern

_TOKEN = re.compile(r"\\[pP]\{[^}]*\}|\\.|.", re.DOTALL)
_CATEGORY = re.compile(
    r"\\[pP]\{(?:[LMNPZSC]|L[ulotm]|M[nce]|N[dlo]|P[cdseifo]|Z[slp]|S[mcko]|C[cfon])\}"
)

_NAME_START = (
    ":A-Z_a-z\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u02ff\u0370-\u037d\u037f-\u1fff\u200c-\u200d"
    "\u2070-\u218f\u2c00-\u2fef\u3001-\ud7ff\uf900-\ufdcf\ufdf0-\ufffd\U00010000-\U000effff"
)
# Escapes for several characters, as the inside of a class. `\w` is everything but punctuation,
# separators and others; the linear engine's own is ASCII.
_SEVERAL = {
    "d": r"\p{Nd}",
    "D": r"\P{Nd}",
    "w": r"\p{L}\p{M}\p{N}\p{S}",
    "W": r"\p{P}\p{Z}\p{C}",
    "s": r" \t\n\r",
    "S": "\0-\x08\x0b\x0c\x0e-\x1f!-\U0010ffff",
    "i": _NAME_START,
    "c": rf"{_NAME_START}\-.0-9\u00b7\u0300-\u036f\u203f-\u2040",
}
_SINGLE = frozenset(r"nrt\|.?*+(){}-[]^")
_LITERAL = {"^": r"\^", "$": r"\$", "/": r"\/", ".": r"[^\n\r]"}


class BadXsd(Exception):
    """The failure of a schema that cannot be used."""


_ACCOUNT: ContextVar[Account | None] = ContextVar("account", default=None)


@contextmanager
def share_account() -> Iterator[None]:
    """Charge all checks of one reply to one account."""
    token = _ACCOUNT.set(Account())
    try:
        yield
    finally:
        _ACCOUNT.reset(token)


def spend(steps: float) -> None:
    """Take steps from the account of the current reply. Raises TooMuch."""
    (_ACCOUNT.get() or Account()).spend(steps)


class Linear:
    """A pattern that matches whole texts, with the one needed method of a compiled `re`."""

    def __init__(self, written: str) -> None:
        try:
            self._found = pattern(f"^(?:{_translate(written)})$")
        except BadPattern:
            raise BadXsd(f"`{written[:60]}` is no pattern, or too large a one") from None

    @property
    def weight(self) -> int:
        return self._found.weight

    def match(self, text: str) -> bool | None:
        """Return True if the text matches, else None. Raises TooMuch."""
        spend(self._found.cost * bytes_of(text))
        return self._found.fits(text) or None


def _translate(pattern: str) -> str:
    """Return the pattern in the notation of the linear engine. Raises BadXsd."""
    out: list[str] = []
    in_class = False
    tokens = _TOKEN.findall(pattern)
    for at, token in enumerate(tokens):
        if token[0] == "\\":
            out.append(_escape(token, in_class))
        elif in_class:
            if token == "[":
                raise BadXsd("a class in a class, such as [a-z-[aeiou]], is not supported")
            in_class = token != "]"
            out.append(rf"\{token}" if token == "^" and tokens[at - 1] != "[" else token)
        elif token == "[":
            in_class = True
            out.append(token)
        elif token == "(" and tokens[at + 1 : at + 2] == ["?"]:
            raise BadXsd("a group in a pattern begins with ( alone")
        elif token == "?" and at and tokens[at - 1] in ("?", "*", "+", "}"):
            raise BadXsd("a pattern has no lazy quantifiers")
        else:
            out.append(_LITERAL.get(token, token))
    return "".join(out)


def _escape(token: str, in_class: bool) -> str:
    if token[1:2] in ("p", "P") and len(token) > 2:
        if not _CATEGORY.fullmatch(token):
            raise BadXsd(f"`{token[:40]}` is not a category of characters")
        return token
    inside = _SEVERAL.get(token[1:])
    if inside is not None:
        return inside if in_class else f"[{inside}]"
    if token[1:] not in _SINGLE:
        raise BadXsd(f"`{token[:2]}` is not an escape of a pattern")
    return token
