"""Diagnostics and errors as text for a person: the only module that renders them.

Law: text of a program, a model or a file cannot steer the terminal. Control characters are drawn,
never sent.
"""

import os
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TextIO

from sexplang.terms.classes.node import evolve, frozen
from sexplang.terms.diagnostic import IN_PYTHON, Diagnostic, Label
from sexplang.terms.source import Source, Span
from sexplang.terms.values.abbreviation import abbreviate, shorten_names
from sexplang.terms.values.text import LONGEST, text_size, to_source
from sexplang.terms.values.value import Record

TAB = 4
WIDTH = 110
"""The columns of a source line that are shown; a longer line is cut around its mark."""

LINE = 200
"""The most characters of a line of details or values; a detail has at most two such lines."""

MOST = 50
"""The most diagnostics that are shown; errors come first."""

COLOURS = {
    "error": "\x1b[1;31m",
    "warning": "\x1b[1;33m",
    "title": "\x1b[1m",
    "frame": "\x1b[34m",
    "other": "\x1b[36m",
    "hint": "\x1b[32m",
}

Paint = Callable[[str, str], str]
"""A function of a text and the name of a colour to the text with escapes."""

FindSource = Callable[[str], Source | None]
"""A function of a source's name to the source, or None."""


def no_source(name: str) -> Source | None:
    return None


def leave_plain(text: str, colour: str) -> str:
    return text


def colour(text: str, colour: str) -> str:
    return f"{COLOURS[colour]}{text}\x1b[0m" if text else text


def paint_for(stream: TextIO, environment: Any) -> Paint:
    """Return `colour` for a terminal, `leave_plain` for anything else or with NO_COLOR
    (no-color.org)."""
    dumb = environment.get("NO_COLOR") or environment.get("TERM") == "dumb"
    return colour if stream.isatty() and not dumb else leave_plain


def diagnostics_text(found: Sequence[Diagnostic], stream: TextIO) -> str:
    """Return the diagnostics in the colours of the stream, with an empty line between them."""
    from sexplang.hosts.cli.shipped_pages import codes

    paint = paint_for(stream, os.environ)
    pages = frozenset(codes())
    first, more = found, len(found) - MOST
    if more > 0:
        first = sorted(found, key=lambda each: each.severity != "error")[:MOST]
    shown = [show(_for_command(each), paint, each.code in pages) for each in first]
    if more > 0:
        shown.append(f"and {more:,} more")
    return "\n\n".join(shown)


def _for_command(diagnostic: Diagnostic) -> Diagnostic:
    """Return the diagnostic with a hint of what to type, without what to write in Python."""
    if diagnostic.hint is None or IN_PYTHON not in diagnostic.hint:
        return diagnostic
    return evolve(diagnostic, hint=diagnostic.hint.partition(IN_PYTHON)[0])


def error_text(
    error: Record,
    stream: TextIO,
    find: FindSource = no_source,
    trail: Any = None,
    whole: str = "",
) -> str:
    """Return the error that ended a program in the colours of the stream, with its traceback.

    `whole` says where details are that are cut here.
    """
    from sexplang.hosts.cli.shipped_pages import has_page

    paint = paint_for(stream, os.environ)
    return show_error(error, find, paint, has_page, trail_lines(trail), whole)


def error_note(error: Record, find: FindSource = no_source, trail: Any = None) -> str:
    """Return the same text without colours, for a note of a diagnostic."""
    return show_error(error, find, more=trail_lines(trail))


def trail_lines(trail: Any) -> Iterator[tuple[str, str]]:
    """Yield a word and lines for each part of a Trail."""
    if trail is None:
        return
    if trail.calls:
        yield "calls", "\n".join(map(_call_line, trail.calls))
    if trail.variables:
        yield "values", "\n".join([f"{name} = {value}" for name, value in trail.variables.items()])


def _call_line(call: dict[str, Any]) -> str:
    words = "the top level" if call["function"] is None else f"`{call['function']}`"
    span = call["span"]
    at = "" if span is None else f" at {span['source']}:{span['line']}:{span['column']}"
    times = call["times"]
    return f"{words}{at}" + (f", {times} times" if times > 1 else "")


def show(diagnostic: Diagnostic, paint: Paint = leave_plain, has_page: bool = False) -> str:
    """Return a diagnostic as lines of text: title, source with carets, notes, hint."""
    severity = diagnostic.severity
    head = f"{paint(f'{severity}[{diagnostic.code}]', severity)}: "
    lines = [head + paint(_sentence(diagnostic.title), "title")]
    width = _gutter(diagnostic.labels)
    lines += _places(diagnostic.labels, width, severity, paint)
    footer = [("note", note) for note in diagnostic.notes]
    if diagnostic.hint:
        footer.append(("hint", diagnostic.hint))
    if has_page:
        footer.append(("explain", f"sexplang explain {diagnostic.code}"))
    return "\n".join(lines + _footer(footer, width, paint))


