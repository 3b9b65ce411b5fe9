"""Lowering of data in program text: quotations, quasiquotations, vectors and tables."""

import re
from collections.abc import Callable, Iterator
from typing import Any

from sexplang.compiler.compilation import Lowered, Lowering, Steps
from sexplang.compiler.forms.shapes import word_of
from sexplang.terms.core import CallPrimitive, Const, Core, MakeTable
from sexplang.terms.diagnostic import Label as Place
from sexplang.terms.form import Form, Label, ListForm, Literal, Name, TableForm, VectorForm
from sexplang.terms.source import Made, Span
from sexplang.terms.values.abbreviation import abbreviate, excerpt
from sexplang.terms.values.sequences import LISTS
from sexplang.terms.values.value import Fault, Primitive, Record, Value, symbol


def constant(c: Lowering, form: Literal, position: int) -> Core:
    """Lower a number, string, boolean or nil."""
    return Const(form.value, form.span)


def report_label(c: Lowering, form: Label, position: int) -> Core:
    """Report a label that names no argument and no key."""
    return c.report(
        "label-misplaced",
        form.span,
        f"the label `{form.text}:` names nothing here",
        "a label stands before an argument of a call or a value in a table",
        hint=f"write the name without its colon: `{form.text}`",
    )


def quote(c: Lowering, form: ListForm, position: int) -> Core:
    """`(quote datum)`"""
    return Const(datum(c, form.items[1]), span=form.span)


def datum(c: Lowering, form: Form) -> Value:
    """Return the value of a quoted form."""
    done: list[Any] = []
    work: list[tuple[Form, int, tuple[str, ...] | None]] = [(form, -1, None)]
    while work:
        form, count, keys = work.pop()
        if count >= 0:
            values = done[len(done) - count :]
            del done[len(done) - count :]
            done.append(tuple(values) if keys is None else dict(zip(keys, values, strict=True)))
        elif type(form) is Name:
            done.append(symbol(form.spelling))
        elif type(form) is Literal:
            done.append(form.value)
        elif type(form) is Label:
            done.append(report_label(c, form, 0).span)
        elif type(form) is TableForm:
            pairs = list(entries(c, form, splices=False))
            work.append((form, len(pairs), tuple(key for key, _ in pairs)))
            work.extend((value, -1, None) for _, value in reversed(pairs))
        else:
            assert isinstance(form, (ListForm, VectorForm))
            work.append((form, len(form.items), None))
            work.extend((item, -1, None) for item in reversed(form.items))
    return done[0]


def entries(c: Lowering, form: TableForm, *, splices: bool) -> Iterator[tuple[str, Form]]:
    """Yield keys and values in the order of the text. A `~@x` has an empty key, if splices are
    allowed."""
    seen: dict[str, Span] = {}
    items = iter(form.items)
    for label in items:
        is_splice = type(label) is ListForm and word_of(label) == "unquote-splicing"
        value = label if is_splice else next(items, None)
        if type(label) is Label and value is not None and type(value) is not Label:
            if label.text in seen:
                _report_duplicate_key(c, label, seen[label.text])
            seen[label.text] = label.span
            yield label.text, value
        elif splices and value is label:
            yield "", value
        else:
            c.report(
                "malformed-form",
                label.span,
                "a table is written `{key: value …}`",
                "I expected a label and its value here",
            )


def _report_duplicate_key(c: Lowering, label: Label, first: Span) -> None:
    c.report(
        "duplicate-key",
        label.span,
        f"the key `{label.text}` occurs twice in this table",
        "this one wins",
        also=(Place(first, "this one is lost"),),
        hint="remove one of them",
        severity="warning",
    )


def vector(c: Lowering, form: VectorForm, position: int) -> Steps:
    """`[a b c]`"""
    _warn_of_index(c, form)
    return make_list(c, (yield c.each(form.items)), form.span)


def _warn_of_index(c: Lowering, form: VectorForm) -> None:
    """Warn of `t["a"]`, which is a name and a list."""
    start = form.span.start
    before = form.span.source.text[start - 1 : start]
    if before in _APART or len(form.items) != 1 or isinstance(form.span, Made):
        return
    touching = re.compile(_TOUCHES).search(form.span.source.text, max(0, start - _LONGEST), start)
    if touching is None:
        return
    name = touching[0]
    key = form.items[0].span.text
    is_word = re.fullmatch(r'"[a-z_][\w-]*"', key)
    write = f"`{name}.{key[1:-1]}` or `(get {name} {key})`" if is_word else f"`(get {name} {key})`"
    c.report(
        "no-indexing",
        form.span,
        f"`{excerpt(name + form.span.text)}` is two forms: a name, and a list of one",
        hint=f"write {write}",
        severity="warning",
    )


_APART = " \n([{"
_LONGEST = 60
_TOUCHES = r"(?<![\w.:'`~@-])[A-Za-z_][\w.?!*-]*$"


