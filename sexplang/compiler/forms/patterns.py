"""Patterns to core: the tests of a value, the names for its parts, and the error of a misfit."""

from collections.abc import Generator, Iterator, Sequence
from typing import Any, TypeGuard

from sexplang.compiler.calls import lower_call
from sexplang.compiler.compilation import Lowering, Place
from sexplang.compiler.forms.quotation import datum, entries
from sexplang.compiler.forms.shapes import RESERVED, word_of
from sexplang.terms.classes.node import define, field, frozen
from sexplang.terms.core import And, Call, CallPrimitive, Const, Core, If, Let, Local, MakeTable, Or
from sexplang.terms.diagnostic import Label
from sexplang.terms.form import Form, ListForm, Literal, Name, TableForm, VectorForm, source_name
from sexplang.terms.program import Bind
from sexplang.terms.source import Span
from sexplang.terms.values.abbreviation import excerpt
from sexplang.terms.values.value import Value

REST = frozenset(("&", "&rest", "&body", "&args"))
"""Words of other Lisps before the rest of a list."""


def _refuse(c: Lowering, at: Form, words: str, hint: str) -> None:
    """Report a part of a pattern that does not follow the syntax."""
    title = "a pattern is `name`, `[p . rest]`, `{key: p}`, `(? predicate p)`, `'symbol` or data"
    c.report("malformed-form", at.span, title, words, hint=hint)


def is_pattern(form: Form) -> bool:
    """Return whether a form is a pattern where a name could stand: `[p]`, `{key: p}` or
    `(? predicate p)`. The other patterns would bind no name there."""
    return type(form) in (VectorForm, TableForm) or word_of(form) == "?"


def names_in(pattern: Form) -> Iterator[Name]:
    """Yield the names that a pattern binds, each once, in the order of the text. Those in a
    malformed part are among them, so that their uses are not reported too."""
    seen: set[str] = set()
    work = [pattern]
    while work:
        form = work.pop()
        if type(form) is Name:
            if form.text not in seen and form.spelling not in _NEVER_BOUND:
                seen.add(form.text)
                yield form
        elif type(form) is ListForm and word_of(form) != "quote":
            # The head of a malformed part may be meant as a name, if it is no known function.
            first = 2 if word_of(form) == "?" else word_of(form) in _ADVICE
            work += form.items[first:][::-1]
        elif type(form) in (VectorForm, TableForm):
            work += form.items[::-1]  # type: ignore[union-attr]


def report_duplicate(c: Lowering, name: Name, first: Span) -> None:
    """Report a name that is bound twice at once."""
    c.report(
        "duplicate-name",
        name.span,
        f"`{name.text}` occurs twice here",
        "again here",
        also=(Label(first, "first here"),),
        hint="give one of them another name, or `_` if it is not used",
    )


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
        return Part(Local(0, c.slot(name).index, name, span=part.core.span), True)


def is_name(form: Form, text: str) -> bool:
    """Return whether a form is this word, with or without macro marks."""
    return type(form) is Name and form.spelling == text


def read(c: Lowering, pattern: Form, value: Core, test: Test) -> Generator[Any, Any, None]:
    """Add the checks and names of a pattern, from the outside in and from left to right."""
    whole, before = pattern, len(c.findings)
    work: list[tuple[Form, Part]] = [(pattern, Part(value, False))]
    while work:
        pattern, part = work.pop()
        if type(pattern) is Name:
            _name(c, pattern, part, test)
        elif type(pattern) is Literal:
            _equal(c, part, pattern.value, pattern.span, test)
        elif type(pattern) is VectorForm:
            work += reversed(_vector(c, pattern, part, test))
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
            _report_no_pattern(c, pattern)
    if len(c.findings) > before:
        for name in names_in(whole):
            test.names.setdefault(name.text, Part(Const(None, span=name.span), False))


def _is_list(form: Form, head: str, count: int) -> TypeGuard[ListForm]:
    if type(form) is not ListForm or len(form.items) != count:
        return False
    return is_name(form.items[0], head)


_NO_NAMES = {
    ".": "a dot stands before the last pattern of a list: `[p . rest]`",
    "else": "write `_` for what fits anything",
}
_NEVER_BOUND = frozenset(("_", *_NO_NAMES, *RESERVED))


def _name(c: Lowering, name: Name, part: Part, test: Test) -> None:
    if name.spelling == "_":
        return
    if name.spelling in _NO_NAMES:
        hint = _NO_NAMES[name.spelling]
        _refuse(c, name, "I expected a pattern here", hint)
    elif name.text in test.names:
        report_duplicate(c, name, test.spans[name.text])
    elif c.is_bindable(name):
        test.names[name.text] = part
        test.spans[name.text] = name.span


def _equal(c: Lowering, part: Part, value: Value, span: Span, test: Test) -> None:
    test.check(primitive(c, "equal?", part.core, Const(value, span=span), span=span))


def _vector(c: Lowering, pattern: VectorForm, part: Part, test: Test) -> list[tuple[Form, Part]]:
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
        _refuse(c, items[-2], words, hint=hint)
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


