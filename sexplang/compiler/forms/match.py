"""`match` to core: clauses and guards."""

from collections.abc import Callable, Generator
from typing import Any

from sexplang.compiler.compilation import Lowering, Place, Steps
from sexplang.compiler.forms.patterns import Test, fit, is_name, misfit, read
from sexplang.compiler.functions import body
from sexplang.terms.core import Core, Let, Local
from sexplang.terms.form import Form, ListForm

Wrap = Callable[[Core], Core]
"""The core of a clause, as a function of the core of the clauses after it."""


_MESSAGE = "no clause of this `match` fits the value"
_HINT = "add a clause `(_ …)` for everything else"


def match(c: Lowering, form: ListForm, position: int) -> Steps:
    """`(match e (pattern body…) (pattern when guard body…) …)`"""
    place = c.save_scope()
    key: Core = yield c.lower(form.items[1])
    value = key
    if type(key) is not Local:
        value = Local(0, c.slot("_").index, "_", span=form.items[1].span)
    wraps: list[Wrap] = []
    for clause in form.items[2:]:
        if _is_clause(c, form, clause):
            wraps.append((yield _clause(c, form, clause, value, position)))  # type: ignore[arg-type]
    c.restore_scope(place)
    core = misfit(c, value, form.span, _MESSAGE, _HINT)
    for wrap in reversed(wraps):
        core = wrap(core)
    return core if key is value else Let((key,), core, span=form.span)


def _is_clause(c: Lowering, form: ListForm, clause: Form) -> bool:
    if type(clause) is not ListForm or not clause.items:
        c.report_malformed(form, clause, "I expected a clause `(pattern body…)` here")
        return False
    if len(clause.items) < (4 if _is_guarded(clause) else 2):
        after = "the guard" if _is_guarded(clause) else "the pattern"
        c.report_malformed(form, clause, f"I expected a body after {after}")
        return False
    return True


def _is_guarded(clause: ListForm) -> bool:
    return len(clause.items) > 1 and is_name(clause.items[1], "when")


def _clause(
    c: Lowering, form: ListForm, clause: ListForm, value: Core, position: int
) -> Generator[Any, Any, Wrap]:
    place = c.save_scope()
    test = Test()
    yield read(c, clause.items[0], value, test)
    forms, span = clause.items[1:], clause.span
    if _is_guarded(clause):
        _show_guard(c, test)
        test.check((yield c.lower(clause.items[2])))
        forms = clause.items[3:]
    c.restore_scope(place)
    made = fit(c, test, span)
    made.bind(c)
    then: Core = yield body(c, forms, position, span)
    c.restore_scope(place)
    if made.found is not None:
        # The slot stays for the clauses after this one, which are inside its `Let`.
        c.slot("_")
    if not test.steps:
        return lambda rest: then
    return lambda rest: made.choose(then, rest, span)


def _show_guard(c: Lowering, test: Test) -> None:
    """Make the names visible to a guard, in the slots of the test."""
    for name, part in list(test.names.items()):
        shown = test.slot(c, part, name)
        assert isinstance(shown.core, Local)
        c.names.bind(name, Place(c.level - shown.core.depth, shown.core.index, name))
        if part.inner:
            test.names[name] = shown
