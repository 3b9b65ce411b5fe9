"""The semantic actions of the grammar: the methods that build forms.

They serve lark as an inline transformer and the generated table alike. Brackets and marks are kept
as (start, end), for the spans of forms.
"""

from collections.abc import Callable
from typing import TypeAlias

from sexplang.reader.token_values import (
    CONSTANTS,
    check_label,
    check_name,
    number,
    string,
    string_label,
    text_block,
)
from sexplang.terms.form import Form, Label, ListForm, Literal, Name, TableForm, VectorForm
from sexplang.terms.source import Source, Span

Items: TypeAlias = list[Form]
Place: TypeAlias = tuple[int, int]

MARKS = {"'": "quote", "`": "quasiquote", "~": "unquote", "~@": "unquote-splicing"}


class Forms:
    """The builder of the forms of one source."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.seen: set[str] = set()
        # A splice in a table is valid only in a quasiquote, which is known only at its end.
        self.spliced = False

    def name(self, text: str, start: int, end: int) -> Form:
        if text not in self.seen:
            if text in CONSTANTS:
                return Literal(CONSTANTS[text], Span(self.source, start, end))
            check_name(text)
            self.seen.add(text)
        return Name(text, Span(self.source, start, end))

    def number(self, text: str, start: int, end: int) -> Form:
        return Literal(number(text), Span(self.source, start, end))

    def string(self, text: str, start: int, end: int) -> Form:
        return Literal(string(text), Span(self.source, start, end))

    def text(self, text: str, start: int, end: int) -> Form:
        return Literal(text_block(text), Span(self.source, start, end))

    def label(self, text: str, start: int, end: int) -> Form:
        if text not in self.seen:
            check_label(text)
            self.seen.add(text)
        return Label(text[:-1], Span(self.source, start, end))

    def string_label(self, text: str, start: int, end: int) -> Form:
        return Label(string_label(text), Span(self.source, start, end))

    def none(self) -> Items:
        return []

    def add(self, forms: Items, form: Form) -> Items:
        forms.append(form)
        return forms

    def add_labelled(self, forms: Items, label: Form, value: Form) -> Items:
        forms += (label, value)
        return forms

    def add_splice(self, forms: Items, mark: Place, form: Form) -> Items:
        self.spliced = True
        forms.append(self.quotation(mark, form))
        return forms

    def drop(self, forms: Items, dropped: None) -> Items:
        return forms

    def omission(self, mark: Place, *entry: Form) -> None:
        return None

    entry_omission = omission

    def value(self, form: Form) -> Form:
        return form

    def second(self, dropped: None, form: Form) -> Form:
        return form

    def list(self, opening: Place, items: Items, closing: Place) -> Form:
        return ListForm(tuple(items), Span(self.source, opening[0], closing[1]))

    def vector(self, opening: Place, items: Items, closing: Place) -> Form:
        return VectorForm(tuple(items), Span(self.source, opening[0], closing[1]))

    def table(self, opening: Place, items: Items, closing: Place) -> Form:
        return TableForm(tuple(items), Span(self.source, opening[0], closing[1]))

    def quotation(self, mark: Place, form: Form) -> Form:
        start, end = mark
        name = Name(MARKS[self.source.text[start:end]], Span(self.source, start, end))
        return ListForm((name, form), Span(self.source, start, form.span.end))


MAKERS: dict[str, Callable[[Forms, str, int, int], Form]] = {
    "NAME": Forms.name,
    "NUMBER": Forms.number,
    "STRING": Forms.string,
    "TEXT": Forms.text,
    "LABEL": Forms.label,
    "STRING_LABEL": Forms.string_label,
}
"""The action for a token, by its name. Any other token is kept as its place."""