def _report_no_pattern(c: Lowering, pattern: Form) -> None:
    word = source_name(word_of(pattern))
    hint = _ADVICE.get(word) or (
        f"a list is matched by `[p q]`; a test is written `(? {word or 'predicate'} pattern)`"
    )
    _refuse(c, pattern, "this is not a pattern", hint=hint)


def primitive(c: Lowering, name: str, *arguments: Core, span: Span) -> Core:
    return CallPrimitive(c.primitive(name), arguments, span=span)


def nth(c: Lowering, items: Core, at: int) -> Core:
    return primitive(c, "nth", items, Const(at, span=items.span), span=items.span)


@frozen(eq=False)
class Fit:
    """The test of a value by a pattern, and the names of the pattern.

    `found` is the slot of the test's value, if it has one; `values` follow it, for the names that
    need a slot. The names are not bound yet.
    """

    tested: Core
    found: Local | None
    values: tuple[Core, ...]
    names: tuple[tuple[str, Place], ...]

    def bind(self, c: Lowering) -> None:
        """Bind the names of the pattern."""
        for name, place in self.names:
            c.names.bind(name, place)

    def choose(self, then: Core, otherwise: Core, span: Span) -> Core:
        """Return the core that evaluates `then` with the names if the value fits."""
        if self.values:
            then = Let(self.values, then, span=span)
        if self.found is None:
            return If(self.tested, then, otherwise, span=span)
        return Let((self.tested,), If(self.found, then, otherwise, span=span), span=span)


@frozen(eq=False)
class PatternBinding:
    """A pattern in place of a name, and its value: if that does not fit, `misfit` is evaluated."""

    value: Core
    fit: Fit
    misfit: Core
    span: Span

    def around(self, body: Core) -> Core:
        """Return a body that sees the names."""
        return self.fit.choose(body, self.misfit, self.span)

    def items(self) -> Iterator[Bind]:
        """Yield the items of a unit that bind the same slots for the items after them."""
        fit = self.fit
        assert fit.found is not None
        yield Bind("_", Or((fit.tested, self.misfit), span=self.span), span=self.span)
        shown = {place.index: place.name for _, place in fit.names}
        for index, value in enumerate(fit.values, fit.found.index + 1):
            yield Bind(shown[index], value, span=value.span)


def fit(c: Lowering, test: Test, span: Span, *, keeps_slot: bool = False) -> Fit:
    """Reserve the slots of a test and of its names. Its own slots are free again."""
    caught = [name for name, part in test.names.items() if part.inner]
    parts = [test.names[name].core for name in caught]
    tested = _test(test.steps, primitive(c, "list", *parts, span=span) if caught else None, span)
    found = Local(0, c.slot("_").index, "_", span=span) if caught or keeps_slot else None
    values: list[Core] = []
    names: list[tuple[str, Place]] = []
    if found is not None:
        for at, name in enumerate(caught):
            values.append(nth(c, found, at))
            names.append((name, c.slot(name)))
    for name, part in test.names.items():
        if part.inner:
            continue
        if type(part.core) is Local:
            place = Place(c.level - part.core.depth, part.core.index, source_name(name))
        else:
            values.append(part.core)
            place = c.slot(name)
        names.append((name, place))
    return Fit(tested, found, tuple(values), tuple(names))


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


def bind_pattern(
    c: Lowering, pattern: Form, value: Core, *, keeps_slot: bool = False
) -> Generator[Any, Any, PatternBinding]:
    """Match a value with a pattern that stands where a name is bound. The names are not bound yet.
    With `keeps_slot` the test has a slot in any case."""
    place = c.save_scope()
    test = Test()
    yield read(c, pattern, value, test)
    c.restore_scope(place)
    made = fit(c, test, pattern.span, keeps_slot=keeps_slot)
    message = f"`{excerpt(pattern.span.text)}` does not fit the value"
    hint = "other values: `(match e (pattern body…) … (_ body…))`"
    return PatternBinding(value, made, misfit(c, value, pattern.span, message, hint), pattern.span)


def misfit(c: Lowering, value: Core, span: Span, message: str, hint: str) -> Core:
    """Return the error for a value that does not fit. A handler of `error` may resume it."""
    fields: dict[str, Core] = {
        name: Const(text, span=span)
        for name, text in {
            "type": "PROGRAM_ERROR",
            "reason": "no-match",
            "message": message,
            "hint": hint,
        }.items()
    }
    fields["details"] = MakeTable(("value",), (value,), span=span)
    error = MakeTable(tuple(fields), tuple(fields.values()), span=span)
    export = c.names.scope["raise"]
    assert isinstance(export.core, Const)
    return Call(Const(export.core.value, span=span), (error,), span=span)


def enclose(bindings: Sequence[PatternBinding], body: Core) -> Core:
    """Return a body that sees the names of patterns; the first is tested first."""
    for each in reversed(bindings):
        body = each.around(body)
    return body
