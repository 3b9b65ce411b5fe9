"""Dates and times: ISO 8601 text, or seconds since 1970 in UTC. The parts of a date are a table.

A date is `2024-05-01`, a time `2024-05-01T10:30:00`, with `Z` or an offset such as `+02:00` where
its zone is known. A time without one is in the zone that is given, UTC by default. The calendar is
the Gregorian one, from the year 1 to 9999.
"""

from calendar import monthrange
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from math import isfinite
from re import compile as pattern_of

from sexplang.package.zones import zone as find_zone
from sexplang.package.zones import zone_names
from sexplang.primitives.on_demand.date_patterns import parse, write
from sexplang.primitives.sizes import out_of_range, wrong_type
from sexplang.primitives.strings import content
from sexplang.primitives.tables import fields
from sexplang.terms.classes.node import node
from sexplang.terms.texts.nearest import nearest
from sexplang.terms.values.abbreviation import abbreviate
from sexplang.terms.values.rope import TEXTS
from sexplang.terms.values.value import Fault, Record, Symbol, Value


@node
class _Moment:
    """A date that was given: the time, and the form that a result of the same form has."""

    time: datetime
    form: str
    """`date`, `local` for a time without a zone, `zoned` for one with it, or `seconds`."""


# -- The primitives --------------------------------------------------------------------------------


def parse_date(text: Value, pattern: Value = None, zone: Value = None) -> Value:
    """Return the seconds of a text: ISO 8601, or by a pattern such as `%d.%m.%Y`."""
    place = _zone("parse-date", zone)
    if pattern is None:
        found = _read_text("parse-date", content("parse-date", text)).time
    else:
        found = parse("parse-date", content("parse-date", text), content("parse-date", pattern))
    return _seconds(_in_zone("parse-date", found, place))


def format_date(given: Value, pattern: Value, zone: Value = None) -> Value:
    """Return the text of a date by a pattern such as `%d.%m.%Y`."""
    time = _local("format-date", given, zone)
    return write("format-date", time, content("format-date", pattern))


def iso_date(given: Value, zone: Value = None) -> Value:
    """Return the ISO text of the day: `2024-05-01`."""
    return _local("iso-date", given, zone).date().isoformat()


def iso_time(given: Value, zone: Value = None) -> Value:
    """Return the ISO text of the time, with its offset: `2024-05-01T10:30:00Z`."""
    return _iso(_local("iso-time", given, zone))


def date_parts(given: Value, zone: Value = None) -> Value:
    time = _local("date-parts", given, zone)
    offset = time.utcoffset() or timedelta()
    return {
        "year": time.year,
        "month": time.month,
        "day": time.day,
        "hour": time.hour,
        "minute": time.minute,
        "second": time.second + time.microsecond / 1e6 if time.microsecond else time.second,
        "weekday": time.isoweekday(),
        "week": time.isocalendar().week,
        "yearday": time.timetuple().tm_yday,
        "offset": int(offset.total_seconds()),
    }


def make_date(parts: Value, zone: Value = None) -> Value:
    """Return the date of parts as ISO text: a day, or a time where there is a part of one. Its
    zone is the given one, else its `offset`, else UTC."""
    given = fields("make-date", parts)
    for key in given:
        if key not in _PARTS:
            known = "there are " + " ".join(_PARTS)
            raise _bad("make-date", f"{abbreviate(key)} is no part: {known}")
    rows = (("year", None), ("month", 1), ("day", 1), ("hour", 0), ("minute", 0))
    year, month, day, hour, minute = (
        _whole("make-date", name, given.get(name, least)) for name, least in rows
    )
    second = given.get("second", 0)
    if type(second) not in (int, float) or not 0 <= second < 60:
        raise _bad(
            "make-date", f"the second is a number from 0 to below 60, not {abbreviate(second)}"
        )
    try:
        time = datetime(year, month, day, hour, minute) + timedelta(seconds=second)
    except (ValueError, OverflowError) as error:
        raise _bad("make-date", str(error)) from None
    if not {"hour", "minute", "second"} & given.keys():
        return time.date().isoformat()
    place = _zone("make-date", zone) if zone is not None else _offset(given.get("offset", 0))
    return _iso(_in_zone("make-date", time, place))


