"""`match` to core: of each clause a test, which gives what the names stand for, then the body.

A test is a chain of checks and of slots that only it has: `(and (list? v) (let ((nth v 0)) …))`.
Names that are read from such a slot come out of it as a list. So no clause stands twice in the
core, and a body keeps its tail position.
"""

from collections.abc import Callable, Generator
from typing import Any

from sexplang.compiler.compilation import Lowering, Steps
from sexplang.compiler.forms.patterns import Test, is_name, nth, primitive, read
from sexplang.compiler.names.bindings import Place
from sexplang.compiler.units.bodies import body
from sexplang.terms.core import And, Call, Const, Core, If, Let, Local, MakeTable
from sexplang.terms.form import Form, ListForm
from sexplang.terms.source import Span

Wrap = Callable[[Core], Core]
"""What a clause does with the core of the clauses after it."""


def match(c: Lowering, form: ListForm, position: int) -> Steps:
    """`(match e (pattern body…) (pattern when guard body…) …)`"""
    place = c.here()
    key: Core = yield c.lower(form.items[1])
    value = key
    if type(key) is not Local:
        value = Local(0, c.place("_").index, "_", span=form.items[1].span)
    wraps: list[Wrap] = []
    for clause in form.items[2:]:
        if _is_clause(c, form, clause):
            wraps.append((yield _clause(c, form, clause, value, position)))  # type: ignore[arg-type]
    c.back(place)
    core = _no_match(c, form, value)
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
    place = c.here()
    test = Test()
    yield read(c, form, clause.items[0], value, test)
    forms = clause.items[1:]
    if _is_guarded(clause):
        _show_guard(c, test)
        test.check((yield c.lower(clause.items[2])))
        forms = clause.items[3:]
    c.back(place)
    span = clause.span
    caught = [name for name, part in test.names.items() if part.inner]
    parts = [test.names[name].core for name in caught]
    tested = _test(test.steps, primitive(c, "list", *parts, span=span) if caught else None, span)
    # The slot stays for the clauses after this one, which stand inside of its `Let`.
    found = Local(0, c.place("_").index, "_", span=span) if caught else None
    after = c.here()
    values = _bind(c, test, caught, found)
    then = yield body(c, forms, position, span)
    c.back(after)
    if values:
        then = Let(values, then, span=span)
    return _wrap(test, tested, found, then, span)


def _bind(c: Lowering, test: Test, caught: list[str], found: Local | None) -> tuple[Core, ...]:
    """Binds the names for the body; gives the values of those that need a slot."""
    values: list[Core] = []
    if found is not None:
        for at, name in enumerate(caught):
            values.append(nth(c, found, at))
            c.place(name)
    for name, part in test.names.items():
        if part.inner:
            continue
        if type(part.core) is Local:
            c.names.bind(name, Place(c.level - part.core.depth, part.core.index, name))
        else:
            values.append(part.core)
            c.place(name)
    return tuple(values)


def _wrap(test: Test, tested: Core, found: Core | None, then: Core, span: Span) -> Wrap:
    if not test.steps:
        return lambda rest: then
    if found is None:
        return lambda rest: If(tested, then, rest, span=span)
    return lambda rest: Let((tested,), If(found, then, rest, span=span), span=span)


def _show_guard(c: Lowering, test: Test) -> None:
    """Lets a guard see the names, in the slots of the test."""
    for name, part in list(test.names.items()):
        shown = test.slot(c, part, name)
        assert isinstance(shown.core, Local)
        c.names.bind(name, Place(c.level - shown.core.depth, shown.core.index, name))
        if part.inner:
            test.names[name] = shown


def _test(steps: list[tuple[bool, Core]], end: Core | None, span: Span) -> Core:
    """The steps as one expression, which gives `end` where all checks hold."""
    last_first: list[Core] = [] if end is None else [end]
    for is_slot, core in reversed(steps):
        if is_slot:
            last_first = [Let((core,), _all(last_first, span), span=core.span)]
        else:
            last_first.append(core)
    return _all(last_first, span)


def _all(last_first: list[Core], span: Span) -> Core:
    if not last_first:
        return Const(True, span=span)
    return last_first[0] if len(last_first) == 1 else And(tuple(last_first[::-1]), span=span)


def _no_match(c: Lowering, form: ListForm, value: Core) -> Core:
    """Raises what a handler of `error` may answer with a substitute."""
    fields: dict[str, Core] = {
        name: Const(text, span=form.span)
        for name, text in {
            "type": "PROGRAM_ERROR",
            "reason": "no-match",
            "message": "no clause of this `match` fits the value",
            "hint": "add a clause `(_ …)` for everything else",
        }.items()
    }
    fields["details"] = MakeTable(("value",), (value,), span=form.span)
    error = MakeTable(tuple(fields), tuple(fields.values()), span=form.span)
    export = c.names.scope["raise"]
    assert isinstance(export.core, Const)
    return Call(Const(export.core.value, span=form.span), (error,), span=form.span)
