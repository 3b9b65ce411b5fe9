"""Lowering of names, and suggestions for unbound ones."""

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

from sexplang.compiler.compilation import (
    KEPT,
    Binding,
    Continuation,
    Keyword,
    LaterDefinition,
    Lowering,
    NamedFunction,
    Namespace,
    Place,
    split_path,
)
from sexplang.compiler.forms.shapes import PARTS, RESERVED, SHAPES
from sexplang.terms.core import Const, Core, Known, Local, MakeTable, Path
from sexplang.terms.diagnostic import Edit, Label
from sexplang.terms.form import MARK, Form, ListForm, Name
from sexplang.terms.macro import Macro
from sexplang.terms.program import Export
from sexplang.terms.source import Span
from sexplang.terms.texts.nearest import fewest_letters_off, find_misspelled
from sexplang.terms.values.value import Higher, Operation, Primitive, Task

if TYPE_CHECKING:
    from sexplang.compiler import habit_hints


def mention(c: Lowering, form: Name, position: int) -> Core:
    """Lower a name as a value."""
    binding = c.names.find(form.text)
    if binding is None:
        return _path(c, form)
    if type(binding) is Continuation:
        c.note_use(binding, KEPT)
    return reference(c, binding, form)


def names_mentioned(form: Form) -> frozenset[str]:
    """Return all names in a form, and the heads of paths."""
    found: set[str] = set()
    work = [form]
    while work:
        form = work.pop()
        if type(form) is Name:
            found.update((form.text, split_path(form.text)[0]))
        else:
            work += getattr(form, "items", ())
    return frozenset(found)


def reference(c: Lowering, binding: Binding, form: Name) -> Core:
    """Return the core of a binding."""
    if isinstance(binding, Place):
        return Local(c.level - binding.level, binding.index, binding.name, form.span)
    if type(binding) is NamedFunction:
        return Known(c.level - binding.level, binding.function, span=form.span)
    if type(binding) is Keyword:
        return report_macro(c, binding.macro, form.span)
    if type(binding) is Export:
        return lower_export(c, binding, form.span)
    if type(binding) is Namespace:
        values = {
            name: lower_export(c, export, form.span)
            for name, export in binding.exports.items()
            if type(export.shape) is not Macro
        }
        return MakeTable(tuple(values), tuple(values.values()), span=form.span)
    assert isinstance(binding, LaterDefinition)
    return report_early_use(c, form, binding)


def lower_export(c: Lowering, export: Export, span: Span) -> Core:
    """Return the core of an export of another unit or the prelude."""
    core = export.core
    if type(export.shape) is Macro:
        return report_macro(c, export.shape, span)
    if type(core) is Const:
        return Const(core.value, span=span)
    if type(core) is Local:
        return Local(c.level + core.depth, core.index, core.name, span=span)
    if type(core) is Known:
        return Known(c.level + core.depth, core.function, span=span)
    assert c.level == 0, "an export is a constant, a slot of the program or a function of it"
    return core


def report_macro(c: Lowering, macro: Macro, span: Span) -> Const:
    """Report a macro where a value is expected."""
    return c.report(
        "syntax-misplaced",
        span,
        f"`{macro.name}` is a macro and has no value",
        "a value is expected here",
        also=(Label(macro.span, "defined here"),),
        hint=f"write `({macro.name} …)`, or a lambda around it",
    )


def report_early_use(c: Lowering, form: Name, later: LaterDefinition) -> Const:
    hint = f"move the definition of `{form.text}` up, before its first use"
    if later.function:
        hint = (
            f"move the definition of `{form.text}` up; functions whose definitions stand next to "
            "each other may call each other in any order"
        )
    return c.report(
        "used-before-defined",
        form.span,
        f"`{form.text}` is used before it is defined",
        "used here",
        also=(Label(later.span, "but defined only here"),),
        hint=hint,
    )


def _path(c: Lowering, form: Name) -> Core:
    """Lower `plan.notes.success`, if `plan` is bound and the whole is not."""
    head, fields = split_path(form.text)
    binding = _base_of(c, form)
    if binding is None:
        report_unbound(c, form)
        return Const(None, span=form.span)
    if type(binding) is Namespace:
        export = binding.exports.get(fields[0])
        if export is None:
            return _report_not_exported(c, form, head, fields[0], binding)
        base = lower_export(c, export, form.span)
        fields = fields[1:]
    else:
        base = mention(c, Name(head, span=form.span), 0)
    return Path(base, tuple(fields), span=form.span) if fields else base


def _report_not_exported(c: Lowering, form: Name, head: str, field: str, space: Namespace) -> Const:
    close = fewest_letters_off(field, space.exports)
    return c.report(
        "unbound-name",
        form.span,
        f'"{space.path}" has no public name `{field}`',
        hint=f"did you mean `{head}.{close}`?" if close else _list_names(space.exports),
    )


def _list_names(names: Iterable[str]) -> str:
    return "it has " + ", ".join(f"`{name}`" for name in sorted(names))


def is_unbound(c: Lowering, form: Name) -> bool:
    """Return whether a name has no binding, and is no path from a name that has one."""
    return c.names.find(form.text) is None and _base_of(c, form) is None


def _base_of(c: Lowering, form: Name) -> Binding | None:
    """Return the binding of `plan` for `plan.notes`. A function of the prelude has no fields."""
    head, fields = split_path(form.text)
    binding = c.names.find(head) if head and all(fields) and fields else None
    if type(binding) is Export and isinstance(binding.shape, (Primitive, Higher, Operation)):
        return None
    return binding


