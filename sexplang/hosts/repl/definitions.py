"""Completion and documentation of the names of a session."""

from collections.abc import Mapping
from typing import Any

from sexplang.compiler.forms.shapes import splice, word_of
from sexplang.hosts.language_server.hover import comment_above, headline, read_documentation
from sexplang.hosts.language_server.language_names import is_deprecated, prelude, special, syntax_of
from sexplang.hosts.language_server.library import task_meaning
from sexplang.hosts.language_server.meanings import (
    Meaning,
    Parameter,
    list_private,
    outward,
)
from sexplang.hosts.terminal.show import draw_hidden
from sexplang.reader import read
from sexplang.terms.form import ListForm
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
    """Return the use and the meaning of a name; None for an unknown name."""
    meaning = _meaning(name, names)
    if meaning is None:
        return None
    written = "" if meaning.kind == "syntax" else headline(meaning)
    lines = [_kind(meaning), written, read_documentation(meaning)]
    if meaning.kind == "module":
        lines[2] = "\n".join(sorted(meaning.members))
    lines += [f"  {each.name}: {each.doc}" for each in meaning.params or () if each.doc]
    return draw_hidden("\n".join(line for line in lines if line), keep="\n")


def _kind(meaning: Meaning) -> str:
    """Return the kind of a meaning whose form does not tell it."""
    if meaning.kind == "syntax":
        return "a macro"
    if meaning.kind != "special form":
        return ""
    return "a special form" if syntax_of(meaning.name) else "a word of a special form"


def _inside(export: Export | None) -> Mapping[str, Export]:
    return getattr(export.shape, "exports", {}) if export is not None else {}


def _meaning(name: str, names: Mapping[str, Export]) -> Meaning | None:
    head, dot, rest = name.partition(".")
    inside = _inside(names.get(head))
    if dot and rest in inside:
        return _of(name, inside[rest])
    if name in names:
        return _of(name, names[name])
    return prelude().get(name) or special().get(name)


def _of(name: str, export: Export) -> Meaning:
    shape: Any = export.shape
    if isinstance(shape, Function):
        doc = shape.doc or comment_above(shape.span.source, shape.span.start)
        written = tuple(
            Parameter(each.name, None, None if each.default is None else each.default.span.text)
            for each in shape.params
        )
        params = outward(written, list_private(read(shape.span.source)))
        return Meaning(name, "function", params=params, rest=shape.rest, doc=doc)
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
