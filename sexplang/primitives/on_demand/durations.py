"""Durations: ISO 8601 text such as `PT1H30M`, or seconds."""

from math import isfinite
from re import compile as pattern_of

from sexplang.primitives.sizes import out_of_range, wrong_type
from sexplang.primitives.strings import content
from sexplang.terms.quota import scan
from sexplang.terms.values.abbreviation import abbreviate
from sexplang.terms.values.sums import add_up
from sexplang.terms.values.value import Fault, Value

_NUMBER = r"(\d{1,15}(?:\.\d{1,9})?)"
_ISO = pattern_of(
    rf"(-)?P(?:{_NUMBER}W)?(?:{_NUMBER}D)?(?:T(?:{_NUMBER}H)?(?:{_NUMBER}M)?(?:{_NUMBER}S)?)?"
)
_WORDS = pattern_of(
    rf"(-)?(?:{_NUMBER}w)? ?(?:{_NUMBER}d)? ?(?:{_NUMBER}h)? ?(?:{_NUMBER}m)? ?(?:{_NUMBER}s)?"
)
_CLOCK = pattern_of(r"(-)?()()(\d{1,15}):([0-5]\d)(?::([0-5]\d(?:\.\d{1,9})?))?")
_SECONDS = (604_800, 86_400, 3_600, 60, 1)


def parse_duration(given: Value) -> Value:
    """Return the seconds of `PT1H30M`, `1h 30m` or `1:30`. Months and years have no fixed
    length."""
    text = content("parse-duration", given)
    scan(len(text))
    for pattern in (_ISO, _WORDS, _CLOCK):
        match = pattern.fullmatch(text)
        if match is not None and any(match.groups()[1:]) and not text.endswith("T"):
            parts = zip(match.groups()[1:], _SECONDS, strict=True)
            seconds = add_up(_number(part) * size for part, size in parts if part)
            return _exact(-seconds if match[1] else seconds)
    hint = "`PT1H30M` or `1h 30m`; months and years are added with `(date-add d n 'months)`"
    raise Fault(
        "bad-date", f"`parse-duration` cannot read {abbreviate(text)} as a duration", hint=hint
    )


def format_duration(seconds: Value) -> Value:
    """Return seconds as ISO 8601 text, in days and smaller parts."""
    if type(seconds) not in (int, float):
        raise wrong_type("format-duration", "a number of seconds", seconds)
    if not isfinite(seconds) or abs(seconds) > 1e15:
        raise out_of_range("format-duration", f"{abbreviate(seconds)} seconds are too many")
    rest = abs(seconds)
    sizes = []
    for size, unit in ((86_400, "D"), (3_600, "H"), (60, "M")):
        count, rest = divmod(rest, size)
        sizes.append(f"{int(count)}{unit}" if count else "")
    last = f"{_exact(round(rest, 6))}S" if rest or not any(sizes) else ""
    hours = "".join((*sizes[1:], last))
    return f"{'-' if seconds < 0 else ''}P{sizes[0]}{'T' if hours else ''}{hours}"


def _number(text: str) -> int | float:
    return float(text) if "." in text else int(text)


def _exact(value: float) -> Value:
    return int(value) if value == int(value) else value
