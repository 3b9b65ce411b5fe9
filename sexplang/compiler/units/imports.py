"""Imports, declared effects and tasks of a file. They are bound before the rest is compiled."""

from collections.abc import Callable, Iterable, Mapping

from sexplang.compiler.compilation import Lowering
from sexplang.compiler.forms.shapes import SHAPES, word_of
from sexplang.compiler.names.bindings import Namespace
from sexplang.compiler.tasks.defatom import CheckTemplate, LoadSchema, declare_task
from sexplang.compiler.units.declarations import declare_effect, declare_input, top_level_only
from sexplang.compiler.units.macros import Syntax
from sexplang.compiler.units.statements import Definition, Statement
from sexplang.terms.classes.node import define, field
from sexplang.terms.core import Const
from sexplang.terms.diagnostic import Diagnostics, Label
from sexplang.terms.form import Form, ListForm, Literal, Name
from sexplang.terms.form import Label as LabelForm
from sexplang.terms.program import Export
from sexplang.terms.source import Made, Span
from sexplang.terms.values.value import Operation

Load = Callable[[str, Span], Mapping[str, Export]]


@define(eq=False)
class TopLevel:
    """The sorted top level of a file."""

    declarations: list[ListForm] = field(factory=list)
    statements: list[Statement] = field(factory=list)
    ends_in_declaration: bool = False


def imports_of(c: Lowering, forms: Iterable[Form]) -> list[ListForm]:
    """Return the imports among the forms of a file."""
    found: list[ListForm] = []
    work = list(forms)[::-1]
    while work:
        form = work.pop()
        word = word_of(form)
        if word in ("begin", "progn"):
            work.extend(form.items[:0:-1])  # type: ignore[union-attr]
        elif word == "import":
            assert isinstance(form, ListForm)
            found.append(form)
    return [form for form in found if _fits(c, form)]


def _fits(c: Lowering, form: ListForm) -> bool:
    shape, count = SHAPES[word_of(form)], len(form.items) - 1
    if count < shape.least or (shape.most is not None and count > shape.most):
        c.report_malformed(form, form, "this does not fit")
        return False
    return True


def sort(c: Lowering, statements: list[Statement]) -> TopLevel:
    """Sort statements into declarations and the rest. An input stays in place, as a definition."""
    top = TopLevel()
    for item in statements:
        word = _word(item)
        top.ends_in_declaration = word in ("import", "define-effect", "defatom")
        if not word:
            top.statements.append(item)
            continue
        assert isinstance(item, ListForm)
        if word == "import":
            if isinstance(item.span, Made):
                top_level_only(c, item, 0)
        elif not _fits(c, item):
            pass
        elif word in ("define-effect", "defatom"):
            top.declarations.append(item)
        else:
            declared = declare_input(c, item)
            if declared is not None:
                top.statements.append(Definition(item, declared.name, False, value=declared))
    return top


_WORDS = ("import", "define-input", "define-effect", "defatom")


def _word(item: Statement) -> str:
    word = "" if isinstance(item, (Definition, Syntax)) else word_of(item)
    return word if word in _WORDS else ""


def import_all(c: Lowering, forms: list[ListForm], load: Load) -> None:
    """Load the imports of the file and bind their names."""
    spans: dict[str, Span] = {}
    for form in forms:
        target = form.items[1]
        path = _path(c, form, target)
        alias = _alias(c, form)
        if path is None or alias is None:
            c.import_failed = True
            continue
        try:
            exports = load(path, target.span)
        except Diagnostics as failed:
            c.findings.extend(failed.diagnostics)
            c.import_failed = True
            continue
        if alias:
            if _is_first(c, alias, path, form.items[3].span, spans):
                c.names.bind(alias, Namespace(path, exports))
            continue
        for name, export in exports.items():
            if _is_first(c, name, path, target.span, spans):
                c.names.bind(name, export)
                c.origins[name] = path


def _path(c: Lowering, form: ListForm, target: Form) -> str | None:
    if type(target) is Literal and isinstance(target.value, str):
        return target.value
    if type(target) is Name and target.text.startswith("std/"):
        return target.text
    hint = f'write `(import "{target.text}")`' if type(target) is Name else None
    c.report_malformed(
        form, target, "I expected a path in quotes, or a name like `std/state`", hint=hint
    )
    return None


def _alias(c: Lowering, form: ListForm) -> str | None:
    """Return the name after `as:`, or None."""
    if len(form.items) == 2:
        return ""
    label = form.items[2]
    if type(label) is not LabelForm or label.text != "as" or len(form.items) != 4:
        c.report_malformed(form, label, "I expected `as: name` here")
        return None
    name = form.items[3]
    if not c.is_bindable(name):
        return None
    assert isinstance(name, Name)
    if "." in name.text:
        c.report_malformed(
            form, name, "I expected a name without a point here: `name.x` is its `x`"
        )
        return None
    return name.text


def _is_first(c: Lowering, name: str, path: str, span: Span, spans: dict[str, Span]) -> bool:
    if name not in spans:
        spans[name] = span
        return True
    c.report(
        "imported-twice",
        span,
        f"`{name}` comes from two imports",
        "imported again here",
        also=(Label(spans[name], "first imported here"),),
        hint=f"keep one apart: `(import {span.text} as: other)`, then `other.{name}`",
    )
    return False


def declare(c: Lowering, top: TopLevel, check: CheckTemplate, load: LoadSchema | None) -> None:
    """Bind declared operations and tasks in the whole module."""
    spans: dict[str, Span] = {}
    for form in top.declarations:
        is_task = word_of(form) == "defatom"
        declared = declare_task(c, form, check, load) if is_task else declare_effect(c, form)
        if declared is None:
            continue
        name, value = declared
        if name.text in spans:
            _report_duplicate(c, name, spans[name.text])
            continue
        spans[name.text] = name.span
        if isinstance(value, Operation):
            c.operations[name.text] = value
        elif value is not None:
            c.tasks[name.text] = value
        c.names.bind(name.text, Export(name.text, Const(value, span=form.span), value))
    for item in top.statements:
        if isinstance(item, Definition) and item.name.text in spans:
            _report_duplicate(c, item.name, spans[item.name.text])


def _report_duplicate(c: Lowering, name: Name, first: Span) -> None:
    c.report(
        "defined-twice",
        name.span,
        f"`{name.text}` is already defined here",
        "defined again here",
        also=(Label(first, "first defined here"),),
        hint="choose another name",
    )
