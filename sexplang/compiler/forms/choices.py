"""Conditional and threading forms to core: `if`, `when`, `cond`, `case`, `and`, `or`, `->`."""

from collections.abc import Callable
from typing import Any

from sexplang.compiler.bindings import Place
from sexplang.compiler.compilation import Lowered, Lowering, Steps
from sexplang.compiler.forms.quotation import datum
from sexplang.compiler.forms.shapes import word_of
from sexplang.compiler.functions import body
from sexplang.terms.core import And, Call, CallPrimitive, Const, Core, If, Let, Local, Or
from sexplang.terms.form import Form, ListForm, Literal, Name, source_name
from sexplang.terms.source import Span

Wrap = Callable[[Core], Core]
"""The core of a clause, as a function of the core of the clauses after it."""


def if_(c: Lowering, form: ListForm, position: int) -> Steps:
    """`(if test then else)`"""
    _, test, then, otherwise = form.items
    return If(
        (yield c.lower(test)),
        (yield c.lower(then, position)),
        (yield c.lower(otherwise, position)),
        span=form.span,
    )


def when(c: Lowering, form: ListForm, position: int) -> Steps:
    """`(when test body…)`"""
    test = yield c.lower(form.items[1])
    then = yield body(c, form.items[2:], position, form.span)
    return If(test, then, Const(None, span=form.span), span=form.span)


def unless(c: Lowering, form: ListForm, position: int) -> Steps:
    """`(unless test body…)`"""
    test = yield c.lower(form.items[1])
    otherwise = yield body(c, form.items[2:], position, form.span)
    return If(test, Const(None, span=form.span), otherwise, span=form.span)


def and_(c: Lowering, form: ListForm, position: int) -> Lowered:
    """`(and e…)`"""
    return _chain(c, form, position, True, And)


def or_(c: Lowering, form: ListForm, position: int) -> Lowered:
    """`(or e…)`"""
    return _chain(c, form, position, False, Or)


def _chain(c: Lowering, form: ListForm, position: int, empty: bool, node: Any) -> Lowered:
    if len(form.items) == 1:
        return Const(empty, span=form.span)
    if len(form.items) == 2:
        return c.lower_later(form.items[1], position)
    return _items(c, form, position, node)


def _items(c: Lowering, form: ListForm, position: int, node: Any) -> Steps:
    before = yield c.each(form.items[1:-1])
    last = yield c.lower(form.items[-1], position)
    return node((*before, last), span=form.span)  # type: ignore[no-any-return]


def _is_word(form: Form, word: str) -> bool:
    return type(form) is Name and form.text == word


def cond(c: Lowering, form: ListForm, position: int) -> Steps:
    """`(cond (test body…) (test => function) (test) (else body…))`"""
    place = c.save_scope()
    wraps: list[Wrap] = []
    end: Core = Const(None, span=form.span)
    for clause in form.items[1:]:
        if type(clause) is not ListForm or not clause.items:
            c.report_malformed(form, clause, "I expected a clause `(test body…)` here")
            continue
        first, *rest = clause.items
        if _is_word(first, "else"):
            end = yield _else(c, form, clause, position)
            break
        if _is_true(first) and rest and clause is form.items[-1]:
            end = yield body(c, tuple(rest), position, clause.span)
            break
        test = yield c.lower(first)
        if not rest:
            wraps.append(_or(test, clause.span))
        elif _is_word(rest[0], "=>"):
            wraps.append((yield _arrow(c, form, clause, test)))
        else:
            then = yield body(c, tuple(rest), position, clause.span)
            wraps.append(_choose(test, then, clause.span))
    c.restore_scope(place)
    for wrap in reversed(wraps):
        end = wrap(end)
    return end


def _is_true(form: Form) -> bool:
    """Return whether a form is another Lisp's word for `else`."""
    return type(form) is Literal and form.value is True


def _else(c: Lowering, form: ListForm, clause: ListForm, position: int) -> Any:
    if clause is not form.items[-1]:
        c.report_malformed(form, clause, "`else` must be the last clause")
    if len(clause.items) == 1:
        return c.report_malformed(form, clause, "I expected a body after `else`")
    return body(c, clause.items[1:], position, clause.span)


def _or(test: Core, span: Span) -> Wrap:
    return lambda rest: Or((test, rest), span=span)


