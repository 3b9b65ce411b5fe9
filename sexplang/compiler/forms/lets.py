"""Lowering of forms that bind names in an expression: `lambda`, `let` and its variants, loops."""

from typing import Any

from sexplang.compiler.bindings import NamedFunction
from sexplang.compiler.compilation import IN_CLAUSE, IN_LOOP, Lowered, Lowering, Steps
from sexplang.compiler.forms.shapes import RESERVED
from sexplang.compiler.functions import (
    Definition,
    Draft,
    bindings_of,
    body,
    draft,
    finish,
    is_lambda,
    nest,
    shape_of,
    statements,
)
from sexplang.compiler.macros import expand_head
from sexplang.terms.core import CallKnown, Const, Core, Lambda, Let, Loop, Recur, Repeat
from sexplang.terms.form import Form, ListForm, Name, VectorForm


def lambda_(c: Lowering, form: ListForm, position: int, name: str = "lambda") -> Steps:
    """`(lambda (a (b default) . rest) body…)`"""
    made = draft(c, name, form.items[1], form.items[2:], form.span)
    yield finish(c, made, body)
    return Lambda(made.index, span=form.span)


def begin(c: Lowering, form: ListForm, position: int) -> Any:
    """`(begin e…)` outside a body: a body of its own."""
    return body(c, form.items[1:], position, form.span)


def outside_body(c: Lowering, form: ListForm, position: int) -> Core:
    """Report `(define …)` or `(bind …)` that is not directly in a body."""
    word = form.items[0].text  # type: ignore[union-attr]
    return c.report(
        "bind-outside-body",
        form.span,
        f"`{word}` stands only directly in a body",
        "nothing follows here that could see the name",
        hint="write `(let ((name e)) …)` around what uses it, or `(begin …)` for a body",
    )


def _name_lambda(c: Lowering, name: Name, value: Form) -> Lowered:
    """Lower a value that is bound to a name. A lambda gets that name."""
    if is_lambda(value):
        return lambda_(c, value, 0, name.text)  # type: ignore[arg-type]
    return c.lower(value)


def let(c: Lowering, form: ListForm, position: int) -> Steps:
    """`(let ((name e) …) body…)`: each value is in the outer scope."""
    if type(form.items[1]) is Name:
        named: Core = yield _lower_named_let(c, form, form.items[1])
        return named
    pairs = bindings_of(c, form, form.items[1], unique=True)
    values: list[Core] = []
    for name, value in pairs:
        values.append((yield _name_lambda(c, name, value)))
    place = c.save_scope()
    for (name, _), core in zip(pairs, values, strict=True):
        c.place(name.text, shape_of(c, core))
    inner = yield body(c, form.items[2:], position, form.span)
    c.restore_scope(place)
    names = tuple([name.text for name, _ in pairs])
    return Let(tuple(values), inner, names, span=form.span) if values else inner


def let_star(c: Lowering, form: ListForm, position: int) -> Steps:
    """`(let* ((name e) …) body…)`: each value sees the names before it."""
    place = c.save_scope()
    values: list[Core] = []
    pairs = bindings_of(c, form, form.items[1], unique=False)
    for name, value in pairs:
        core = yield _name_lambda(c, name, value)
        values.append(core)
        c.place(name.text, shape_of(c, core))
    inner: Core = yield body(c, form.items[2:], position, form.span)
    c.restore_scope(place)
    for (name, _), core in zip(reversed(pairs), reversed(values), strict=True):
        inner = Let((core,), inner, (name.text,), span=form.span)
    return inner


def letrec(c: Lowering, form: ListForm, position: int) -> Steps:
    """`(letrec ((name e) …) body…)`: a body that begins with these definitions."""
    definitions: list[Any] = []
    for name, written in bindings_of(c, form, form.items[1], unique=True):
        value = expand_head(c, written)
        if is_lambda(value):
            params, inside = value.items[1], value.items[2:]  # type: ignore[union-attr]
            made = Definition(form, name, False, params=params, body=inside)
        else:
            made = Definition(form, name, False, value=value)
        definitions.append(made)
    place = c.save_scope()
    items = yield statements(c, definitions, 0, form.span)
    # The nil that ends a list of definitions is not the value here.
    items = items[:-1] if definitions else []
    items.append((yield body(c, form.items[2:], position, form.span)))
    c.restore_scope(place)
    return nest(items, form.span)


