"""The statements of a body, with its macros expanded."""

from collections.abc import Iterable
from typing import Any

from sexplang.compiler.compilation import Lowering
from sexplang.compiler.forms.functions import is_lambda
from sexplang.compiler.forms.shapes import RESERVED, word_of
from sexplang.compiler.names.bindings import LaterDefinition
from sexplang.compiler.names.names import report_early_use
from sexplang.compiler.units.macros import (
    Syntax,
    define_syntax,
    expand,
    expand_head,
    macro_named,
    macro_of,
)
from sexplang.terms.classes.node import node
from sexplang.terms.form import Form, ListForm, Literal, Name, VectorForm


@node(eq=False)
class Definition:
    """`(define name e)`, `(define (name param…) body…)` or `(bind name e)`.

    A function has `params` and `body`; anything else has a `value`, a form or a generator of
    core (an input).
    """

    form: Form
    name: Name
    again: bool
    value: Any = None
    params: Form | tuple[Form, ...] | None = None
    body: tuple[Form, ...] = ()


Statement = Definition | Syntax | Form


def split(c: Lowering, forms: Iterable[Form]) -> list[Statement]:
    """Split a body into statements. A nested `begin` is a part of it, and so is the expansion of a
    macro."""
    out: list[Statement] = []
    used: dict[str, Name] = {}
    work = list(forms)[::-1]
    while work:
        form = work.pop()
        word = word_of(form)
        if word in ("begin", "progn") and len(form.items) > 1:  # type: ignore[union-attr]
            work.extend(form.items[:0:-1])  # type: ignore[union-attr]
        elif word in ("define", "bind"):
            for made in _definitions(c, form, word == "bind", used):  # type: ignore[arg-type]
                out.append(made)
                _hide(c, made, used)
        elif word == "define-syntax":
            syntax = define_syntax(c, form)  # type: ignore[arg-type]
            if syntax is not None:
                out.append(syntax)
                _hide(c, syntax, used)
        else:
            owner = macro_of(c, form)
            if owner is None:
                out.append(form)
            else:
                head = form.items[0]  # type: ignore[union-attr]
                used.setdefault(head.text, head)  # type: ignore[union-attr, arg-type]
                work.append(expand(c, form, owner))  # type: ignore[arg-type]
    c.opening.clear()
    return out


def _hide(c: Lowering, item: Definition | Syntax, used: dict[str, Name]) -> None:
    """Shadow a macro by a definition of its name. The macro must not have been used in this
    body."""
    name = item.name.text
    if name in used:
        report_early_use(c, used.pop(name), LaterDefinition(item.name.span, False))
    if isinstance(item, Definition) and macro_named(c, item.name, c.names.find(name)):
        c.names.bind(name, LaterDefinition(item.name.span, item.params is not None))


def _definitions(
    c: Lowering, form: ListForm, again: bool, used: dict[str, Name]
) -> list[Definition]:
    """Return the definition of a form. A malformed one with `[a b]` for a name binds these names
    too."""
    made = _definition(c, form, again, used)
    target = form.items[1] if len(form.items) > 2 else form
    if made is not None or type(target) is not VectorForm:
        return [made] if made is not None else []
    names = [one for one in target.items if type(one) is Name and one.text not in RESERVED]
    return [Definition(form, one, True, value=Literal(None, span=form.span)) for one in names]


def _definition(
    c: Lowering, form: ListForm, again: bool, used: dict[str, Name]
) -> Definition | None:
    items = form.items
    if len(items) < 3:
        c.report_malformed(form, form, "something is missing here")
        if len(items) < 2 or type(items[1]) is not Name or not c.is_bindable(items[1]):
            return None
        # Bound too, so that their uses are not reported.
        return Definition(form, items[1], again, value=Literal(None, span=form.span))
    target = items[1]
    if type(target) is ListForm and target.items and not again:
        if not c.is_bindable(target.items[0], "I expected the name of the function here"):
            return None
        name = target.items[0]
        assert isinstance(name, Name)
        return Definition(form, name, again, params=target.items[1:], body=items[2:])
    if type(target) is not Name:
        hint = "a function is defined with `define`" if type(target) is ListForm else None
        if type(target) is VectorForm:
            hint = "several names: `(match e ([a b] body…))`"
        c.report_malformed(form, target, "I expected a name here", hint=hint)
        return None
    if not c.is_bindable(target):
        return None
    if len(items) > 3:
        c.report_malformed(
            form, items[3], "nothing more fits here", hint="several forms: `(begin e…)`"
        )
    value = expand_head(c, items[2], used)
    if is_lambda(value):
        assert isinstance(value, ListForm)
        params = value.items[1]
        if type(params) in (ListForm, Name):
            return Definition(form, target, again, params=params, body=value.items[2:])
    return Definition(form, target, again, value=value)
