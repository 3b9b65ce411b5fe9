"""`match` to core: clauses, patterns and tests."""

from collections.abc import Callable, Generator
from typing import Any, TypeGuard

from sexplang.compiler.calls import lower_call
from sexplang.compiler.compilation import Lowering, Place, Steps
from sexplang.compiler.forms.quotation import datum, entries
from sexplang.compiler.forms.shapes import word_of
from sexplang.compiler.functions import REST, body, duplicate
from sexplang.terms.classes.node import define, field, frozen
from sexplang.terms.core import And, Call, CallPrimitive, Const, Core, If, Let, Local, MakeTable
from sexplang.terms.form import Form, ListForm, Literal, Name, TableForm, VectorForm, source_name
from sexplang.terms.source import Span
from sexplang.terms.values.value import Value


@frozen
class Part:
    """A part of the matched value; `inner` says that its slot exists only in the test."""

    core: Core
    inner: bool


@define
class Test:
    """The checks of a clause in order, and the names that it binds.

    A step is a check, or the value of a new slot.
    """

    steps: list[tuple[bool, Core]] = field(factory=list)
    names: dict[str, Part] = field(factory=dict)
    spans: dict[str, Span] = field(factory=dict)

    def check(self, core: Core) -> None:
        self.steps.append((False, core))

    def slot(self, c: Lowering, part: Part, name: str = "_") -> Part:
        """Return the part in a slot of its own, unless it has one."""
        if type(part.core) is Local:
            return part
        self.steps.append((True, part.core))
        return Part(Local(0, c.place(name).index, name, span=part.core.span), True)


def is_name(form: Form, text: str) -> bool:
    """Return whether a form is this word, with or without macro marks."""
    return type(form) is Name and form.spelling == text


def read(
    c: Lowering, form: ListForm, pattern: Form, value: Core, test: Test
) -> Generator[Any, Any, None]:
    """Add the checks and names of a pattern, from the outside in and from left to right."""
    work: list[tuple[Form, Part]] = [(pattern, Part(value, False))]
    while work:
        pattern, part = work.pop()
        if type(pattern) is Name:
            _name(c, form, pattern, part, test)
        elif type(pattern) is Literal:
            _equal(c, part, pattern.value, pattern.span, test)
        elif type(pattern) is VectorForm:
            work += reversed(_vector(c, form, pattern, part, test))
        elif type(pattern) is TableForm:
            work += reversed(_table(c, pattern, part, test))
        elif type(pattern) is ListForm and not pattern.items:
            _equal(c, part, (), pattern.span, test)
        elif _is_list(pattern, "quote", 2):
            _equal(c, part, datum(c, pattern.items[1]), pattern.span, test)
        elif _is_list(pattern, "?", 3):
            part = test.slot(c, part)
            test.check((yield lower_call(c, pattern, pattern.items[1], (part.core,))))
            work.append((pattern.items[2], part))
        else:
            _no_pattern(c, form, pattern)


def _is_list(form: Form, head: str, count: int) -> TypeGuard[ListForm]:
    if type(form) is not ListForm or len(form.items) != count:
        return False
    return is_name(form.items[0], head)


_NO_NAMES = {
    ".": "a dot stands before the last pattern of a list: `[p . rest]`",
    "else": "write `_` for what fits anything",
}


def _name(c: Lowering, form: ListForm, name: Name, part: Part, test: Test) -> None:
    if name.spelling == "_":
        return
    if name.spelling in _NO_NAMES:
        hint = _NO_NAMES[name.spelling]
        c.report_malformed(form, name, "I expected a pattern here", hint=hint)
    elif name.text in test.names:
        duplicate(c, name, test.spans[name.text])
    elif c.is_bindable(name):
        test.names[name.text] = part
        test.spans[name.text] = name.span


def _equal(c: Lowering, part: Part, value: Value, span: Span, test: Test) -> None:
    test.check(primitive(c, "equal?", part.core, Const(value, span=span), span=span))


def _vector(
    c: Lowering, form: ListForm, pattern: VectorForm, part: Part, test: Test
) -> list[tuple[Form, Part]]:
    """`[p q]` or `[p . rest]`"""
    items, span = pattern.items, pattern.span
    if not items:
        _equal(c, part, (), span, test)
        return []
    part = test.slot(c, part)
    test.check(primitive(c, "list?", part.core, span=span))
    length = primitive(c, "length", part.core, span=span)
    rest: Form | None = None
    if len(items) > 1 and any(is_name(items[-2], word) for word in REST):
        written = " ".join([*[item.span.text for item in items[:-2]], ".", items[-1].span.text])
        hint = f"write `[{written}]`: what is left of the list stands behind a dot"
        words = f"`{items[-2].span.text}` is a name like any other"
        c.report_malformed(form, items[-2], words, hint=hint)
        items, rest = items[:-2], items[-1]
    elif len(items) > 1 and is_name(items[-2], "."):
        items, rest = items[:-2], items[-1]
    count = Const(len(items), span=span)
    test.check(primitive(c, "equal?" if rest is None else ">=", length, count, span=span))
    inside = [(item, Part(nth(c, part.core, at), part.inner)) for at, item in enumerate(items)]
    if rest is not None:
        left = primitive(c, "drop", part.core, count, span=rest.span)
        inside.append((rest, Part(left, part.inner)))
    return inside


