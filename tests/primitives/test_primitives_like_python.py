"""Patterns, CSV, dates and formats give what Python's own libraries give."""

import csv
import math
import re
from datetime import UTC, date, datetime, timedelta
from io import StringIO

import pytest
from hypothesis import assume
from hypothesis import strategies as st
from support.examples import examples
from support.primitive_calls import call

from sexplang.terms.values.value import Fault

PIECES = st.sampled_from(
    ["a", "b", "ab", "é", ".", "[ab]", "[^a]", r"\d", r"\w", r"\s", "(a)", "(a|b)", "(?:ab)", "a?b"]
)
PATTERNS = st.lists(
    st.tuples(PIECES, st.sampled_from(["", "*", "+", "?", "{1,2}"])), min_size=1, max_size=4
).map(lambda parts: "".join(f"(?:{piece}){times}" for piece, times in parts))
SUBJECTS = st.text("abé1 _\n", max_size=12)


def in_python(pattern: str) -> "re.Pattern[str]":
    """The pattern for Python, whose classes are those of ASCII as in RE2."""
    return re.compile(pattern, re.ASCII)


def value_of(match: "re.Match[str]") -> object:
    return match.group() if not match.re.groups else (match.group(), *match.groups())


@examples(100, 5_000, PATTERNS, SUBJECTS)
def test_a_pattern_matches_as_in_python(pattern, subject):
    """The whole text, or nothing of it."""
    expected = in_python(pattern).fullmatch(subject)
    found = call("re-matches", pattern, subject)

    assert (expected is None) == (found is None)
    if expected is not None and not expected.re.groups:
        assert expected.group() == found


@examples(100, 5_000, st.text("ab|", min_size=1, max_size=4), SUBJECTS)
def test_texts_are_found_replaced_and_split_as_in_python(part, subject):
    """By a pattern of plain characters, each of which stands for itself."""
    pattern = re.escape(part)
    expected = in_python(pattern)

    assert tuple(expected.findall(subject)) == call("re-seq", pattern, subject)
    assert expected.sub("<é>", subject) == call("re-replace", pattern, subject, "<é>")
    assert tuple(expected.split(subject)) == call("re-split", pattern, subject)


@examples(100, 5_000, st.sampled_from([r"\d+", r"[a-z]+", "", "a*", r"(\w)(\d)?"]), SUBJECTS)
def test_all_matches_are_those_of_python(pattern, subject):
    """Empty ones, too, and those after characters of two bytes."""
    matches = in_python(pattern).finditer(subject)

    assert tuple(value_of(match) for match in matches) == call("re-seq", pattern, subject)


FIELDS = st.text(st.characters(exclude_categories=["Cs"]) | st.sampled_from(',;"\n\r'), max_size=6)


@examples(100, 5_000, st.lists(st.lists(FIELDS, min_size=1, max_size=4), max_size=5))
def test_rows_of_csv_are_read_and_written_as_by_python(rows):
    """What is written is read again; Python's reader reads the same."""
    assume(all(row != [""] for row in rows))
    text = call("csv-string", tuple(map(tuple, rows)))

    assert rows == list(csv.reader(StringIO(text, newline="")))
    assert tuple(map(tuple, rows)) == call("csv-rows", text)


DATES = st.dates()
TIMES = st.datetimes(min_value=datetime(1, 1, 3), max_value=datetime(9999, 12, 29)).map(
    lambda time: time.replace(microsecond=0, tzinfo=UTC)
)


@examples(100, 5_000, DATES, st.integers(-400, 400))
def test_days_are_counted_as_in_python(day, days):
    """Adding them, and the difference."""
    ordinal = day.toordinal() + days
    assume(1 <= ordinal <= date.max.toordinal())
    later = date.fromordinal(ordinal).isoformat()

    assert later == call("date-add", day.isoformat(), days)
    assert days == call("date-diff", day.isoformat(), later)


@examples(
    100, 5_000, TIMES, st.sampled_from(["UTC", "Europe/Berlin", "America/New_York", "+05:30"])
)
def test_times_are_written_and_read_as_in_python(time, zone):
    """Seconds, ISO text in a zone, and patterns."""
    seconds = call("parse-date", time.isoformat())
    written = call("iso-time", seconds, zone)

    assert (time - datetime(1970, 1, 1, tzinfo=UTC)) / timedelta(seconds=1) == seconds
    assert time == datetime.fromisoformat(written)
    assert seconds == call("parse-date", written)
    pattern = "%d.%m.%Y %H:%M:%S"
    assert seconds == call("parse-date", call("format-date", seconds, pattern), pattern)
    assert time.strftime("%m/%d %I:%M %p %j %A %B %a %b") == call(
        "format-date", seconds, "%m/%d %I:%M %p %j %A %B %a %b"
    )


