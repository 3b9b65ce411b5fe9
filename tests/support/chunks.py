"""Documents to verdicts: each block is run as one program and its marks are held to it."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path

from attrs import define, field
from support.markdown import ROOT, Chunk, Mark, chunks_of
from support.playing import Exchange, Unexpected, play, value_fits

from sexplang.analysis import too_many
from sexplang.hosts.terminal.show import show, show_error
from sexplang.machine import Done
from sexplang.pipeline.pipeline import build, inspect
from sexplang.reader import read
from sexplang.terms.diagnostic import Diagnostic, Diagnostics
from sexplang.terms.form import Form
from sexplang.terms.program import Program
from sexplang.terms.source import Source
from sexplang.terms.values.text import to_source
from sexplang.terms.values.value import Fault, Record


def chunks(*places: str) -> Iterator[Chunk]:
    """Every chunk of the Markdown and the programs' comments below the places."""
    for place in places:
        path = ROOT / place
        for file in sorted(path.rglob("*.md")) if path.is_dir() else [path]:
            yield from chunks_of(file, file.read_text(encoding="utf-8"))


@define
class Item:
    """A top-level form with the marks that speak of it."""

    start: int
    end: int
    marks: list[Mark] = field(factory=list)

    def of(self, kind: str) -> list[Mark]:
        return [mark for mark in self.marks if mark.kind == kind]


def check(chunk: Chunk, update: bool = False) -> None:
    """Runs a chunk. Raises AssertionError where it does something else than it says."""
    shown: list[str] = []
    if chunk.text.lstrip().startswith("<"):
        shown += _refused_template(chunk)
    else:
        shown += _checked_program(chunk)
    if chunk.diagnostic is not None:
        rendering = "\n\n".join(shown) + "\n"
        if update:
            _rewrite(chunk, rendering)
        elif rendering != chunk.diagnostic.text:
            raise Unexpected(f"{chunk}: the rendering is now\n{rendering}")


def _checked_program(chunk: Chunk) -> list[str]:
    """Every form in turn; gives the renderings of the errors that were expected."""
    text, marks, shown = _readable(chunk)
    items = [Item(form.span.start, form.span.end) for form in _forms(chunk, text)]
    for mark in marks:
        _item_of(mark, items, chunk).marks.append(mark)
    exchanges: list[Exchange] = []
    for at, item in enumerate(items):
        script = exchanges + _exchanges(item.marks, chunk)
        if item.of("!"):
            warned = _fails(chunk, text[: item.end], script, item, shown)
            if not warned:
                text = _blanked(text, item.start, item.end)
                continue
        exchanges = script
        last = at == len(items) - 1
        if item.marks or last:
            _succeeds(chunk, text[: item.end], exchanges, item)
    return shown


def _succeeds(chunk: Chunk, text: str, script: list[Exchange], item: Item) -> None:
    place = f"{chunk.name.rpartition(':')[0]}:{text.count(chr(10)) + 1}"
    try:
        outcome = play(_built(chunk, text), script)
    except Diagnostics as found:
        raise Unexpected(f"{place} does not build\n{_rendered(found)}") from None
    if not isinstance(outcome, Done):
        raise Unexpected(f"{place} fails\n{show_error(outcome.error, _finder(chunk, text))}")
    for mark in item.of("=>"):
        if not value_fits(mark.text, outcome.value):
            raise Unexpected(f"{place} gives {to_source(outcome.value)[:2000]}, not {mark.text}")


def _fails(chunk: Chunk, text: str, script: list[Exchange], item: Item, shown: list[str]) -> bool:
    """The form fails as its mark says; true when all it brings is the expected warning. One that
    `check` refuses is not run."""
    (mark,) = item.of("!")
    try:
        program = _built(chunk, text)
    except Diagnostics as found:
        _expected(mark, chunk, list(found.diagnostics))
        shown.append(_rendered(found))
        return False
    code, _ = _expectation(mark)
    warnings = [each for each in _findings(program) if each.code == code]
    if code == "resume-across-par":
        warnings = [each for each in warnings if each.severity == "error"]
    if code == "wrong-type":
        warnings = []  # what `check` is certain of, a run ends with
    if warnings:
        _expected(mark, chunk, warnings)
        shown += map(show, warnings)
        return not any(each.code in _REFUSED for each in warnings)
    outcome = play(program, script)
    if isinstance(outcome, Done):
        given = to_source(outcome.value)[:2000]
        raise Unexpected(f"{chunk}: line {mark.line} gives {given}, not the error {mark.text}")
    _expected_error(mark, chunk, outcome.error)
    shown.append(show_error(outcome.error, _finder(chunk, text)))
    return False


_REFUSED = ("answer-as-result", "answer-as-test", "never-equal", "not-data", "wrong-arity")
"""Errors of `check` alone."""


def _findings(program: Program) -> list[Diagnostic]:
    """The warnings of a program that builds, and what `check --max-calls 10` says."""
    report = inspect(program)
    refused = too_many(report, 10)
    return [*program.warnings, *report.findings, *([refused] if refused is not None else [])]


def _expectation(mark: Mark) -> tuple[str, list[str]]:
    code, _, rest = mark.text.partition(" ")
    return code, [part.replace('\\"', '"') for part in re.findall(r'"((?:\\.|[^"\\])*)"', rest)]


def _expected(mark: Mark, chunk: Chunk, found: list[Diagnostic]) -> None:
    code, words = _expectation(mark)
    fitting = [show(each) for each in found if each.code == code]
    if not any(all(word in text for word in words) for text in fitting):
        raise Unexpected(
            f"{chunk}: line {mark.line} should be refused with {mark.text}, not\n"
            + "\n".join(map(show, found))
        )


