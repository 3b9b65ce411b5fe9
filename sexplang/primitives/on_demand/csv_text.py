"""Rows and their text: CSV (RFC 4180), of which all fields are text and nothing is guessed, and
tables of Markdown."""

import csv
from collections import Counter
from collections.abc import Iterator, Sequence
from io import StringIO

from sexplang.primitives.lists import as_list
from sexplang.primitives.sizes import (
    LIST_ITEMS,
    STRING_POINTS,
    too_long,
    too_many_items,
    wrong_type,
)
from sexplang.primitives.strings import content, text_of
from sexplang.primitives.tables import fields
from sexplang.terms.quota import charge, scan, work
from sexplang.terms.values.abbreviation import abbreviate
from sexplang.terms.values.sequences import LISTS
from sexplang.terms.values.value import Fault, Record, Value

csv.field_size_limit(STRING_POINTS)


def parse(text: Value, separator: Value = ",") -> Value:
    """Return a table for each line after the first, which has the keys."""
    rows = _read("csv-parse", text, separator)
    line, header = next(rows, (1, ()))
    if len(set(header)) < len(header):
        twice = next(name for name, count in Counter(header).items() if count > 1)
        raise _bad("csv-parse", line, f"the column {abbreviate(twice)} occurs twice")
    made = []
    for line, row in rows:
        if len(row) != len(header):
            raise _bad(
                "csv-parse",
                line,
                f"there are {len(row)} fields, and {len(header)} columns",
                "a field that holds the separator stands in double quotes; `(csv-rows text)` takes "
                "rows of any length",
            )
        made.append(dict(zip(header, row, strict=True)))
    return tuple(made)


def parse_rows(text: Value, separator: Value = ",") -> Value:
    """Return a list of texts for each line."""
    return tuple([row for _, row in _read("csv-rows", text, separator)])


def write(rows: Value, columns: Value = None, separator: Value = ",") -> Value:
    """Return rows as CSV text: lists as they are; tables under a line of their keys, or of those
    that are given."""
    name = "csv-string"
    items, keys = _rows(name, rows, columns)
    lines = _Lines(name)
    writer = csv.writer(lines, delimiter=_separator(name, separator))
    if keys is not None:
        writer.writerow(keys)
    for item in items:
        cells = _cells(name, item, keys)
        work(1 + len(cells) // 10)
        writer.writerow([_text(name, cell) for cell in cells])
    made = "".join(lines.written)
    charge(len(made))
    return made


def write_markdown(rows: Value, columns: Value = None) -> Value:
    """Return rows as a table of Markdown: tables under a line of their keys, or of those that are
    given; of lists the first is that line."""
    name = "markdown-table"
    items, keys = _rows(name, rows, columns)
    made = [] if keys is None else [keys]
    size = 0
    for item in items:
        cells = _cells(name, item, keys)
        work(1 + len(cells) // 10)
        made.append([_text(name, cell) for cell in cells])
        size += sum([len(cell) + cell.count("|") for cell in made[-1]])
        if size > STRING_POINTS:
            raise too_long(name, size)
    width = max([len(row) for row in made], default=0)
    size += 3 * width * len(made)  # a wide row makes all rows wide
    if size > STRING_POINTS:
        raise too_long(name, size)
    work(size // 30)
    lines = [_markdown_line(row, width) for row in made]
    lines[1:1] = [_markdown_line(["---"] * width, width)] if lines else []
    charge(size)
    return "".join(lines)


def _markdown_line(cells: list[str], width: int) -> str:
    """Return a line of a table: a bar is written `\\|`, a line break as a space."""
    texts = [" ".join(cell.replace("|", "\\|").splitlines()) for cell in cells]
    return f"| {' | '.join(texts + [''] * (width - len(texts)))} |\n"


class _Lines:
    """The lines that a writer makes. It quotes both characters of its line break, and each line
    ends in one."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.written: list[str] = []
        self.size = 0

    def write(self, line: str) -> None:
        self.size += len(line) - 1
        if self.size > STRING_POINTS:
            raise too_long(self.name, self.size)
        self.written.append(line.removesuffix("\r\n") + "\n")


def _rows(name: str, rows: Value, columns: Value) -> tuple[Sequence[Value], list[str] | None]:
    """Return the rows, and the keys of those that are tables: the given ones, or all."""
    items = as_list(name, rows)
    if columns is not None:
        return items, [content(name, key) for key in as_list(name, columns)]
    if items and isinstance(items[0], (dict, Record)):
        return items, list(dict.fromkeys(key for item in items for key in fields(name, item)))
    return items, None


def _cells(name: str, item: Value, keys: list[str] | None) -> tuple[Value, ...] | list[Value]:
    if keys is None or type(item) in LISTS:
        return as_list(name, item)
    row = fields(name, item)
    return [row.get(key) for key in keys]


def _text(name: str, cell: Value) -> str:
    return "" if cell is None else text_of(name, cell)


def _read(name: str, text: Value, separator: Value) -> Iterator[tuple[int, tuple[str, ...]]]:
    """Yield the number of the line that a row begins in, and its fields. Empty lines are no rows.
    Raises Fault."""
    whole = content(name, text).removeprefix("\ufeff")
    scan(len(whole))
    work(len(whole) // 20)
    charge(len(whole))
    mark = _separator(name, separator)
    rows = csv.reader(StringIO(whole, newline=""), delimiter=mark, strict=True)
    count, begin = 0, 1
    while True:
        try:
            row = next(rows, None)
        except csv.Error as error:
            hint = "a double quote inside of a quoted field is written twice"
            raise _bad(name, begin, str(error), hint) from None
        if row is None:
            return
        if row:
            count += 1
            if count > LIST_ITEMS:
                raise too_many_items(name, count)
            yield begin, tuple(row)
        begin = rows.line_num + 1


def _separator(name: str, given: Value) -> str:
    text = content(name, given)
    if len(text) != 1 or text in '"\r\n':
        hint = '`","` is the default; `";"` and `"\\t"` are frequent'
        raise wrong_type(name, "one character as its separator", given, hint)
    return text


def _bad(name: str, line: int, why: str, hint: str | None = None) -> Fault:
    return Fault("bad-csv", f"`{name}`, line {line}: {why}", hint=hint, details={"line": line})
