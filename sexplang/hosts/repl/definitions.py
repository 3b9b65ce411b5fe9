"""Completion and documentation of the names of a session."""

from collections.abc import Mapping
from typing import Any

from sexplang.compiler.forms.shapes import splice, word_of
from sexplang.hosts.language_server.library import task_meaning
from sexplang.hosts.reference.documentation import comment_above
from sexplang.hosts.reference.habits import describe_habit, find_habit
from sexplang.hosts.reference.language_names import is_deprecated, prelude, special
from sexplang.hosts.reference.meanings import (
    Meaning,
    Parameter,
    list_private,
    outward,
)
from sexplang.hosts.reference.name_entries import (
    Entry,
    describe,
    find_entry,
    list_entries,
    summarize,
    table,
)
from sexplang.hosts.reference.search import search
from sexplang.hosts.reference.task_clauses import clauses
from sexplang.hosts.terminal.show import draw_hidden
from sexplang.reader import read
from sexplang.terms.form import ListForm, source_name
from sexplang.terms.macro import Macro
from sexplang.terms.program import Export, Function
from sexplang.terms.schemas import TypeDefinition
from sexplang.terms.values.text import type_words
from sexplang.terms.values.value import Operation, Task


def candidates(typed: str, names: Mapping[str, Export]) -> list[str]:
    """Return the names that begin as typed, sorted: of the session, the language and, for `u.f`, a
    module."""
    head, dot, _ = typed.partition(".")
    inside = _inside(names.get(head)) if dot else {}
    if inside:
        known = [f"{head}.{name}" for name in inside]
    else:
        own = [name for name, meaning in prelude().items() if not is_deprecated(meaning)]
        known = [*names, *own, *special()]
    return sorted({name for name in known if name.startswith(typed)})


def explain(name: str, names: Mapping[str, Export]) -> str | None:
    """Return the use and the meaning of a name, of the session or of the language, or what to write
    for one of another language; None for an unknown name."""
    entry = _find(name, names)
    if entry is not None:
        return draw_hidden(describe(entry), keep="\n")
    habit = find_habit(name)
    return draw_hidden(describe_habit(habit), keep="\n") if habit is not None else None


def find_by_words(words: str, names: Mapping[str, Export]) -> str:
    """Return the names of the session and of the language that fit words, the best first, with a
    line for each; empty if none fits."""
    own = [find_entry(_of(name, export)) for name, export in names.items()]
    hidden = {each.name for each in own}
    known = [each for each in list_entries() if each.name not in hidden]
    lines = [summarize(each) for each in search(words, [*own, *known, *clauses().values()])]
    return draw_hidden("\n".join(lines), keep="\n")


def _inside(export: Export | None) -> Mapping[str, Export]:
    return getattr(export.shape, "exports", {}) if export is not None else {}


def _find(name: str, names: Mapping[str, Export]) -> Entry | None:
    head, dot, rest = name.partition(".")
    inside = _inside(names.get(head))
    if dot and rest in inside:
        return find_entry(_of(name, inside[rest]))
    if name in names:
        return find_entry(_of(name, names[name]))
    return table().get(name) or clauses().get(name)


def _of(name: str, export: Export) -> Meaning:
    shape: Any = export.shape
    if isinstance(shape, Function):
        doc = shape.doc or comment_above(shape.span.source, shape.span.start)
        written = tuple(
            Parameter(
                source_name(each.name),
                None,
                None if each.default is None else each.default.span.text,
                is_pattern=each.is_pattern,
            )
            for each in shape.params
        )
        params = outward(written, list_private(read(shape.span.source)))
        span = shape.span
        return Meaning(name, "function", span, span, params, rest=shape.rest, doc=doc)
    if isinstance(shape, Task):
        return task_meaning(shape.template)
    if isinstance(shape, Operation):
        params = tuple(Parameter(each) for each in shape.params)
        return Meaning(name, "operation", params=params, doc=shape.doc)
    if isinstance(shape, Macro):
        return _macro(name, shape)
    if isinstance(shape, TypeDefinition):
        words = f"a type: {type_words(shape.open.whole)}"
        return Meaning(name, "type", doc=f"{words}. {shape.doc}" if shape.doc else words)
    members = {each: _of(each, one) for each, one in _inside(export).items()}
    if members:
        return Meaning(name, "module", members=members)
    return Meaning(name, "value", doc="a value")


def _macro(name: str, macro: Macro) -> Meaning:
    """Return the meaning of a macro: each pattern as a use of it, and the comment above it."""
    source = macro.span.source
    uses: list[str] = []
    for form in splice(read(source)):
        if (
            word_of(form) != "define-syntax"
            or not form.span.start < macro.span.start < form.span.end
        ):
            continue
        assert isinstance(form, ListForm)
        rules = form.items[2]
        for rule in rules.items[2:] if isinstance(rules, ListForm) else ():
            pattern = rule.items[0] if isinstance(rule, ListForm) else rule
            head = pattern.items[0].span if isinstance(pattern, ListForm) else pattern.span
            uses.append(f"({name}{source.text[head.end : pattern.span.end]}")
    about = comment_above(source, macro.span.start)
    return Meaning(name, "syntax", doc="\n".join([*uses, *([about] if about else [])]))
