"""`format`: a template with directives, and the values that they write."""

from collections.abc import Callable
from functools import cache
from math import isfinite
from re import Pattern
from re import compile as pattern_of

from sexplang.primitives.numbers import round_even
from sexplang.primitives.sizes import STRING_POINTS, too_long, weigh, wrong_type
from sexplang.primitives.strings import content, text_of, write_value
from sexplang.terms.values.value import Fault, Value

_DIRECTIVES: dict[str, Callable[[str, Value], str]] = {"a": text_of, "s": write_value}
_FIXED = {"%": "\n", "~": "~"}


def format_text(template: Value, *values: Value) -> Value:
    hint = 'the template comes first: `(format "~a" x)`' if template in (None, False) else None
    text = content("format", template, hint)
    parts: list[str] = []
    size = used = at = 0
    while at < len(text):
        tilde = text.find("~", at)
        if tilde < 0:
            tilde = len(text)
        part = text[at:tilde]
        at = tilde + 2
        mark = text[tilde + 1 : at]
        if mark in _FIXED and mark:
            part += _FIXED[mark]
        elif tilde < len(text):
            write, at = _directive(text, tilde)
            if used == len(values):
                raise _bad(f"`{text[tilde:at]}` number {used + 1} has no value")
            part += write("format", values[used])
            used += 1
        parts.append(part)
        size += len(part)
        if size > STRING_POINTS:
            raise too_long("format", size)
    if used < len(values):
        hint = _hint_of_places(text) if not used else _ALL
        raise _bad(f"it has places for {used} values and got {len(values)}", hint)
    return "".join(parts)


def _hint_of_places(text: str) -> str:
    """Return what to write for a template without directives."""
    from sexplang.package.habits import to_directives

    meant = to_directives(text)
    if meant == text or len(meant) > 80:
        return "`%s` and `{}` are no places here: write `~a`"
    written = write_value("format", meant)
    return f"`%s` and `{{}}` are no places here: write `(format {written} x …)`"


def _directive(text: str, tilde: int) -> tuple[Callable[[str, Value], str], int]:
    """Return the function of the directive at a tilde, and the place behind it."""
    mark = text[tilde + 1 : tilde + 2]
    if mark in _DIRECTIVES and mark:
        return _DIRECTIVES[mark], tilde + 2
    match = _number_pattern().match(text, tilde)
    if match is None:
        near = _near_pattern().match(text, tilde)
        if near is not None:
            digits = near[1] or "2"
            hint = (
                f"`~,{digits}f` writes {digits} digits behind the point, `~,{digits}:f` with commas"
            )
            raise _bad(f"`{near[0]}` is not a directive", hint)
        raise _bad(f"`~{mark}` is not a directive" if mark else "it ends in a `~`")
    digits = 0 if match[1] is None else int(match[1])
    return lambda name, value: _decimal(name, value, digits, match[2] is not None), match.end()


def _decimal(name: str, value: Value, digits: int, grouped: bool) -> str:
    """Return a number with so many digits behind the point."""
    if type(value) is not int and type(value) is not float:
        hint = "`~a` writes any value; `(string->number s)` reads a number"
        raise wrong_type(name, "a number for `~d` and `~,2f`", value, hint)
    if type(value) is float and not isfinite(value):
        return text_of(name, value)
    if type(value) is int:
        weigh(value, value)
        whole = f"{value:,}" if grouped else text_of(name, value)
        return f"{whole}.{'0' * digits}" if digits else whole
    if not digits:
        value = int(round_even(value))
    return f"{value:{',' if grouped else ''}.{digits}f}"


@cache
def _number_pattern() -> Pattern[str]:
    """Return the pattern of `~d`, `~:d`, `~,2f` and `~,2:f`."""
    return pattern_of(r"~(?:,([0-9]{1,3})(?=:?f))?(:)?(?:d|(?<=[0-9:])f)")


@cache
def _near_pattern() -> Pattern[str]:
    """Return the pattern of what other languages write for decimals."""
    return pattern_of(r"~[.,:]*([0-9]{0,3})[.,:]*[0-9]{0,3}f")


_ALL = (
    "`~a` is a value's text, `~s` the value as written, `~,2f` two decimals, `~:d` an integer with "
    "commas, `~%` a line break, `~~` a tilde"
)


def _bad(why: str, hint: str = _ALL) -> Fault:
    return Fault("bad-format", f"`format`: {why}", hint=hint)