def _choose(test: Core, then: Core, span: Span) -> Wrap:
    return lambda rest: If(test, then, rest, span=span)


def _arrow(c: Lowering, form: ListForm, clause: ListForm, test: Core) -> Any:
    """Lower a clause with `=>`. The slot of the test's value stays for the clauses after it."""
    if len(clause.items) != 3:
        c.report_malformed(form, clause, "I expected `(test => function)` here")
        return _choose(test, Const(None, span=clause.span), clause.span)
    return _arrow_to(c, clause, test)


def _arrow_to(c: Lowering, clause: ListForm, test: Core) -> Any:
    span = clause.span
    value = Local(0, c.place("_").index, "_", span=span)
    function = yield c.lower(clause.items[2])
    call = Call(function, (value,), span=span)
    return lambda rest: Let((test,), If(value, call, rest, span=span), span=span)


def case(c: Lowering, form: ListForm, position: int) -> Steps:
    """`(case key ((datum …) body…) (literal body…) (else body…))`"""
    place = c.save_scope()
    key: Core = yield c.lower(form.items[1])
    slot: Place | None = None
    value = key
    if not isinstance(key, (Const, Local)):
        slot = c.place("_")
        value = Local(0, slot.index, "_", span=form.items[1].span)
    wraps: list[Wrap] = []
    end: Core = Const(None, span=form.span)
    for clause in form.items[2:]:
        if type(clause) is not ListForm or not clause.items:
            c.report_malformed(form, clause, "I expected a clause `((datum …) body…)` here")
        elif _is_word(clause.items[0], "else"):
            end = yield _else(c, form, clause, position)
            break
        elif len(clause.items) == 1:
            c.report_malformed(form, clause, "I expected a body after the data")
        elif clause is form.items[-1] and source_name(_word(clause.items[0])) in _ELSEWHERE:
            word = source_name(_word(clause.items[0]))
            hint = f"write `else` for all others; `(({word}) …)` is the symbol `{word}`"
            c.report_malformed(form, clause.items[0], "this is one symbol", hint=hint)
        else:
            then = yield body(c, clause.items[1:], position, clause.span)
            wraps.append(_choose(_fits(c, value, clause.items[0]), then, clause.span))
    c.restore_scope(place)
    for wrap in reversed(wraps):
        end = wrap(end)
    return end if slot is None else Let((key,), end, span=form.span)


_ELSEWHERE = frozenset(["_", "default", "otherwise"])
"""Words of other languages for `else` in a `case`."""


def _word(form: Form) -> str:
    return form.text if type(form) is Name else ""


def _fits(c: Lowering, value: Core, data: Form) -> Core:
    """Return the test that a key equals one of the data. `'a` counts as the symbol a."""
    items: tuple[Form, ...] = (data,)
    if type(data) is ListForm:
        quoted = len(data.items) == 2 and _is_word(data.items[0], "quote")
        items = data.items[1:] if quoted else data.items
    equal = c.primitive("equal?")
    tests: list[Core] = [
        CallPrimitive(equal, (value, Const(datum(c, item), span=item.span)), span=item.span)
        for item in items
    ]
    if not tests:
        return Const(False, span=data.span)
    return tests[0] if len(tests) == 1 else Or(tuple(tests), span=data.span)


def thread(c: Lowering, form: ListForm, position: int) -> Lowered:
    """`(-> e (function e…) name …)`: each step has the steps before it as its first operand.

    The rewriting works on forms, so a step may be a special form.
    """
    whole = form.items[1]
    for step in form.items[2:]:
        if type(step) is Name:
            whole = ListForm((step, whole), span=step.span)
        elif type(step) is ListForm and step.items and word_of(step) not in _NO_STEP:
            whole = ListForm((step.items[0], whole, *step.items[1:]), span=step.span)
        else:
            return _no_step(c, form, step)
    return c.lower_later(whole, position)


_NO_STEP = ("lambda", "fn")


def _no_step(c: Lowering, form: ListForm, step: Form) -> Lowered:
    hint = None
    if word_of(step) in _NO_STEP:
        hint = f"a function that is called needs parentheses: `(({word_of(step)} (x) …))`"
    return c.report_malformed(
        form, step, "I expected a call or the name of a function here", hint=hint
    )
