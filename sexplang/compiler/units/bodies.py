"""Lowering of bodies. Adjacent function definitions form one group."""

from collections.abc import Generator, Iterator
from typing import Any

from sexplang.compiler.compilation import Lowering, Steps
from sexplang.compiler.forms.functions import Draft, draft, duplicate, finish
from sexplang.compiler.forms.shapes import RESERVED, word_of
from sexplang.compiler.names.bindings import LaterDefinition, NamedFunction, signature_of
from sexplang.compiler.units.macros import Syntax, macro_of
from sexplang.compiler.units.statements import Definition, Statement, split
from sexplang.terms.core import Const, Core, Known, Lambda, Let, Local, Seq
from sexplang.terms.diagnostic import Label
from sexplang.terms.form import Form, ListForm, Literal, Name, VectorForm, source_name
from sexplang.terms.program import Bind, Export, Item
from sexplang.terms.source import Span
from sexplang.terms.values.abbreviation import excerpt
from sexplang.terms.values.value import Procedure


def body(c: Lowering, forms: tuple[Form, ...], position: int, span: Span) -> Any:
    """Lower the forms of a body; the last is in `position`."""
    if len(forms) == 1 and not _opens_body(c, forms[0]):
        return c.lower(forms[0], position)
    return _body(c, forms, position, span)


def _body(c: Lowering, forms: tuple[Form, ...], position: int, span: Span) -> Steps:
    place = c.save_scope()
    items = yield statements(c, split(c, forms), position, span)
    c.restore_scope(place)
    return nest(items, span)


def nest(items: list[Item], span: Span) -> Core:
    """Nest the items of an inner body: each `Bind` becomes a `Let` around the rest."""
    follow: list[Core] = []
    for item in reversed(items):
        if type(item) is Bind:
            rest = sequence(follow[::-1], span)
            follow = [Let((item.value,), rest, (item.name,), span=item.span)]
        else:
            follow.append(item)  # type: ignore[arg-type]
    return sequence(follow[::-1], span)


def sequence(cores: list[Core], span: Span) -> Core:
    """Return one core for several in order; `()` for none."""
    if len(cores) == 1:
        return cores[0]
    return Seq(tuple(cores), span=span) if cores else Const((), span=span)


_BODY_WORDS = frozenset(["define", "bind", "begin", "progn", "define-syntax"])


def _opens_body(c: Lowering, form: Form) -> bool:
    return word_of(form) in _BODY_WORDS or macro_of(c, form) is not None


def statements(
    c: Lowering, items: list[Statement], position: int, span: Span
) -> Generator[Any, Any, list[Item]]:
    """Lower statements in order and leave their names bound."""
    _announce(c, items)
    out: list[Item] = []
    at = 0
    while at < len(items):
        item = items[at]
        is_last = at == len(items) - 1
        at += 1
        if isinstance(item, Syntax):
            item.keyword.mark = len(c.names.trail)
        elif not isinstance(item, Definition):
            out.append((yield c.lower(item, position if is_last else 0)))
            continue
        elif item.params is not None:
            group = [item]
            while not item.again and at < len(items) and _joins(c, items[at], group):
                at += 1
            yield _functions(c, group)
        else:
            out.append((yield _value(c, item)))
        if at == len(items):
            last = items[-1]
            is_defined = isinstance(last, Definition)
            out.append(_result(c, last) if is_defined else Const(None, span=span))  # type: ignore[arg-type]
    return out


def _joins(c: Lowering, item: Statement, group: list[Definition]) -> bool:
    """Return whether an item is adjacent to the functions of the group. A macro between them does
    not separate them."""
    if isinstance(item, Syntax):
        item.keyword.mark = len(c.names.trail)
        return True
    if isinstance(item, Definition) and item.params is not None and not item.again:
        group.append(item)
        return True
    return False


def _announce(c: Lowering, items: list[Statement]) -> None:
    """Announce the names of a body, so that a use before the definition is reported."""
    seen: dict[str, Span] = {}
    macros: set[str] = set()
    for item in items:
        if not isinstance(item, (Definition, Syntax)):
            continue
        name = item.name.text
        is_again = isinstance(item, Definition) and item.again
        if name in seen and (not is_again or name in macros):
            _report_duplicate(c, item.name, seen[name])
        seen.setdefault(name, item.name.span)
        if isinstance(item, Syntax):
            macros.add(name)
        elif not item.again or c.names.find(name) is None:
            c.names.bind(name, LaterDefinition(item.name.span, item.params is not None))


