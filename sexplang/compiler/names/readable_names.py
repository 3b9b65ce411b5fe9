"""Names that macros brought in, and findings about them, to what a person reads."""

import re

from sexplang.terms.classes.node import evolve
from sexplang.terms.diagnostic import Diagnostic, Label
from sexplang.terms.form import MARK
from sexplang.terms.source import Made
from sexplang.terms.values.abbreviation import shorten_names

_MARKED = re.compile(f"{MARK}[0-9]+")


def split_path(text: str) -> tuple[str, list[str]]:
    """`plan.notes.success`: the name that is bound, and the fields."""
    spelling, mark, which = text.partition(MARK)
    head, *fields = spelling.split(".")
    return head + mark + which, fields


def readable(finding: Diagnostic) -> Diagnostic:
    """A finding without marks in its words; one about a form that a macro put there says so."""
    labels = tuple(Label(label.span, _plain(label.words)) for label in finding.labels)
    span = finding.span
    if isinstance(span, Made):
        labels += (Label(span.template, f"`{span.macro}` puts this there"),)
    return evolve(
        finding,
        title=_plain(finding.title),
        labels=labels,
        notes=tuple(_plain(note) for note in finding.notes),
        hint=None if finding.hint is None else _plain(finding.hint),
    )


def _plain(text: str) -> str:
    return shorten_names(_MARKED.sub("", text) if MARK in text else text)