_PARTS = (
    *("year", "month", "day", "hour", "minute", "second"),
    *("weekday", "week", "yearday", "offset"),
)


def _offset(seconds: Value) -> tzinfo:
    if abs(_whole("make-date", "offset", seconds)) >= _SECONDS["days"]:
        raise _bad("make-date", f"the offset is of less than a day, not {seconds} seconds")
    return timezone(timedelta(seconds=seconds))


def add(given: Value, amount: Value, unit: Value = "days") -> Value:
    """Return a date so many units later, in the form that it was given in. Months and years keep
    the day, or take the last one of a shorter month."""
    moment = _read("date-add", given)
    if type(amount) not in (int, float) or not isfinite(amount):
        hint = "`(date-add d n 'days)`; a duration: `(date-add d (parse-duration s) 'seconds)`"
        raise wrong_type("date-add", "a number of units", amount, hint)
    name, time = _unit("date-add", unit), moment.time
    try:
        if name in _MONTHS:
            time = _add_months(time, _whole("date-add", name, amount) * _MONTHS[name])
        else:
            time += timedelta(seconds=amount * _SECONDS[name])
    except (OverflowError, ValueError):
        raise _report_year("date-add") from None
    is_day = moment.form == "date" and not (time.hour or time.minute or time.second)
    if moment.form == "date":
        return time.date().isoformat() if is_day else time.isoformat()
    return _seconds(time) if moment.form == "seconds" else _iso(time)


def difference(start: Value, end: Value, unit: Value = "days") -> Value:
    """Return the units from one date to another, below 0 if the second is earlier. Months and years
    are whole ones."""
    name = _unit("date-diff", unit)
    a, b = (_in_zone("date-diff", _read("date-diff", each).time, UTC) for each in (start, end))
    if name in _MONTHS:
        months = _months_between(a, b) if a <= b else -_months_between(b, a)
        return int(months / _MONTHS[name])
    return _number((b - a) / timedelta(seconds=1) / _SECONDS[name])


def is_date(value: Value) -> Value:
    """Return whether a value is ISO 8601 text of a day or a time."""
    if type(value) not in TEXTS:
        return False
    try:
        _read_text("date?", content("date?", value))
    except Fault:
        return False
    return True


# -- Reading ---------------------------------------------------------------------------------------


def _read(name: str, given: Value) -> _Moment:
    if type(given) in (int, float):
        try:
            return _Moment(_EPOCH + timedelta(seconds=given), "seconds")
        except (OverflowError, ValueError):
            raise _report_year(name) from None
    if type(given) in TEXTS or isinstance(given, Record):
        return _read_text(name, content(name, given))
    hint = "`(make-date parts)` makes a date of a table" if isinstance(given, dict) else None
    raise wrong_type(name, "a date as ISO text or seconds", given, hint)


_ISO = pattern_of(
    r"(?P<day>\d{4}-\d\d-\d\d)(?:[Tt ]\d\d:\d\d(?::\d\d(?:[.,]\d{1,9})?)?"
    r"(?P<zone>[Zz]|[+-]\d\d(?::?\d\d(?::\d\d)?)?)?)?"
)


def _read_text(name: str, text: str) -> _Moment:
    match = _ISO.fullmatch(text)
    try:
        time = datetime.fromisoformat(text.upper() if match else "")
    except ValueError as error:
        why = str(error) if match else "it is not of the form 2024-05-01 or 2024-05-01T10:30:00Z"
        raise Fault(
            "bad-date",
            f"`{name}` cannot read {abbreviate(text)} as a date: {why}",
            hint='another form is read by its pattern: `(parse-date s "%d.%m.%Y")`',
        ) from None
    assert match is not None
    if match.end() == len(match["day"]):
        return _Moment(time, "date")
    return _Moment(time, "zoned" if match["zone"] else "local")


