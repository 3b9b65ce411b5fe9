"""JSON text to values, and values to JSON text.

Iterative both ways: a document may be 10,000 levels deep, and Python's own reader, which is asked
first because it is quick, stops at its recursion limit. Of equal keys the last wins. What JSON
cannot say is refused rather than replaced: lone surrogates and numbers beyond the floats on the
way in; NaN, infinities and functions on the way out.
"""

from functools import cache
from math import isfinite, isinf, isnan
from typing import Any

from sexplang.primitives.rounding import number_of, number_pattern
from sexplang.primitives.sizes import STRING_POINTS, too_large, too_long
from sexplang.primitives.strings import content
from sexplang.terms.brief import shown
from sexplang.terms.extent import text_size
from sexplang.terms.rope import TEXTS, whole_text
from sexplang.terms.text import number, quoted, spelled
from sexplang.terms.value import Fault, Symbol, Value

DEEPEST = 10_000

_WORDS: dict[str, tuple[str, Value]] = {
    "t": ("true", True),
    "f": ("false", False),
    "n": ("null", None),
}
_NAMES = {True: "true", False: "false", None: "null"}
_CLOSING = {"[": "]", "{": "}"}
_OPENED: Any = object()


def parse(value: Value) -> Value:
    text = content("json-parse", value)
    try:
        text.encode()
        odd, decode = _quick()
        if odd(text) is None:
            return _tupled(decode(text))
    except (ValueError, RecursionError) as wrong:
        # The reader here knows whether it can be read, and what is wrong with it. Where that
        # would take long, the place is enough.
        at = getattr(wrong, "pos", None)
        if at is not None and len(text) > _LONG:
            raise _Reader(text, at).bad("something else has to stand here") from None
    return _Reader(text).document()


_LONG = 100_000
"""Characters of a text that is read in a tenth of a second."""


@cache
def _quick() -> tuple[Any, Any]:
    """What finds what Python's reader judges otherwise, large integers and halves of surrogate
    pairs, and that reader. Made when first needed."""
    import re
    from json import JSONDecoder

    odd = re.compile(r"[0-9]{300}|\\u[dD]")
    return odd.search, JSONDecoder(parse_float=_float, parse_constant=_float).decode


def _float(text: str) -> float:
    made = float(text)
    if not isfinite(made):
        raise ValueError
    return made


def _tupled(value: Any) -> Value:
    """The value with tuples for lists; as deep as Python's reader goes at most."""
    if type(value) is list:
        return tuple([_tupled(part) if type(part) in _NESTED else part for part in value])
    if type(value) is dict:
        for key, part in value.items():
            if type(part) in _NESTED:
                value[key] = _tupled(part)
    return value


_NESTED = frozenset((list, dict))


class _Reader:
    """One text and how far it has been read.

    `made` is the innermost open list or table, `key` the key in it that waits for its value;
    `outer` holds the same two for those around it.
    """

    def __init__(self, text: str, at: int = 0) -> None:
        # Programs that read no JSON start without it.
        from json import decoder

        json: Any = decoder  # its scanner of strings is in C; typeshed leaves it out
        self.after_space = json.WHITESPACE.match
        self.scan = json.scanstring
        self.text = text
        self.at = at
        self.made: Any = None
        self.key = ""
        self.outer: list[tuple[Any, str]] = []

    def document(self) -> Value:
        while True:
            value = self._value()
            if value is _OPENED:
                continue
            while self.made is not None:
                value = self._placed(value)
                if value is _OPENED:
                    break
            else:
                if self._next():
                    raise self.bad("the document ended before this")
                return value

    def _next(self) -> str:
        """The next character that is not white space; nothing at the end."""
        self.at = self.after_space(self.text, self.at).end()
        return self.text[self.at : self.at + 1]

    def _value(self) -> Value:
        char = self._next()
        if char == "[" or char == "{":
            return self._opened(char)
        if char == '"':
            return self._string()
        word, value = _WORDS.get(char, ("", None))
        if word and self.text.startswith(word, self.at):
            self.at += len(word)
            return value
        if match := number_pattern().match(self.text, self.at):
            value = number_of("json-parse", match.group(), match)
            if value is False:
                raise self.bad("this number is larger than any float")
            self.at = match.end()
            return value
        raise self.bad("a value is missing here")

    def _opened(self, char: str) -> Value:
        if len(self.outer) == DEEPEST:
            raise self.bad(f"this is nested deeper than {DEEPEST} levels")
        self.at += 1
        if self._next() == _CLOSING[char]:
            self.at += 1
            return () if char == "[" else {}
        self.outer.append((self.made, self.key))
        self.made = [] if char == "[" else {}
        if char == "{":
            self._read_key()
        return _OPENED

    def _placed(self, value: Value) -> Value:
        """Puts a value where it belongs; gives what that completes, if it does."""
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
            raise self.bad(f"a comma or a `{']' if type(made) is list else '}'}` is missing here")
        self.at += 1
        self.made, self.key = self.outer.pop()
        return tuple(made) if type(made) is list else made

    def _read_key(self) -> None:
        if self._next() != '"':
            raise self.bad("a key in double quotes is missing here")
        self.key = self._string()
        if self._next() != ":":
            raise self.bad("a colon is missing here")
        self.at += 1

    def _string(self) -> str:
        try:
            string, end = self.scan(self.text, self.at + 1)
            made: str = string
            made.encode()
        except UnicodeEncodeError:
            raise self.bad("half of a surrogate pair stands alone in this string") from None
        except ValueError:
            raise self.bad(
                "this string has no end, or a bad escape or a raw line break in it"
            ) from None
        self.at = end
        return made

    def bad(self, why: str) -> Fault:
        line = self.text.count("\n", 0, self.at) + 1
        column = self.at - self.text.rfind("\n", 0, self.at)
        near = self.text[self.at : self.at + 20]
        return Fault(
            "bad-json",
            f"`json-parse`, line {line}, column {column}: {why}; "
            + (f"there is {shown(near)}" if near else "the text ends"),
            hint="`(attempt (json-parse s))` goes on after a text that is not JSON",
            details={"line": line, "column": column},
        )


def to_json(value: Value) -> Value:
    if text_size(value, STRING_POINTS) > STRING_POINTS:
        raise too_long("json-string", STRING_POINTS)
    text = spelled(value, _atom, _label, ",", STRING_POINTS)
    if len(text) > STRING_POINTS:
        raise too_long("json-string", len(text))
    return text


def _label(key: str) -> str:
    return f"{quoted(key)}:"


def _atom(value: Value) -> str:
    if value is None or value is True or value is False:
        return _NAMES[value]
    if type(value) in TEXTS:
        return quoted(whole_text(value))
    if isinstance(value, Symbol):
        return quoted(value.name)
    if isinstance(value, float) and (isnan(value) or isinf(value)):
        raise _not_json(number(value), "JSON has no such number")
    if isinstance(value, (int, float)):
        try:
            return number(value)
        except ValueError:  # an integer from outside, above what CPython prints
            raise too_large("json-string") from None
    raise _not_json(shown(value), "send what it gives instead")


def _not_json(what: str, hint: str) -> Fault:
    return Fault("not-json", f"`json-string`: {what} cannot be written as JSON", hint=hint)