def _table(c: Lowering, pattern: TableForm, part: Part, test: Test) -> list[tuple[Form, Part]]:
    """`{key: p}`"""
    part = test.slot(c, part)
    test.check(primitive(c, "table?", part.core, span=pattern.span))
    inside: list[tuple[Form, Part]] = []
    for text, item in dict(entries(c, pattern, splices=False)).items():
        key = Const(text, span=item.span)
        test.check(primitive(c, "has-key?", part.core, key, span=item.span))
        got = primitive(c, "get", part.core, key, span=item.span)
        inside.append((item, Part(got, part.inner)))
    return inside


_ADVICE = {
    "?": "a predicate is written `(? predicate pattern)`, with `_` for any pattern",
    "list": "a list is matched by `[p q]`, or `[p . rest]` where it may be longer",
    "cons": "a list is matched by `[p . rest]`",
    "quasiquote": "a list is matched by `['a p]`, a table by `{key: p}`",
}


def _no_pattern(c: Lowering, form: ListForm, pattern: Form) -> None:
    word = source_name(word_of(pattern))
    hint = _ADVICE.get(word) or (
        f"a list is matched by `[p q]`; a test is written `(? {word or 'predicate'} pattern)`"
    )
    c.report_malformed(form, pattern, "this is not a pattern", hint=hint)


def primitive(c: Lowering, name: str, *arguments: Core, span: Span) -> Core:
    return CallPrimitive(c.primitive(name), arguments, span=span)


def nth(c: Lowering, items: Core, at: int) -> Core:
    return primitive(c, "nth", items, Const(at, span=items.span), span=items.span)


Wrap = Callable[[Core], Core]
"""The core of a clause, as a function of the core of the clauses after it."""


def match(c: Lowering, form: ListForm, position: int) -> Steps:
    """`(match e (pattern body…) (pattern when guard body…) …)`"""
    place = c.save_scope()
    key: Core = yield c.lower(form.items[1])
    value = key
    if type(key) is not Local:
        value = Local(0, c.place("_").index, "_", span=form.items[1].span)
    wraps: list[Wrap] = []
    for clause in form.items[2:]:
        if _is_clause(c, form, clause):
            wraps.append((yield _clause(c, form, clause, value, position)))  # type: ignore[arg-type]
    c.restore_scope(place)
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
    place = c.save_scope()
    test = Test()
    yield read(c, form, clause.items[0], value, test)
    forms = clause.items[1:]
    if _is_guarded(clause):
        _show_guard(c, test)
        test.check((yield c.lower(clause.items[2])))
        forms = clause.items[3:]
    c.restore_scope(place)
    span = clause.span
    caught = [name for name, part in test.names.items() if part.inner]
    parts = [test.names[name].core for name in caught]
    tested = _test(test.steps, primitive(c, "list", *parts, span=span) if caught else None, span)
    # The slot stays for the clauses after this one, which are inside its `Let`.
    found = Local(0, c.place("_").index, "_", span=span) if caught else None
    after = c.save_scope()
    values = _bind(c, test, caught, found)
    then = yield body(c, forms, position, span)
    c.restore_scope(after)
    if values:
        then = Let(values, then, span=span)
    return _wrap(test, tested, found, then, span)


def _bind(c: Lowering, test: Test, caught: list[str], found: Local | None) -> tuple[Core, ...]:
    """Bind the names for the body. Return the values of those that need a slot."""
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
    """Make the names visible to a guard, in the slots of the test."""
    for name, part in list(test.names.items()):
        shown = test.slot(c, part, name)
        assert isinstance(shown.core, Local)
        c.names.bind(name, Place(c.level - shown.core.depth, shown.core.index, name))
        if part.inner:
            test.names[name] = shown


def _test(steps: list[tuple[bool, Core]], end: Core | None, span: Span) -> Core:
    """Return the steps as one expression, which gives `end` if all checks hold."""
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
    """Return the error of a `match` without a fitting clause. A handler of `error` may resume
    it."""
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
