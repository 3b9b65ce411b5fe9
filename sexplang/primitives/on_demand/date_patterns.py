"""Patterns of dates: `%Y-%m-%d` and its kin, in English on every machine."""

from datetime import datetime, timedelta
from re import IGNORECASE, escape
from re import compile as pattern_of

from sexplang.terms.values.abbreviation import abbreviate
from sexplang.terms.values.value import Fault

_MONTHS = (
    *("January", "February", "March", "April", "May", "June", "July", "August", "September"),
    *("October", "November", "December"),
)
_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


def write(name: str, time: datetime, pattern: str) -> str:
    """Return the text of a time by a pattern. Raises Fault."""
    parts = []
    if "%" not in pattern:
        raise _bad_pattern(name, f"{abbreviate(pattern)} there is no part of a date")
    for mark, text in _split(name, pattern):
        parts.append(_write_mark(name, mark, time) if mark else text)
    return "".join(parts)


def parse(name: str, text: str, pattern: str) -> datetime:
    """Return the time of a text by a pattern; with a zone if the pattern has `%z`. Raises Fault."""
    read: list[str] = []
    marks: list[str] = []
    for mark, literal in _split(name, pattern):
        if mark and mark not in _READ:
            raise _bad_pattern(name, f"`%{mark}` is only for writing")
        if mark in marks:
            raise _bad_pattern(name, f"`%{mark}` occurs twice")
        read.append(f"({_READ[mark]})" if mark else _loose(literal))
        marks += [mark] if mark else []
    _check_marks(name, marks)
    match = pattern_of("".join(read), IGNORECASE).fullmatch(text)
    if match is None:
        raise _bad_date(name, text, f"it does not have the form {abbreviate(pattern)}")
    try:
        return _assemble(dict(zip(marks, match.groups(), strict=True)))
    except ValueError as error:
        raise _bad_date(name, text, str(error)) from None


def _check_marks(name: str, marks: list[str]) -> None:
    """Refuse a pattern that leaves a part of the date to guess."""
    if "Y" not in marks and "y" not in marks:
        raise Fault(
            "bad-date",
            f"`{name}`: the pattern reads no year, so which day it is cannot be said",
            hint='put the year before the text: `(parse-date (str "2024 " s) "%Y %d.%m.")`; of a '
            "time alone `(parse-duration s)` makes seconds",
        )
    if "p" in marks and "I" not in marks:
        raise _bad_pattern(name, "`%p` stands with `%I`, the hour of twelve")


def _split(name: str, pattern: str) -> list[tuple[str, str]]:
    """Return the marks and the texts between them: (mark, "") or ("", text)."""
    found: list[tuple[str, str]] = []
    at = 0
    while (percent := pattern.find("%", at)) >= 0:
        found.append(("", pattern[at:percent]))
        mark = pattern[percent + 1 : percent + 2]
        if mark == "%":
            found.append(("", "%"))
        elif mark in _EXPANDED:
            found += _split(name, _EXPANDED[mark])
        elif mark and mark in "YymdeHIMSfpjaAbBzu":
            found.append((mark, ""))
        else:
            raise _bad_pattern(name, f"`%{mark}` is no part of a date")
        at = percent + 2
    return [*found, ("", pattern[at:])]


_EXPANDED = {"F": "%Y-%m-%d", "T": "%H:%M:%S", "R": "%H:%M", "D": "%m/%d/%y"}


def _write_mark(name: str, mark: str, time: datetime) -> str:
    hour = time.hour % 12 or 12
    offset = time.utcoffset() or timedelta()
    minutes = int(abs(offset).total_seconds()) // 60
    sign = "-" if offset < timedelta() else "+"
    match mark:
        case "Y":
            return f"{time.year:04}"
        case "y":
            return f"{time.year % 100:02}"
        case "m":
            return f"{time.month:02}"
        case "d":
            return f"{time.day:02}"
        case "e":
            return f"{time.day}"
        case "H":
            return f"{time.hour:02}"
        case "I":
            return f"{hour:02}"
        case "M":
            return f"{time.minute:02}"
        case "S":
            return f"{time.second:02}"
        case "f":
            return f"{time.microsecond:06}"
        case "p":
            return "AM" if time.hour < 12 else "PM"
        case "j":
            return f"{time.timetuple().tm_yday:03}"
        case "u":
            return f"{time.isoweekday()}"
        case "a":
            return _DAYS[time.weekday()][:3]
        case "A":
            return _DAYS[time.weekday()]
        case "b":
            return _MONTHS[time.month - 1][:3]
        case "B":
            return _MONTHS[time.month - 1]
        case _:
            return f"{sign}{minutes // 60:02}:{minutes % 60:02}"


_READ = {
    "Y": "[0-9]{4}",
    "y": "[0-9]{2}",
    "m": "[0-9]{1,2}",
    "d": "[0-9]{1,2}",
    "e": " ?[0-9]{1,2}",
    "H": "[0-9]{1,2}",
    "I": "[0-9]{1,2}",
    "M": "[0-9]{1,2}",
    "S": "[0-9]{1,2}",
    "f": "[0-9]{1,6}",
    "p": "am|pm",
    "a": "|".join(day[:3] for day in _DAYS),
    "A": "|".join(_DAYS),
    "b": "|".join(month[:3] for month in _MONTHS),
    "B": "|".join(_MONTHS),
    "z": "z|[+-][0-9]{2}:?[0-9]{2}",
}
"""The texts of each mark that is read."""


def _loose(literal: str) -> str:
    """Return the expression of a literal; white space in it stands for any white space."""
    return r"\s+".join(escape(part) for part in pattern_of(r"\s+").split(literal))


def _assemble(read: dict[str, str]) -> datetime:
    year = int(read.get("Y", 0))
    if "y" in read and "Y" not in read:  # as POSIX has it
        year = int(read["y"]) + (2000 if int(read["y"]) < 69 else 1900)
    month = int(read.get("m", 1))
    for mark, length in (("b", 3), ("B", None)):
        if mark in read:
            names = [month[:length].lower() for month in _MONTHS]
            month = names.index(read[mark].lower()) + 1
    day = int(read.get("d", read.get("e", 1)))
    hour = int(read.get("H", 0))
    if "I" in read and "H" not in read:
        if not 1 <= int(read["I"]) <= 12:
            raise ValueError("hour must be in 1..12")
        hour = int(read["I"]) % 12 + 12 * (read.get("p", "am").lower() == "pm")
    fraction = int(read.get("f", "0").ljust(6, "0"))
    zone = read.get("z", "")
    if zone and zone not in "zZ" and ":" not in zone:
        zone = f"{zone[:3]}:{zone[3:]}"
    time = datetime(year, month, day, hour, int(read.get("M", 0)), int(read.get("S", 0)), fraction)
    return time.fromisoformat(time.isoformat() + zone.upper()) if zone else time


def _bad_pattern(name: str, why: str) -> Fault:
    return Fault(
        "bad-date",
        f"`{name}`: in the pattern {why}",
        hint="`%Y %m %d %H %M %S` are numbers, `%B %b` months, `%A %a` days, `%z` the offset; `%%` "
        "is a percent sign",
    )


def _bad_date(name: str, text: str, why: str) -> Fault:
    return Fault("bad-date", f"`{name}` cannot read {abbreviate(text)} as a date: {why}")