def report_unbound(c: Lowering, form: Name, call: ListForm | None = None) -> bool:
    """Report an unbound name, with a suggestion; `call` is the call whose head it is. Return
    whether it is a form of another language, whose operands are no expressions."""
    name = form.spelling
    if name in RESERVED:
        _report_form(c, form)
        return False
    if c.import_failed or name.partition(".")[0] in c.refused:
        # The name may come from an import that could not be read, or a form that was refused.
        return False
    found = _suggest(c, form, name, call)
    if found is None and name.partition(".")[0]:
        name = name.partition(".")[0]
        found = _suggest(c, form, name, call if name == form.spelling else None)
    title = f"nothing here is called `{name}`"
    if c.names.find(name) is not None:
        title = f"`{name}` is a function and has no fields"
    if call is not None and found is not None and found.is_form:
        c.refused |= names_mentioned(call)
    hint, edits = (found.hint, found.edits) if found is not None else (None, ())
    c.report(
        "unbound-name",
        form.span,
        title,
        "not bound in this file or its imports",
        hint=hint,
        edits=edits,
    )
    return found is not None and found.is_form


def _suggest(
    c: Lowering, form: Name, name: str, call: ListForm | None
) -> "habit_hints.Suggestion | None":
    """Return what to write for a name: a name of the program that is a letter off, what another
    language means by it, a name that is spelled nearly so."""
    from sexplang.compiler import habit_hints

    c.suggested += 1
    if c.suggested > _MOST_SUGGESTED:
        return None
    own = [key for key, binding in c.names.table.items() if _is_suggested(key, binding)]
    close = find_misspelled(name, own) if len(name) > 2 else None
    if close is None:
        found = habit_hints.find_suggestion(c, name, form.span, call)
        if found is not None:
            return found
    defaulted = next((key for key in own if key.startswith(f"{name}=")), None)
    if defaulted is not None:
        default = defaulted.partition("=")[2] or "default"
        return habit_hints.Suggestion(f"a parameter with a default is written `({name} {default})`")
    marked = habit_hints.find_mark(form.spelling, form.span)
    if marked is not None:
        return marked
    assigned = _ASSIGNED.match(form.span.source.text, form.span.end)
    if assigned is not None and _begins_line(form):
        return habit_hints.Suggestion(f"a value gets a name by `(define {name} {assigned[1]})`")
    first = _name_first(c, name)
    if first is not None:
        return habit_hints.Suggestion(first)
    close = close or _did_you_mean(c, name, call is not None)
    if close is None:
        return None
    edits = (Edit(form.span, close),) if form.spelling == name else ()
    return habit_hints.Suggestion(f"did you mean `{close}`{_describe(c, close)}?", edits)


_ASSIGNED = re.compile(r"[ \t]+=[ \t]+([^\s()\[\]{}\"]+)")


def _begins_line(form: Name) -> bool:
    """Return whether nothing but an opening parenthesis stands before a name in its line."""
    text, start = form.span.source.text, form.span.start
    return text[text.rfind("\n", 0, start) + 1 : start].strip() in ("", "(")


def _is_suggested(name: str, binding: Binding) -> bool:
    return type(binding) is not LaterDefinition and MARK not in name


def _name_first(c: Lowering, name: str) -> str | None:
    """Return the correction for a catch whose name stands behind a reason or type."""
    for head in reversed(c.catches):
        first, *rest = [item.span.text for item in head.items]
        if name in rest and len(name) < len(first):  # the longer one is the reason
            written = " ".join([name, first, *[word for word in rest if word != name]])
            return f"the name comes first: `(catch ({written}) …)`"
    return None


def _report_form(c: Lowering, form: Name) -> Const:
    hint = PARTS.get(form.text)
    if form.text == "->":
        hint = f"`->` begins its form, `{SHAPES['->'].syntax}`; a function is `(lambda (x) body…)`"
    elif hint is None and form.text in SHAPES:
        hint = f"write `{SHAPES[form.text].syntax}`, or a lambda around it"
    return c.report(
        "reserved-name",
        form.span,
        f"`{form.text}` is a word of the language and has no value",
        "a value is expected here",
        hint=hint,
    )


_MOST_SUGGESTED = 20
"""The greatest number of suggestions; each compares a name with every other."""


def _did_you_mean(c: Lowering, name: str, is_head: bool) -> str | None:
    """Return the name that is spelled nearly so. Special forms are suggested only where a form may
    begin."""
    bound = [key for key, binding in c.names.table.items() if _is_suggested(key, binding)]
    words = SHAPES if is_head else ()
    return _correct_spelling(name, bound, [*c.names.scope, *words])


def _describe(c: Lowering, name: str) -> str:
    """Return the kind and origin of a suggested name, in words."""
    binding = c.names.find(name)
    what = ""
    if isinstance(binding, Export) and isinstance(binding.shape, Task):
        what = ", a task"
    if name in c.origins and name in c.names.table:
        what += f', from "{c.origins[name]}"'
    return what


def _correct_spelling(name: str, bound: Iterable[str], words: Iterable[str]) -> str | None:
    """Return the name that `name` is a misspelling of.

    A difference in a sign, as between `string<?` and `string=?`, makes another name; an arrow may
    be written as a hyphen. A short word of the language is near to too many others.
    """
    if len(name) < 3:
        return None
    known = [one for one in words if len(one) > 4]
    signs = _signs(name)  # once: a name may have a million characters
    near = [one for one in (*bound, *known) if _signs(one) == signs]
    return find_misspelled(name, near)


def _signs(name: str) -> str:
    return "".join([character for character in name.replace("->", "-") if character in "<=>+*/"])
