"""Compilation of a rule's pattern to a `Sequence`, with the ellipses around each variable."""

from typing import Any

from sexplang.expander.macro_diagnostics import flaw
from sexplang.expander.rule_nodes import (
    Anything,
    Datum,
    Entries,
    MacroContext,
    Path,
    Pattern,
    Sequence,
    Variable,
    Word,
)
from sexplang.terms.form import Form, Label, ListForm, Name, TableForm, VectorForm

DEEPEST = 20
"""The depth of nested ellipses. The cost of deeper ones is quadratic."""


class _Patterns:
    """The compilation of one pattern: a stack of forms to read, and the nodes made so far.

    A form is compiled after its parts, which leave `work` in the order of the text.
    """

    def __init__(self, reading: MacroContext) -> None:
        self.reading = reading
        self.paths: dict[str, Path] = {}
        self.under: list[list[str]] = []
        self.work: list[Any] = []
        self.done: list[Pattern] = []

    def flaw(self, form: Form, title: str, words: str = "", hint: str | None = None) -> None:
        self.reading.flaws.append(flaw("bad-syntax-rules", form.span, title, words, hint))

    def read(self, items: tuple[Form, ...]) -> Sequence:
        self.open(ListForm, items, ())
        while self.work:
            step, *arguments = self.work.pop()
            step(*arguments)
        (pattern,) = self.done
        assert isinstance(pattern, Sequence)
        return pattern

    def one(self, form: Form, path: Path) -> None:
        if isinstance(form, (ListForm, VectorForm)):
            self.open(type(form), form.items, path)
        elif isinstance(form, TableForm):
            self.table(form, path)
        elif isinstance(form, Name):
            self.done.append(self.name(form, path))
        else:
            self.done.append(Datum(form))

    def name(self, form: Name, path: Path) -> Pattern:
        text, reading = form.text, self.reading
        if text in reading.literals:
            return Word(text)
        if text == "_":
            return Anything()
        if text == ".":
            self.flaw(form, "a pattern has no dot", hint="write `(first rest ...)`")
        elif text in reading.words:
            hint = f"put it among the literals: `(syntax-rules ({text}) …)`"
            self.flaw(form, f"`{text}` is a word of the language, not a pattern variable", "", hint)
        elif text in self.paths:
            self.flaw(form, f"`{form.spelling}` occurs twice in this pattern", "again here")
        else:
            self.paths[text] = path
            for ellipsis in path:
                self.under[ellipsis].append(text)
        return Variable(text)

    def open(self, kind: Any, items: tuple[Form, ...], path: Path) -> None:
        """Push the parts of a list or vector: before the ellipsis, under it, after it."""
        dots = [at for at, item in enumerate(items) if self.is_ellipsis(item)]
        at = dots[0] if dots else -1
        if len(dots) > 1:
            title = "a list in a pattern has room for one ellipsis"
            self.flaw(items[dots[1]], title, "a second one", "put one of the two in parentheses")
        if at == 0:
            self.flaw(items[0], "an ellipsis follows what it repeats", "nothing stands before this")
        plain = [item for item in items if not self.is_ellipsis(item)]
        if at <= 0:
            self.work.append((self.close, kind, len(plain), None, len(plain)))
            self.work.extend((self.one, item, path) for item in reversed(plain))
            return
        # The repeated part comes first, so that its variables are known apart from the others.
        repeated = plain.pop(at - 1)
        if len(path) == DEEPEST:
            self.flaw(items[at], f"ellipses are nested more than {DEEPEST} deep")
            path = ()
        ellipsis = len(self.under)
        self.under.append([])
        inner = (*path, ellipsis)
        self.work.append((self.close, kind, at - 1, ellipsis, len(plain)))
        self.work.extend((self.one, item, path) for item in reversed(plain))
        self.work.append((self.one, repeated, inner))

    def is_ellipsis(self, form: Form) -> bool:
        reading = self.reading
        return (
            type(form) is Name
            and form.text == reading.ellipsis
            and form.text not in reading.literals
        )

    def close(self, kind: Any, before: int, ellipsis: int | None, count: int) -> None:
        parts = self.take(count)
        if ellipsis is None:
            self.done.append(Sequence(kind, parts, None, ()))
            return
        repeat = self.done.pop()
        names = tuple(self.under[ellipsis])
        self.done.append(Sequence(kind, parts[:before], repeat, parts[before:], names))

    def take(self, count: int) -> tuple[Pattern, ...]:
        at = len(self.done) - count
        parts = tuple(self.done[at:])
        del self.done[at:]
        return parts

    def table(self, form: TableForm, path: Path) -> None:
        keys: list[str] = []
        for at in range(0, len(form.items), 2):
            label = form.items[at]
            if type(label) is not Label or at + 1 == len(form.items):
                self.flaw(label, "a table in a pattern is written `{key: pattern}`")
                self.done.append(Anything())
                return
            if label.text in keys:
                self.flaw(label, f"the key `{label.text}` occurs twice in this pattern")
            keys.append(label.text)
        self.work.append((self.close_table, tuple(keys)))
        self.work.extend((self.one, item, path) for item in form.items[:0:-2])

    def close_table(self, keys: tuple[str, ...]) -> None:
        self.done.append(Entries(dict(zip(keys, self.take(len(keys)), strict=True))))


def read_pattern(
    reading: MacroContext, items: tuple[Form, ...]
) -> tuple[Sequence, dict[str, Path]]:
    """Return the compiled pattern after a macro's name, and its variables."""
    patterns = _Patterns(reading)
    pattern = patterns.read(items)
    return pattern, patterns.paths
