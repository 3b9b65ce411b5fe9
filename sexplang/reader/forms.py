"""Values of a rule's parts to the rule's value: the methods that the grammar names.

They serve lark as an inline transformer and the shipped table alike. Brackets and marks are kept
as (start, end): they are where the spans of forms come from.
"""

from collections.abc import Callable
from typing import Any

from sexplang.reader.words import (
    CONSTANTS,
    check_name,
    label,
    number,
    string,
    string_label,
    text_block,
)
from sexplang.terms.form import Form, Label, ListForm, Literal, Name, TableForm, VectorForm
from sexplang.terms.source import Source, Span

Parts = list[Any]
Items = list[Form]

MARKS = {"'": "quote", "`": "quasiquote", "~": "unquote", "~@": "unquote-splicing"}


class Forms:
    """Makes the forms of one source."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.seen: set[str] = set()
        # A splice in a table is a form only in a quasiquote, which is known only at its end.
        self.spliced = False

    def tokens(self) -> dict[str, Callable[[str, int, int], Form]]:
        """What makes a form of a token, by its name; any other is kept as its place."""
        return {
            "NAME": self.name,
            "NUMBER": self.number,
            "STRING": self.string,
            "TEXT": self.text,
            "LABEL": self.label,
            "STRING_LABEL": self.string_label,
        }

    def name(self, text: str, start: int, end: int) -> Form:
        if text in CONSTANTS:
            return Literal(CONSTANTS[text], span=Span(self.source, start, end))
        if text not in self.seen:
            check_name(text)
            self.seen.add(text)
        return Name(text, span=Span(self.source, start, end))

    def number(self, text: str, start: int, end: int) -> Form:
        return Literal(number(text), span=Span(self.source, start, end))

    def string(self, text: str, start: int, end: int) -> Form:
        return Literal(string(text), span=Span(self.source, start, end))

    def text(self, text: str, start: int, end: int) -> Form:
        return Literal(text_block(text), span=Span(self.source, start, end))

    def label(self, text: str, start: int, end: int) -> Form:
        return Label(label(text), span=Span(self.source, start, end))

    def string_label(self, text: str, start: int, end: int) -> Form:
        return Label(string_label(text), span=Span(self.source, start, end))

    def none(self, parts: Parts) -> Items:
        return []

    def add(self, parts: Parts) -> Items:
        forms: Items = parts[0]
        forms.append(parts[1])
        return forms

    def add_labelled(self, parts: Parts) -> Items:
        forms, name, value = parts
        forms += (name, value)
        return forms  # type: ignore[no-any-return]

    def add_splice(self, parts: Parts) -> Items:
        self.spliced = True
        parts[0].append(self.marked(parts[1:]))
        return parts[0]  # type: ignore[no-any-return]

    def drop(self, parts: Parts) -> Items:
        return parts[0]  # type: ignore[no-any-return]

    def dropped(self, parts: Parts) -> None:
        return None

    dropped_entry = dropped

    def value(self, parts: Parts) -> Form:
        return parts[0]  # type: ignore[no-any-return]

    def second(self, parts: Parts) -> Form:
        return parts[1]  # type: ignore[no-any-return]

    def list(self, parts: Parts) -> Form:
        (start, _), items, (_, end) = parts
        return ListForm(tuple(items), span=Span(self.source, start, end))

    def vector(self, parts: Parts) -> Form:
        (start, _), items, (_, end) = parts
        return VectorForm(tuple(items), span=Span(self.source, start, end))

    def table(self, parts: Parts) -> Form:
        (start, _), items, (_, end) = parts
        return TableForm(tuple(items), span=Span(self.source, start, end))

    def marked(self, parts: Parts) -> Form:
        (start, end), form = parts
        mark = MARKS[self.source.text[start:end]]
        name = Name(mark, span=Span(self.source, start, end))
        return ListForm((name, form), span=Span(self.source, start, form.span.end))
