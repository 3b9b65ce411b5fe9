"""Readable spellings of names from macros, in diagnostics."""

import re

from sexplang.terms.classes.node import evolve
from sexplang.terms.diagnostic import Diagnostic, Label
from sexplang.terms.form import MARK
from sexplang.terms.source import Made
from sexplang.terms.values.abbreviation import shorten_names

_MARKED = re.compile(f"{MARK}[0-9]+")


def split_path(text: str) -> tuple[str, list[str]]:
    """Split `plan.notes.success` into the bound name and the fields."""
    spelling, mark, which = text.partition(MARK)
    head, *fields = spelling.split(".")
    return head + mark + which, fields


def readable(finding: Diagnostic) -> Diagnostic:
    """Return a diagnostic without marks in its words. One about a form from a macro says so."""
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