def show_error(
    error: Record,
    find: FindSource = no_source,
    paint: Paint = leave_plain,
    has_page: Callable[[str], bool] = lambda code: False,
    more: Iterable[tuple[str, str]] = (),
    whole: str = "",
) -> str:
    """Return the error that ended a program as lines of text.

    `more` are further notes, as pairs of a word and a text. `whole` is a note for details that are
    cut.
    """
    fields = error.fields
    kind, reason = str(fields.get("type") or ""), str(fields.get("reason") or "")
    code = reason if kind in ("PROGRAM_ERROR", "USER_ERROR", "") else f"{kind} {reason}".strip()
    head = f"{paint(f'error[{draw_hidden(code)}]', 'error')}: "
    message = str(fields.get("message") or "the program failed")
    lines = [head + paint(_sentence(message), "title")]
    span = _span_of(fields.get("span"), find)
    labels = (Label(span),) if isinstance(span, Span) else ()
    width = _gutter(labels)
    if isinstance(span, str):
        lines.append(f"{' ' * (width + 1)}{paint('┌─', 'frame')} {draw_hidden(span)}")
    lines += _places(labels, width, "error", paint)
    footer = [("note", f"the library meets it at {text}") for text in _library(fields.get("span"))]
    footer += [("detail", text) for text in _details(fields.get("details"), message)]
    footer += [
        ("suppressed", text) for text in dict.fromkeys(_list_suppressed(fields.get("details")))
    ]
    footer += more
    shown = [(word, _cut(word, text)) for word, text in footer]
    if whole and shown != footer:
        shown.append(("note", whole))
    footer = shown
    if fields.get("hint"):
        footer.append(("hint", str(fields["hint"])))
    page = next(filter(has_page, _codes(fields)), None)
    if page:
        footer.append(("explain", f"sexplang explain {page}"))
    return "\n".join(lines + _footer(footer, width, paint))


def _cut(word: str, text: str) -> str:
    """Return the text of a note without the ends of long lines, and a detail of two full lines."""
    if word not in ("detail", "values"):
        return text
    text = "\n".join([_shorten(line, LINE) for line in text.split("\n")])
    return _shorten(text, 2 * LINE) if word == "detail" else text