@examples(100, 5_000, st.floats(-1e15, 1e15) | st.integers(), st.integers(1, 6))
def test_decimals_are_written_as_in_python(number, digits):
    """With and without commas between thousands."""
    assume(isinstance(number, float) or abs(number) < 10**300)
    exact = f"{number:.{digits}f}" if isinstance(number, float) else f"{number}.{'0' * digits}"
    whole, _, decimals = exact.partition(".")

    assert exact == call("format", f"~,{digits}f", number)
    assert f"{sign_and_groups(whole)}.{decimals}" == call("format", f"~,{digits}:f", number)


def sign_and_groups(whole: str) -> str:
    return f"{'-' if whole.startswith('-') else ''}{int(whole.lstrip('-')):,}"


@examples(100, 5_000, st.floats(allow_nan=False, allow_infinity=False), st.integers(-3, 6))
def test_numbers_are_rounded_as_in_python(number, digits):
    """To digits behind the point, or before it."""
    assume(abs(number) < 1e15)

    assert round(number, digits) == call("round", number, digits)


CELLS = st.text(
    st.characters(exclude_categories=["C", "Z"]) | st.sampled_from("|\\ \n"), max_size=6
)


@examples(100, 5_000, st.lists(st.lists(CELLS, min_size=1, max_size=4), min_size=1, max_size=5))
def test_a_table_of_markdown_has_a_line_for_each_row(rows):
    """All lines have one number of bars that are not escaped, and each cell its own words."""
    head, rule, *others = call("markdown-table", tuple(map(tuple, rows))).splitlines()
    width = max(map(len, rows))

    assert "|" + " --- |" * width == rule and len(rows) == 1 + len(others)
    for row, line in zip(rows, [head, *others], strict=True):
        parts = re.split(r"(?<!\\)\|", line[1:-1])
        words = [cell.replace("|", r"\|").split() for cell in row]
        assert [*words, *[[]] * (width - len(row))] == [part.split() for part in parts]


def test_a_table_of_markdown_is_bounded_before_it_is_made():
    """Bars are written as two characters, and one wide row makes all of them wide."""
    wide = ((0,),) * 10_000 + (tuple(range(10_000)),)
    for rows in ((("|" * 6_000_000,),), (("x" * 3_000_000,),) * 4, wide):
        with pytest.raises(Fault) as refused:
            call("markdown-table", rows)
        assert "limit-string" == refused.value.code


MATHS = {
    "exp": (math.exp, st.floats(-700, 700)),
    "ln": (math.log, st.floats(1e-300, 1e300)),
    "log2": (math.log2, st.floats(1e-300, 1e300)),
    "log10": (math.log10, st.floats(1e-300, 1e300)),
    "sin": (math.sin, st.floats(-1e6, 1e6)),
    "cos": (math.cos, st.floats(-1e6, 1e6)),
    "tan": (math.tan, st.floats(-1e6, 1e6)),
    "asin": (math.asin, st.floats(-1, 1)),
    "acos": (math.acos, st.floats(-1, 1)),
    "atan": (math.atan, st.floats(-1e300, 1e300)),
}


@pytest.mark.parametrize("name", MATHS)
def test_functions_of_a_number_are_those_of_python(name):
    """Of floats and of integers."""
    function, numbers = MATHS[name]

    @examples(50, 1_000, numbers)
    def law(x):
        found = call(name, x)
        assert type(found) is float and function(x) == found

    law(50)
    assert function(1) == call(name, 1)


@examples(50, 5_000, st.floats(-1e9, 1e9), st.floats(-1e9, 1e9) | st.integers(-9, 9))
def test_the_angle_of_a_point_is_that_of_python(y, x):
    assert math.atan2(y, x) == call("atan", y, x)


@examples(100, 5_000, TIMES, st.sampled_from(["UTC", "Europe/Berlin", "-03:00", "+05:30"]))
def test_a_time_survives_its_parts(time, zone):
    """The offset is one of them."""
    written = call("iso-time", time.replace(microsecond=0).isoformat(), zone)

    assert written == call("make-date", call("date-parts", written))