def table(c: Lowering, form: TableForm, position: int) -> Steps:
    """`{a: x b: y}`"""
    pairs = list(entries(c, form, splices=False))
    values = yield c.each(value for _, value in pairs)
    return make_table(tuple(key for key, _ in pairs), values, form.span)


def make_list(c: Lowering, parts: tuple[Core, ...], span: Span) -> Core:
    """Return the core of a list with these elements."""
    values = []
    for part in parts:
        if type(part) is not Const:
            return CallPrimitive(c.primitive("list"), parts, span=span)
        values.append(part.value)
    return Const(tuple(values), span=span)


def make_table(keys: tuple[str, ...], parts: tuple[Core, ...], span: Span) -> Core:
    """Return the core of a table with these keys and values."""
    fields = {}
    for key, part in zip(keys, parts, strict=True):
        if type(part) is not Const:
            return MakeTable(keys, parts, span=span)
        fields[key] = part.value
    return Const(fields, span=span)


def quasiquote(c: Lowering, form: ListForm, position: int) -> Lowered:
    """`(quasiquote datum)`"""
    return _quasi(c, form.items[1], 1)


def _quasi(c: Lowering, form: Form, nesting: int) -> Lowered:
    if type(form) is Name:
        return Const(symbol(form.spelling), span=form.span)
    if type(form) is ListForm:
        if word_of(form) == "unquote":
            return _unquote(c, form, nesting)
        if word_of(form) == "unquote-splicing":
            return _unquote(c, form, nesting, splices=False)
        if word_of(form) == "quasiquote":
            return _elements(c, form, nesting + 1)
        return _elements(c, form, nesting)
    if type(form) is VectorForm:
        return _elements(c, form, nesting)
    if type(form) is TableForm:
        return _fields(c, form, nesting)
    return c.lower(form)


def _unquote(c: Lowering, form: ListForm, nesting: int, *, splices: bool = True) -> Lowered:
    if nesting > 1:
        return _elements(c, form, nesting - 1)
    if len(form.items) != 2 or not splices:
        title = "an unquote is written `~x`, a splice in a list or table `~@xs`"
        return c.report("malformed-form", form.span, title, "this is neither")
    return c.lower_later(form.items[1])


def _elements(c: Lowering, form: ListForm | VectorForm, nesting: int) -> Steps:
    """Lower a list in a quasiquote: runs of elements and splices, appended."""
    runs: list[Core] = []
    plain: list[Core] = []
    for item in form.items:
        if nesting == 1 and word_of(item) == "unquote-splicing":
            if plain:
                runs.append(make_list(c, tuple(plain), form.span))
                plain = []
            spliced = yield _unquote(c, item, nesting)  # type: ignore[arg-type]
            runs.append(_check_splice(spliced, _list, item.span))
        else:
            plain.append((yield _quasi(c, item, nesting)))
    if not runs:
        return make_list(c, tuple(plain), form.span)
    if plain:
        runs.append(make_list(c, tuple(plain), form.span))
    return CallPrimitive(c.primitive("append"), tuple(runs), span=form.span)


def _check_splice(spliced: Core, check: Callable[[Value], Value], span: Span) -> Core:
    """Return the spliced value behind a check. The error has the splice's span."""
    return CallPrimitive(Primitive("identity", check, 1, 1), (spliced,), span=span)


def _list(value: Value) -> Value:
    if type(value) not in LISTS:
        words = f"`~@` puts the elements of a list in, and {abbreviate(value)} is no list"
        raise Fault("wrong-type", words, hint="`~x` puts the value itself in")
    return value


def _table(value: Value) -> Value:
    if not isinstance(value, (dict, Record)):
        words = f"`~@` puts the entries of a table in here, and {abbreviate(value)} is no table"
        raise Fault("wrong-type", words, hint="`key: ~x` puts the value itself in")
    return value


def _fields(c: Lowering, form: TableForm, nesting: int) -> Steps:
    """Lower a table in a quasiquote: runs of entries and splices, merged."""
    runs: list[Core] = []
    plain: list[tuple[str, Core]] = []

    def close() -> None:
        if plain:
            keys, parts = zip(*plain, strict=True)
            runs.append(make_table(keys, parts, form.span))
            plain.clear()

    for key, item in list(entries(c, form, splices=nesting == 1)):
        if nesting == 1 and word_of(item) == "unquote-splicing":
            close()
            spliced = yield _unquote(c, item, nesting, splices=not key)  # type: ignore[arg-type]
            runs.append(_check_splice(spliced, _table, item.span))
        else:
            plain.append((key, (yield _quasi(c, item, nesting))))
    close()
    if len(runs) == 1 and type(runs[0]) in (MakeTable, Const):
        return runs[0]
    if not runs:
        return Const({}, span=form.span)
    return CallPrimitive(c.primitive("merge"), tuple(runs), span=form.span)