def _expected_error(mark: Mark, chunk: Chunk, error: Record) -> None:
    code, words = _expectation(mark)
    fields = error.fields
    details = fields["details"] if isinstance(fields["details"], dict) else {}
    codes = (fields["reason"], fields["type"], details.get("code"), details.get("limit_kind"))
    text = show_error(error)
    if code not in codes or not all(word in text for word in words):
        raise Unexpected(f"{chunk}: line {mark.line} should fail with {mark.text}, not\n{text}")


def _item_of(mark: Mark, items: list[Item], chunk: Chunk) -> Item:
    """The form around a mark, else the nearest that ends before it."""
    before = [item for item in items if item.start <= mark.offset]
    if not before:
        raise Unexpected(f"{chunk}: the mark in line {mark.line} stands before any form")
    return before[-1]


def _exchanges(marks: list[Mark], chunk: Chunk) -> list[Exchange]:
    """The requests and replies that marks name, paired."""
    made: list[Exchange] = []
    for mark in marks:
        where = f"{chunk.name.rpartition(':')[0]}:{mark.line}"
        if mark.kind == "?":
            made.append(Exchange(mark.text, None, where))
        elif mark.kind == "<":
            waits = made and made[-1].reply is None
            asked = made.pop().request if waits else None
            made.append(Exchange(asked, mark.text, where))
    return made


def _readable(chunk: Chunk) -> tuple[str, list[Mark], list[str]]:
    """The text without what the reader refuses as it should, the marks that are left, and the
    renderings of what was refused."""
    text, marks, shown = chunk.text, list(chunk.marks), []
    while True:
        try:
            read(Source(chunk.name, text))
        except Diagnostics as found:
            mark, piece = _unreadable(chunk, text, marks, found)
            marks.remove(mark)
            _expected(mark, chunk, list(piece[2].diagnostics))
            shown.append(_rendered(piece[2]))
            text = _blanked(text, piece[0], piece[1])
        else:
            return text, marks, shown


def _unreadable(
    chunk: Chunk, text: str, marks: list[Mark], found: Diagnostics
) -> tuple[Mark, tuple[int, int, Diagnostics]]:
    """The first marked piece that the reader refuses by itself: from the nearest line above that
    begins at the margin."""
    name = chunk.name.rpartition(":")[0]
    for mark in marks:
        end = text.find("\n", mark.offset)
        end = len(text) if end < 0 else end
        starts = [m.start() for m in re.finditer(r"^[^\s;)\]}]", text[:end], re.MULTILINE)]
        for start in reversed(starts[-3:]) if mark.kind == "!" else ():
            try:
                read(Source(name, _blanked(text[:end], 0, start)))
            except Diagnostics as refused:
                return mark, (start, end, refused)
    raise Unexpected(f"{chunk} cannot be read\n{_rendered(found)}")


def _forms(chunk: Chunk, text: str) -> tuple[Form, ...]:
    return read(Source(chunk.name, text))


def _blanked(text: str, start: int, end: int) -> str:
    return text[:start] + re.sub(r"[^\n]", " ", text[start:end]) + text[end:]


def _refused_template(chunk: Chunk) -> list[str]:
    from sexplang.templates import read_templates

    source = Source(chunk.name.rpartition(":")[0], chunk.text)
    (mark,) = chunk.marks
    try:
        read_templates(source)
        if "<call" in source.text:  # what it names is known when the program is
            build(Source(f"{source.name}.xml", source.text), _find_in({}))
    except Diagnostics as found:
        _expected(mark, chunk, list(found.diagnostics))
        return [_rendered(found)]
    raise Unexpected(f"{chunk} should be refused with {mark.text}")


def _built(chunk: Chunk, text: str) -> Program:
    """The program of a chunk: templates it mentions are imported on the (blank) first line."""
    used = [
        name
        for name in chunk.templates
        if re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", text)
    ]
    imports = " ".join(f'(import "{name}.xml")' for name in used)
    files = {f"{name}.xml": chunk.templates[name] for name in used} | chunk.files
    source = Source(chunk.name.rpartition(":")[0], imports + text)
    return build(source, _find_in(files))


def _find_in(files: dict[str, str]) -> Callable[[str, str], tuple[Source, ...]]:
    """The named blocks of a document as files; a folder is all that begin with its name."""

    def find(path: str, importer: str) -> tuple[Source, ...]:
        folder = path.rstrip("/") + "/"
        names = [name for name in sorted(files) if name == path or name.startswith(folder)]
        if not names:
            raise Fault("import-not-found", f"there is no file `{path}`")
        return tuple([Source(name, files[name]) for name in names])

    return find


def _finder(chunk: Chunk, text: str) -> Callable[[str], Source | None]:
    name = chunk.name.rpartition(":")[0]
    return {name: Source(name, text)}.get


def _rendered(found: Diagnostics) -> str:
    return "\n\n".join(map(show, found.diagnostics))


def _rewrite(chunk: Chunk, rendering: str) -> None:
    """Puts the rendering into the block after the chunk, which may have moved meanwhile."""
    path: Path = chunk.path
    text = path.read_text(encoding="utf-8")
    for each in chunks_of(path, text):
        if each.text.strip() == chunk.text.strip() and each.diagnostic is not None:
            lines = text.split("\n")
            start = each.diagnostic.line
            old = each.diagnostic.text.count("\n")
            lines[start : start + old] = rendering.split("\n")[:-1]
            path.write_text("\n".join(lines), encoding="utf-8")
            return