def _local(name: str, given: Value, zone: Value) -> datetime:
    """Return a date's time in a zone, by default in its own. A time without a zone is in that
    one."""
    moment = _read(name, given)
    if zone is None:
        return moment.time if moment.time.tzinfo else moment.time.replace(tzinfo=UTC)
    place = _zone(name, zone)
    if moment.time.tzinfo is None:
        return moment.time.replace(tzinfo=place)
    try:
        return moment.time.astimezone(place)
    except OverflowError:
        raise _report_year(name) from None


def _in_zone(name: str, time: datetime, zone: tzinfo) -> datetime:
    """Return the time with a zone, where it has none."""
    return time if time.tzinfo is not None else time.replace(tzinfo=zone)


_OFFSET = pattern_of(r"([+-])(\d\d):?(\d\d)")
_LONGEST_SHORT = 4
"""The length of abbreviations such as `PST`: another one is another zone."""
_NAME = pattern_of(r"[A-Za-z][A-Za-z0-9_+-]*(?:/[A-Za-z0-9_+-]+)*")


def _zone(name: str, given: Value) -> tzinfo:
    text = "UTC" if given is None else content(name, given)
    if text in ("UTC", "Z"):
        return UTC
    offset = _OFFSET.fullmatch(text)
    if offset is not None and int(offset[2]) < 24 and int(offset[3]) < 60:
        minutes = int(offset[2]) * 60 + int(offset[3])
        return timezone(timedelta(minutes=-minutes if offset[1] == "-" else minutes))
    found = find_zone(text) if _NAME.fullmatch(text) else None
    if found is None:
        near = nearest(text, zone_names()) if len(text) > _LONGEST_SHORT else None
        raise Fault(
            "bad-date",
            f"`{name}`: there is no zone {abbreviate(text)}",
            hint=f'did you mean "{near}"?'
            if near
            else 'a zone is "Europe/Berlin", "UTC", "+02:00"',
        )
    return found


# -- Arithmetic ------------------------------------------------------------------------------------

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_SECONDS = {"weeks": 604_800, "days": 86_400, "hours": 3_600, "minutes": 60, "seconds": 1}
_MONTHS = {"months": 1, "years": 12}


def _unit(name: str, given: Value) -> str:
    text = given.name if isinstance(given, Symbol) else content(name, given)
    unit = text if text.endswith("s") else f"{text}s"
    if unit not in _SECONDS and unit not in _MONTHS:
        units = "years months weeks days hours minutes seconds"
        raise _bad(name, f"{abbreviate(text)} is no unit: there are {units}")
    return unit


def _add_months(time: datetime, months: int) -> datetime:
    year, month = divmod(time.year * 12 + time.month - 1 + months, 12)
    if not 1 <= year <= 9999:
        raise OverflowError
    day = min(time.day, monthrange(year, month + 1)[1])
    return time.replace(year=year, month=month + 1, day=day)


def _months_between(a: datetime, b: datetime) -> int:
    """Return the whole months from a time to a later one."""
    b = b.astimezone(a.tzinfo)
    months = (b.year - a.year) * 12 + b.month - a.month
    return months if _add_months(a, months) <= b else months - 1


def _seconds(time: datetime) -> Value:
    return _number((time - _EPOCH) / timedelta(seconds=1))


def _number(value: float) -> Value:
    return int(value) if value == int(value) else value


def _iso(time: datetime) -> str:
    text = time.isoformat()
    return text.removesuffix("+00:00") + "Z" if text.endswith("+00:00") else text


def _whole(name: str, part: str, value: Value) -> int:
    if type(value) is not int:
        raise _bad(
            name, f"the {part.removesuffix('s')} is an exact integer, not {abbreviate(value)}"
        )
    return value


def _bad(name: str, why: str) -> Fault:
    return Fault("bad-date", f"`{name}`: {why}")


def _report_year(name: str) -> Fault:
    return out_of_range(name, "the date is not between the years 1 and 9999")
