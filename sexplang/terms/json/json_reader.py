"""The reader of JSON text for programs.

It is iterative: a document may be 10,000 levels deep. Python's own reader, which is tried first for
its speed, stops at its recursion limit. The last of equal keys wins. Lone surrogates and numbers
beyond the floats are refused, not replaced.
"""

import re
from collections.abc import Callable
from functools import cache
from math import isfinite
from typing import TYPE_CHECKING, Any

from sexplang.terms.values.value import Value

if TYPE_CHECKING:
    from json import JSONDecodeError

DEEPEST = 10_000

_WORDS: dict[str, tuple[str, Value]] = {
    "t": ("true", True),
    "f": ("false", False),
    "n": ("null", None),
}
_CLOSING = {"[": "]", "{": "}"}
_OPENED: Any = object()

OfNumber = Callable[[str, "re.Match[str]"], Value]
"""The number of a text and its match of `number_pattern`; false for one beyond the floats."""


class NotJson(Exception):
    """The refusal of a text as JSON. `final` says that the text is too large for any further
    reading; `given_up` names, for a person, the work that was not finished."""

    def __init__(
        self, message: str, at: int = 0, *, final: bool = False, given_up: str = ""
    ) -> None:
        super().__init__(message)
        self.at, self.final, self.given_up = at, final, given_up


def normalize_error(error: "JSONDecodeError") -> "JSONDecodeError":
    """Return the error as Python up to 3.12 has it. A model is told of it, and a run may go on
    under another version."""
    whole = error.msg.removeprefix("Illegal trailing comma before end of ")
    if whole == error.msg:
        return error
    end = len(error.doc) - len(error.doc[error.pos + 1 :].lstrip(" \t\n\r"))
    due = "value" if whole == "array" else "property name enclosed in double quotes"
    return type(error)(f"Expecting {due}", error.doc, end)


def read(text: str, number: OfNumber) -> Value:
    """Return the value of `text`. `number` converts numbers that Python's reader may judge
    otherwise. Raises NotJson with a place."""
    try:
        text.encode()
        odd, whole, decode = _quick()
        if odd(text) is None or whole(text) is not None:
            return _with_tuples(decode(text))
    except (ValueError, RecursionError) as wrong:
        # The slow reader finds out whether the text is valid, and its flaw. For a long text the
        # place is enough.
        if hasattr(wrong, "pos") and len(text) > _LONG:
            at = normalize_error(wrong).pos  # type: ignore[arg-type]
            raise NotJson("something else has to stand here", at) from None
    return _Reader(text, number).document()


_LONG = 100_000
"""The number of characters that are read in a tenth of a second."""


@cache
def _quick() -> tuple[Any, Any, Any]:
    """Return a pattern for the texts that Python's reader may judge otherwise, a pattern for those
    of them that it judges alike, and that reader. Made on first use.

    The first pattern finds integers with almost as many digits as an integer may have, and
    escapes of surrogates. The second one admits such digits in a string, and such escapes in
    pairs.
    """
    from json import JSONDecoder

    odd = re.compile(r"[0-9]{4200}|\\u[dD][89a-fA-F]")
    whole = re.compile(
        r'(?:[^"0-9]++|[0-9]{1,4199}+(?![0-9])|"(?:[^"\\]++|\\[^u]|\\u(?![dD][89a-fA-F])'
        r'|\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2})*+")*+'
    )
    decode = JSONDecoder(parse_float=_finite, parse_constant=_finite).decode
    return odd.search, whole.fullmatch, decode


def _finite(text: str) -> float:
    made = float(text)
    if not isfinite(made):
        raise ValueError
    return made


def _with_tuples(value: Any) -> Value:
    """Return the value with tuples for lists. The depth is at most that of Python's reader."""
    if type(value) is list:
        return tuple([_with_tuples(part) if type(part) in _NESTED else part for part in value])
    if type(value) is dict:
        for key, part in value.items():
            if type(part) in _NESTED:
                value[key] = _with_tuples(part)
    return value


_NESTED = frozenset((list, dict))


@cache
def number_pattern() -> re.Pattern[str]:
    """Return the pattern of JSON's numbers; a group that matched makes it a float. Compiled on
    first use."""
    return re.compile(r"-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?")


class _Reader:
    """A reader at a position of one text.

    `made` is the innermost open list or table, `key` the key in it that waits for its value;
    `outer` holds the same two for the enclosing ones.
    """

    def __init__(self, text: str, number: OfNumber) -> None:
        # Imported here: a program that reads no JSON starts without it.
        from json import decoder

        json: Any = decoder  # its scanner of strings is in C; typeshed leaves it out
        self.after_space = json.WHITESPACE.match
        self.scan = json.scanstring
        self.text, self.number = text, number
        self.at = 0
        self.made: Any = None
        self.key = ""
        self.outer: list[tuple[Any, str]] = []

    def document(self) -> Value:
        while True:
            value = self._value()
            if value is _OPENED:
                continue
            while self.made is not None:
                value = self._place(value)
                if value is _OPENED:
                    break
            else:
                if self._next():
                    raise self._bad("the document ended before this")
                return value

    def _next(self) -> str:
        """Return the next character that is not white space; an empty text at the end."""
        self.at = self.after_space(self.text, self.at).end()
        return self.text[self.at : self.at + 1]

    def _value(self) -> Value:
        char = self._next()
        if char == "[" or char == "{":
            return self._open(char)
        if char == '"':
            return self._string()
        word, value = _WORDS.get(char, ("", None))
        if word and self.text.startswith(word, self.at):
            self.at += len(word)
            return value
        if match := number_pattern().match(self.text, self.at):
            value = self.number(match.group(), match)
            if value is False:
                raise self._bad("this number is larger than any float")
            self.at = match.end()
            return value
        raise self._bad("a value is missing here")

    def _open(self, char: str) -> Value:
        if len(self.outer) == DEEPEST:
            raise self._bad(f"this is nested deeper than {DEEPEST} levels")
        self.at += 1
        if self._next() == _CLOSING[char]:
            self.at += 1
            return () if char == "[" else {}
        self.outer.append((self.made, self.key))
        self.made = [] if char == "[" else {}
        if char == "{":
            self._read_key()
        return _OPENED

    def _place(self, value: Value) -> Value:
        """Put a value in its container. Return the container if that completes it."""
        made = self.made
        if type(made) is list:
            made.append(value)
        else:
            made[self.key] = value
        char = self._next()
        if char == ",":
            self.at += 1
            if type(made) is dict:
                self._read_key()
            return _OPENED
        if char != ("]" if type(made) is list else "}"):
            raise self._bad(f"a comma or a `{']' if type(made) is list else '}'}` is missing here")
        self.at += 1
        self.made, self.key = self.outer.pop()
        return tuple(made) if type(made) is list else made

    def _read_key(self) -> None:
        if self._next() != '"':
            raise self._bad("a key in double quotes is missing here")
        self.key = self._string()
        if self._next() != ":":
            raise self._bad("a colon is missing here")
        self.at += 1

    def _string(self) -> str:
        try:
            string, end = self.scan(self.text, self.at + 1)
            made: str = string
            made.encode()
        except UnicodeEncodeError:
            raise self._bad("half of a surrogate pair stands alone in this string") from None
        except ValueError:
            raise self._bad(
                "this string has no end, or a bad escape or a raw line break in it"
            ) from None
        self.at = end
        return made

    def _bad(self, why: str) -> NotJson:
        return NotJson(why, self.at)