def _shorten(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"


def _codes(fields: dict[str, Any]) -> Iterator[str]:
    """Yield the codes that may have a page: the code in the details first, it says more."""
    details = fields.get("details")
    if isinstance(details, dict) and isinstance(details.get("code"), str):
        yield details["code"]
    yield str(fields.get("reason") or "")


def _library(span: Any) -> Iterator[str]:
    """Yield the place in the standard library of an error whose span is that of the call."""
    if isinstance(span, dict) and isinstance(span.get("library"), str):
        yield span["library"]


def _details(details: Any, message: str) -> Iterator[str]:
    """Yield a text for each detail; a long value is abbreviated. What the message or an earlier
    repair says of a reply is not said again."""
    if isinstance(details, Record):
        details = details.fields
    if not isinstance(details, dict):
        return
    for key, value in details.items():
        if isinstance(value, tuple):
            if key == "violations" and all(str(each) in message for each in value):
                continue
            if key == "repairs":
                value = _without_repetition(value, message)
        if value is None or value in ((), "") or value == {} or _are_errors(value):
            continue
        long = text_size(value, LONGEST) > LONGEST
        text = value if isinstance(value, str) else abbreviate(value) if long else to_source(value)
        yield f"{key}: {text}"


def _without_repetition(repairs: tuple[Any, ...], said: str) -> tuple[str, ...]:
    """Return the repairs, and those that repeat a complaint without it."""
    shown: list[str] = []
    for repair in map(str, repairs):
        word, _, complaint = repair.partition(": ")
        shown.append(word if complaint and complaint in said else repair)
        said += f"\n{complaint}"
    return tuple(shown)


def _list_suppressed(details: Any) -> Iterator[str]:
    """Yield a line for each suppressed error."""
    errors: Any = details.get("suppressed") if isinstance(details, dict) else None
    for error in errors if _are_errors(errors) else ():
        place, words = error.fields.get("span"), str(error.fields.get("message"))
        known = isinstance(place, dict) and {"source", "line", "column"} <= place.keys()
        at = f"{place['source']}:{place['line']}:{place['column']}: " if known else ""
        yield f"{at}{words}"


def _are_errors(value: Any) -> bool:
    errors = value if isinstance(value, tuple) else ()
    return bool(errors) and all(isinstance(e, Record) and e.kind == "error" for e in errors)


def _sentence(words: str) -> str:
    return draw_hidden(shorten_names(words))


def _footer(footer: list[tuple[str, str]], width: int, paint: Paint) -> list[str]:
    lines = []
    for word, text in footer:
        first, *rest = draw_hidden(shorten_names(text), keep="\n").split("\n")
        mark = paint("=", "frame")
        lines.append(f"{' ' * (width + 1)}{mark} {paint(f'{word}:', 'hint')} {first}")
        lines += [f"{' ' * (width + 5 + len(word))}{line}" for line in rest]
    return lines


def _span_of(span: Any, find: FindSource) -> Span | str | None:
    """Return the span of an error record, or its place in words if the source is not known."""
    fields = span.fields if isinstance(span, Record) else span
    if not isinstance(fields, dict):
        return span if isinstance(span, Span) else None
    name = str(fields.get("source") or "")
    line, column = fields.get("line") or 0, fields.get("column") or 0
    source = find(name)
    if source is None:
        return f"{name}:{line}:{column}"
    start = _offset(source, line, column)
    end = _offset(source, fields.get("end_line") or line, fields.get("end_column") or column)
    if start is None or end is None:
        return f"{name}:{line}:{column}"
    return Span(source, start, max(start, end))


def _offset(source: Source, line: int, column: int) -> int | None:
    at = 0
    for _ in range(line - 1):
        at = source.text.find("\n", at) + 1
        if at == 0:
            return None
    return min(at + max(column, 1) - 1, len(source.text))


def _gutter(labels: Iterable[Label]) -> int:
    return max((len(str(label.span.finish.line)) for label in labels), default=1)


@frozen
class _Mark:
    """An underlined range of one line: columns from 0, in code points."""

    line: int
    start: int
    end: int
    main: bool
    words: str


def _places(labels: tuple[Label, ...], width: int, severity: str, paint: Paint) -> Iterator[str]:
    """Yield the lines of all labels, in one frame for each source, that of the first label
    first."""
    groups: dict[int, list[tuple[bool, Label]]] = {}
    for at, label in enumerate(labels):
        groups.setdefault(id(label.span.source), []).append((at == 0, label))
    for group in groups.values():
        _, first = group[0]
        yield f"{' ' * (width + 1)}{paint('┌─', 'frame')} {draw_hidden(str(first.span))}"
        marks = [mark for main, label in group for mark in _marks(label, main)]
        yield from _lines(first.span.source, marks, width, severity, paint)


def _lines(
    source: Source, marks: list[_Mark], width: int, severity: str, paint: Paint
) -> Iterator[str]:
    bar, blank = paint("│", "frame"), " " * width
    before = 0
    for number in sorted({mark.line for mark in marks}):
        if before and number > before + 1:
            yield f"{blank} {paint('┆', 'frame')}"
        before = number
        here = [mark for mark in marks if mark.line == number]
        shown, columns = _window(source.line(number), here)
        yield f"{paint(f'{number:>{width}}', 'frame')} {bar} {shown}".rstrip()
        for mark in sorted(here, key=lambda mark: (not mark.main, mark.start)):
            start, end = columns(mark.start), columns(mark.end)
            line = ("^" if mark.main else "-") * max(1, end - start)
            words = f" {_sentence(mark.words)}" if mark.words else ""
            colour = severity if mark.main else "other"
            yield f"{blank} {bar} {' ' * start}{paint(line + words, colour)}"


def _marks(label: Label, main: bool) -> Iterator[_Mark]:
    """Yield the underlines of a label.

    A span of several lines has two: its first line from the start, its last line up to the end. The
    words stand at the last.
    """
    begin, finish = label.span.begin, label.span.finish
    if finish.line == begin.line:
        yield _Mark(begin.line, begin.column - 1, finish.column - 1, main, label.words)
        return
    source = label.span.source
    first = source.line(begin.line)
    yield _Mark(begin.line, begin.column - 1, max(len(first), begin.column), main, "")
    last = source.line(finish.line)
    indent = len(last) - len(last.lstrip())
    start = min(indent, max(finish.column - 2, 0))
    yield _Mark(finish.line, start, finish.column - 1, main, label.words)


def _window(line: str, marks: list[_Mark]) -> tuple[str, Callable[[int], int]]:
    """Return a line as it is drawn, cut around its marks, and a function of code points to
    columns."""
    start = 0
    main = next((mark for mark in marks if mark.main), marks[0])
    if len(line) > WIDTH and main.start > WIDTH * 2 // 3:
        start = main.start - WIDTH // 3
    stop = min(len(line), start + WIDTH)
    cells, at = [0], 0
    parts: list[str] = []
    for char in line[start:stop]:
        piece = " " * (TAB - at % TAB) if char == "\t" else draw_hidden(char)
        at += width_of(piece)
        parts.append(piece)
        cells.append(at)
    before, after = "…" if start else "", "…" if stop < len(line) else ""

    def columns(index: int) -> int:
        return len(before) + cells[min(max(index - start, 0), len(cells) - 1)]

    return before + "".join(parts) + after, columns


def width_of(text: str) -> int:
    """Return the columns that a terminal gives to a text."""
    return sum(
        0
        if unicodedata.category(char) in ("Mn", "Me", "Cf")
        else 1 + (unicodedata.east_asian_width(char) in "WF")
        for char in text
    )


_HIDDEN = {"Cc", "Cf", "Cs", "Zl", "Zp", "Co", "Cn"}


def draw_hidden(text: str, keep: str = "") -> str:
    """Return a text with a visible sign for each character that a terminal would obey or hide."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(char if char in keep else _draw(char) for char in text)


def _draw(char: str) -> str:
    if char.isprintable() or unicodedata.category(char) not in _HIDDEN:
        return char
    if char in "\n\t":
        return " "
    if ord(char) < 0x20:
        return chr(0x2400 + ord(char))
    return "␡" if char == "\x7f" else f"<U+{ord(char):04X}>"