def _report_duplicate(c: Lowering, name: Name, first: Span) -> None:
    c.report(
        "defined-twice",
        name.span,
        f"`{name.text}` is already defined here",
        "defined again here",
        also=(Label(first, "first defined here"),),
        hint=f"choose another name, or write `(bind {name.text} …)` to bind it again",
    )


def _functions(c: Lowering, group: list[Definition]) -> Steps:
    drafts: list[Draft] = []
    for item in group:
        assert item.params is not None
        made = draft(c, item.name.text, item.params, item.body, item.form.span)
        drafts.append(made)
        later = c.names.table.get(item.name.text)
        c.names.bind(item.name.text, NamedFunction(c.level, made.index, made.signature))
        c.names.define(item.name.text, later)
    for made in drafts:
        yield finish(c, made, body)
    return Const(None, span=group[0].form.span)


def _value(c: Lowering, item: Definition) -> Generator[Any, Any, Bind]:
    made = c.lower(item.value) if not callable(item.value) else item.value(c)
    value = yield made
    name = item.name.text
    later = c.names.table.get(name)
    c.place(name, shape_of(c, value))
    c.names.define(name, later)
    return Bind(source_name(name), value, span=item.form.span)


def shape_of(c: Lowering, core: Core) -> Any:
    """Return the shape of the calls that a value takes."""
    if type(core) is Const and isinstance(core.value, Procedure):
        return core.value
    if type(core) is Known or type(core) is Lambda:
        index = core.function - c.first_function
        function = c.functions[index] if 0 <= index < len(c.functions) else None
        return signature_of(function) if function is not None else None
    return None


def _result(c: Lowering, last: Definition) -> Core:
    """Return the value of a body that ends in a definition: the value for `bind`, nil for
    `define`."""
    binding = c.names.find(last.name.text)
    if last.again and type(binding) is NamedFunction:
        return Known(0, binding.function, span=last.form.span)
    if (
        last.again
        and binding is not None
        and not isinstance(binding, (NamedFunction, LaterDefinition, Export))
    ):
        return Local(0, c.size - 1, last.name.text, span=last.form.span)
    return Const(None, span=last.form.span)


def bindings_of(
    c: Lowering, form: ListForm, listing: Form, *, unique: bool
) -> list[tuple[Name, Form]]:
    """`((name e) …)`"""
    out: list[tuple[Name, Form]] = []
    seen: dict[str, Span] = {}
    if type(listing) is not ListForm:
        hint = "use parentheses: `((name e) …)`" if type(listing) is VectorForm else None
        c.report_malformed(
            form, listing, "I expected a list of bindings `((name e) …)` here", hint=hint
        )
        if type(listing) is VectorForm:  # its names are bound, so that their uses are no errors
            names = [one for one in listing.items[::2] if type(one) is Name]
            nil = Literal(None, span=listing.span)
            return [(one, nil) for one in names if one.text not in RESERVED]
        return out
    for pair in _pairs(c, form, listing):
        name, value = pair.items
        if c.is_bindable(name):
            assert isinstance(name, Name)
            if unique and name.text != "_" and name.text in seen:
                duplicate(c, name, seen[name.text])
                continue
            seen.setdefault(name.text, name.span)
            out.append((name, value))
    return out


def _pairs(c: Lowering, form: ListForm, listing: ListForm) -> Iterator[ListForm]:
    """Yield the bindings. A malformed one has at least its name, so that its uses are bound."""
    items = listing.items
    if items and type(items[0]) is Name:
        is_pair = len(items) == 2
        hint = f"two pairs of parentheses: `({excerpt(listing.span.text)})`" if is_pair else None
        c.report_malformed(form, items[0], "I expected a binding `(name e)` here", hint=hint)
        items = (listing,)
    for pair in items:
        if type(pair) is ListForm and len(pair.items) == 2:
            yield pair
            continue
        if pair is not listing:
            c.report_malformed(form, pair, "I expected a binding `(name e)` here")
        names = pair.items[:1] if type(pair) is ListForm else (pair,)
        for name in names:
            if type(name) is Name and name.text not in RESERVED:
                yield ListForm((name, Literal(None, span=name.span)), span=pair.span)
