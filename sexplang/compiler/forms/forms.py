"""The table of special forms, with the function that lowers each."""

from sexplang.compiler.calls import call
from sexplang.compiler.compilation import Continuation, Keyword, Lower, Lowered, Lowering, Steps
from sexplang.compiler.forms.control import (
    and_,
    begin,
    case,
    cond,
    if_,
    lambda_,
    let,
    let_star,
    letrec,
    loop,
    or_,
    outside_body,
    recur,
    thread,
    unless,
    when,
)
from sexplang.compiler.forms.effects import (
    abandon,
    attempt,
    forward,
    handle,
    par,
    perform,
    race,
    resume,
    try_,
    with_budget,
    with_timeout,
)
from sexplang.compiler.forms.match import match
from sexplang.compiler.forms.quotation import (
    constant,
    quasiquote,
    quote,
    report_label,
    table,
    vector,
)
from sexplang.compiler.forms.shapes import PARTS, RESERVED, SHAPES
from sexplang.compiler.macros import report_misplaced, use
from sexplang.compiler.names import mention, reference
from sexplang.compiler.unit_interface import top_level_only
from sexplang.terms.core import CallPrimitive, Const, Core
from sexplang.terms.diagnostic import Edit
from sexplang.terms.form import Label, ListForm, Literal, Name, TableForm, VectorForm
from sexplang.terms.macro import Macro
from sexplang.terms.program import Export
from sexplang.terms.values.value import Higher, Primitive

FORMS: dict[str, Lower] = {
    "quote": quote,
    "quasiquote": quasiquote,
    "if": if_,
    "when": when,
    "unless": unless,
    "cond": cond,
    "case": case,
    "match": match,
    "->": thread,
    "and": and_,
    "or": or_,
    "define": outside_body,
    "bind": outside_body,
    "lambda": lambda_,
    "fn": lambda_,
    "let": let,
    "let*": let_star,
    "letrec": letrec,
    "begin": begin,
    "progn": begin,
    "loop": loop,
    "recur": recur,
    "import": top_level_only,
    "define-input": top_level_only,
    "define-effect": top_level_only,
    "define-type": top_level_only,
    "define-tool": top_level_only,
    "defatom": top_level_only,
    "define-syntax": report_misplaced,
    "attempt": attempt,
    "perform": perform,
    "handle": handle,
    "forward": forward,
    "try": try_,
    "par": par,
    "race": race,
    "with-timeout": with_timeout,
    "with-budget": with_budget,
}


def list_form(c: Lowering, form: ListForm, position: int) -> Lowered:
    """Lower `(head operand…)`: a special form or a call."""
    if not form.items:
        return Const((), span=form.span)
    head = form.items[0]
    if type(head) is not Name:
        return call(c, form, head, None)
    word = head.text
    if word in RESERVED:
        return _special(c, form, word, position)
    binding = c.names.find(word) or c.names.find_in_module(word)
    if type(binding) is Export:
        if word == "as" and type(binding.shape) is Primitive and len(form.items) == 3:
            return hold_to_type(c, form, binding.shape)
        if type(binding.shape) is Macro:
            return use(c, form, binding.shape, position)
        if type(binding.shape) is Higher and _is_abandon(c, form, binding.shape):
            return abandon(c, form, reference(c, binding, head))
    elif type(binding) is Continuation:
        return resume(c, form, binding, position)
    elif type(binding) is Keyword:
        return use(c, form, binding, position)
    return call(c, form, head, binding)


def hold_to_type(c: Lowering, form: ListForm, function: Primitive) -> Steps:
    """Lower `(as T value)`: the function of the prelude is given the schema of the type."""
    from sexplang.compiler.types.definitions import type_value

    type_ = Const(type_value(c, form.items[1]), span=form.items[1].span)
    value = yield c.lower(form.items[2])
    return CallPrimitive(function, (type_, value), form.span)


def _is_abandon(c: Lowering, form: ListForm, function: Higher) -> bool:
    """Return whether a call is `(abandon k)` with the k of a clause."""
    if function.name != "abandon" or len(form.items) != 2:
        return False
    target = form.items[1]
    return type(target) is Name and type(c.names.find(target.text)) is Continuation


def _special(c: Lowering, form: ListForm, word: str, position: int) -> Lowered:
    shape = SHAPES.get(word)
    if shape is None:
        return _report_no_form(c, form, word)
    count = len(form.items) - 1
    if count < shape.least:
        hint = _ADVICE.get(word)
        if word == "loop" and c.loops:
            hint = f"the next turn is `(recur{form.span.text.removeprefix('(loop')}`"
        return c.report_malformed(form, form, "something is missing here", hint=hint)
    if shape.most is not None and count > shape.most:
        hint, edits = _advice_for_if(form) if word == "if" else (None, ())
        at = form.items[shape.most + 1]
        return c.report_malformed(form, at, "nothing more fits here", hint=hint, edits=edits)
    return FORMS[word](c, form, position)


def _advice_for_if(form: ListForm) -> tuple[str | None, tuple[Edit, ...]]:
    from sexplang.compiler.forms.foreign_shapes import chain_tests

    if any(type(each) is Name and each.text == "else" for each in form.items):
        return "leave `else` out: the third operand is what is done otherwise", ()
    return chain_tests(form) or (None, ())


_ADVICE: dict[str, str] = {
    "if": "for a single branch write `(when test body…)`",
}


_DIRECTIVES = {
    "a": "`(str x …)`",
    "s": '`(format "~s" x)`',
    "v": '`(format "~s" x)`',
    "r": '`(format "~,2f" x)`',
}
"""Functions of Racket whose names begin with `~`, and what to write for them."""


def _advise_tilde(form: ListForm) -> str:
    name = form.items[1].span.text
    return f"write {_DIRECTIVES.get(name, f'`{name}`: nothing is quoted here')}"


def _report_no_form(c: Lowering, form: ListForm, word: str) -> Core:
    if word in PARTS:
        return c.report(
            "malformed-form",
            form.span,
            PARTS[word],
            "here it stands outside of that form",
            hint=_advise_tilde(form) if word == "unquote" and len(form.items) == 2 else None,
        )
    return c.report(
        "no-assignment",
        form.span,
        "there is no assignment: a name keeps its value",
        "`set!` would change it",
        hint="count in a loop, `(loop ((i 0)) … (recur (+ i 1)))`; bind again in a body, "
        "`(bind x e)`; or keep state in a handler, `(import std/state)`",
    )


BY_TYPE: dict[type, Lower] = {
    Name: mention,
    Literal: constant,
    Label: report_label,
    ListForm: list_form,
    VectorForm: vector,
    TableForm: table,
}