def _lower_named_let(c: Lowering, form: ListForm, name: Name) -> Steps:
    """`(let name ((x e) …) body…)`: a function of that name, called at once."""
    if len(form.items) < 4:
        return c.report_malformed(form, form, "I expected `(let name ((x e) …) body…)`")
    pairs = bindings_of(c, form, form.items[2], unique=True)
    inits = yield c.each(value for _, value in pairs)
    if not c.is_bindable(name):
        return Const(None, span=form.span)
    made: Draft = draft(c, name.text, (), form.items[3:], form.span)
    made.params = [(param.text, None) for param, _ in pairs]
    place = c.save_scope()
    c.names.bind(name.text, NamedFunction(c.level, made.index, made.signature))
    yield finish(c, made, body)
    c.restore_scope(place)
    return CallKnown(0, made.index, inits, span=form.span)


def loop(c: Lowering, form: ListForm, position: int) -> Steps:
    """`(loop count body…)` or `(loop ((name e) …) body…)`"""
    first = form.items[1]
    if not _is_bindings(c, first):
        count = yield c.lower(first)
        inner = yield body(c, form.items[2:], 0, form.span)
        return Repeat(count, inner, span=form.span)
    pairs = bindings_of(c, form, first, unique=True)
    inits = yield c.each(value for _, value in pairs)
    place = c.save_scope()
    c.activate()
    for name, _ in pairs:
        c.place(name.text)
    c.loops.append(len(pairs))
    # A tail call of a clause's continuation may leave the loop; the clause's tail continues.
    inner = yield body(c, form.items[2:], IN_LOOP | (position & IN_CLAUSE), form.span)
    c.loops.pop()
    c.restore_scope(place)
    return Loop(inits, inner, span=form.span)


def _is_bindings(c: Lowering, form: Form) -> bool:
    """Return whether a form is `((i 0) …)` and not a count. The head of a call is hardly ever a
    list of two. One pair with an unbound name is `(i 0)` or `[i 0]`, and is refused as a binding.
    """
    if type(form) not in (ListForm, VectorForm) or not form.items:  # type: ignore[union-attr]
        return type(form) is ListForm
    head, *rest = form.items  # type: ignore[union-attr]
    if type(head) is Name:
        is_new = c.names.find(head.text) is None and c.names.find_in_module(head.text) is None
        return len(rest) == 1 and is_new and head.text not in RESERVED
    return type(head) is ListForm and type(form) is ListForm


def recur(c: Lowering, form: ListForm, position: int) -> Steps:
    """`(recur e…)`"""
    arguments = yield c.each(form.items[1:])
    if not c.loops or not position & IN_LOOP:
        return _report_misplaced(c, form)
    if len(arguments) != c.loops[-1]:
        wanted = c.loops[-1]
        return c.report(
            "recur-arity",
            form.span,
            f"this loop has {wanted} variable{'s' * (wanted != 1)}, `recur` gives {len(arguments)}",
            hint="give one value for each variable of the loop, in their order",
        )
    return Recur(arguments, span=form.span)


def _report_misplaced(c: Lowering, form: ListForm) -> Core:
    if c.loops:
        return c.report(
            "recur-outside-loop",
            form.span,
            "`recur` is not the last thing that its loop does",
            "not in tail position of the loop",
            hint="compute first and recur with the results; inside lambda, try, handle and par "
            "there is no `recur`: write a named let, `(let next ((x e)) … (next …))`",
        )
    return c.report(
        "recur-outside-loop",
        form.span,
        "`recur` stands in no loop",
        hint="write `(loop ((x e) …) … (recur …))`; `(loop count …)` goes on by itself",
    )
