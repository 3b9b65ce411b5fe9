"""Functions and bodies to core: parameters, statements and groups of definitions.

The macros of a body are expanded when it is split into statements. Adjacent function definitions
form one group.
"""

from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator
from typing import Any

from sexplang.compiler.compilation import (
    LaterDefinition,
    Lowering,
    NamedFunction,
    Signature,
    Steps,
    signature_of,
)
from sexplang.compiler.forms.shapes import RESERVED, word_of
from sexplang.compiler.macros import (
    Syntax,
    define_syntax,
    expand,
    expand_head,
    macro_named,
    macro_of,
)
from sexplang.compiler.names import report_early_use
from sexplang.terms.classes.node import define, field, node
from sexplang.terms.core import Const, Core, Known, Lambda, Let, Local, Seq
from sexplang.terms.diagnostic import Edit, Label
from sexplang.terms.form import MARK, Form, ListForm, Literal, Name, VectorForm, source_name
from sexplang.terms.program import Bind, Export, Function, Item, Parameter
from sexplang.terms.source import Span
from sexplang.terms.values.abbreviation import excerpt
from sexplang.terms.values.value import Procedure

Body = Callable[[Lowering, tuple[Form, ...], int, Span], Any]


@define(eq=False)
class Draft:
    """A function whose place in the table is reserved and whose body is not lowered yet."""

    index: int
    name: str
    span: Span
    body: tuple[Form, ...]
    params: list[tuple[str, Form | None]] = field(factory=list)
    rest: str | None = None
    doc: str = ""

    @property
    def signature(self) -> Signature:
        labels = self.labels
        optional = frozenset(
            [
                label
                for label, (_, default) in zip(labels, self.params, strict=True)
                if default is not None
            ]
        )
        return Signature(self.name, labels, optional, self.rest)

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels of the parameters for calls: the names as written, without macro marks, unless
        that is another parameter's name."""
        texts = [name for name, _ in self.params]
        if not any(MARK in text for text in texts):
            return tuple(texts)
        taken = Counter(map(source_name, texts))
        return tuple(
            [source_name(text) if taken[source_name(text)] == 1 else text for text in texts]
        )


def is_lambda(form: Form) -> bool:
    """Return whether a form is `(lambda params body…)`."""
    return (
        type(form) is ListForm
        and len(form.items) > 2
        and type(form.items[0]) is Name
        and form.items[0].text in ("lambda", "fn")
    )


def draft(
    c: Lowering,
    name: str,
    params: Form | tuple[Form, ...],
    body: tuple[Form, ...],
    span: Span,
) -> Draft:
    """Reserve the function's place in the table and read its parameters.

    A string before the last form of the body is the documentation.
    """
    made = Draft(c.first_function + len(c.functions), source_name(name), span, body)
    c.functions.append(None)
    if len(body) > 1 and type(body[0]) is Literal and isinstance(body[0].value, str):
        made.doc = body[0].value
        made.body = body[1:]
    if isinstance(params, Name):
        if c.is_bindable(params):
            made.rest = params.text
    elif isinstance(params, (tuple, ListForm)):
        _read_params(c, made, params if isinstance(params, tuple) else params.items)
    else:
        hint = "use parentheses" if type(params) is VectorForm else None
        _report_malformed(c, params, "I expected a list of parameters here", hint)
    return made


def _report_malformed(c: Lowering, at: Form, words: str, hint: str | None = None) -> None:
    title = "parameters are written `(a (b default) . rest)`"
    c.report("malformed-form", at.span, title, words, hint=hint)


OPTIONAL = frozenset(("&optional", "&key", "&opt"))
REST = frozenset(("&", "&rest", "&body", "&args"))
"""Words of other Lisps between parameters."""


def _read_params(c: Lowering, made: Draft, forms: tuple[Form, ...]) -> None:
    seen: dict[str, Span] = {}
    missing: Span | None = None
    for at, form in enumerate(forms):
        default: Form | None = None if missing is None else Literal(None, missing)
        name = form
        word = form.text if type(form) is Name else ""
        if word in OPTIONAL or word in REST:
            _foreign(c, form, word, forms[at + 1 : at + 2])
            missing = form.span  # arguments may be omitted, so no call is reported
        if word in OPTIONAL:
            continue
        if word == "." or word in REST:
            if at == len(forms) - 2 and _is_new(c, forms[-1], seen):
                made.rest = forms[-1].text  # type: ignore[union-attr]
            elif at != len(forms) - 2:
                _report_malformed(c, form, "I expected one name after this dot, the last parameter")
            return
        if type(form) is ListForm:
            if len(form.items) != 2:
                _report_malformed(c, form, "I expected a parameter here")
                continue
            name, default = form.items
        if _is_new(c, name, seen):
            assert isinstance(name, Name)
            made.params.append((name.text, default))


def _foreign(c: Lowering, form: Form, word: str, following: tuple[Form, ...]) -> None:
    name = following[0].text if following and type(following[0]) is Name else "more"
    if word in OPTIONAL:
        hint = f"a parameter that may be left out is written with its default: `({name} default)`"
    else:
        hint = f"all further arguments are one list, the last parameter: write `. {name}`"
    _report_malformed(c, form, f"`{word}` is a name like any other", hint)


def _is_new(c: Lowering, form: Form, seen: dict[str, Span]) -> bool:
    if not c.is_bindable(form, "I expected a parameter here"):
        return False
    assert isinstance(form, Name)
    if form.text in seen and form.text != "_":
        duplicate(c, form, seen[form.text])
    seen.setdefault(form.text, form.span)
    return True


def duplicate(c: Lowering, name: Name, first: Span) -> None:
    """Report a name that is bound twice at once."""
    c.report(
        "duplicate-name",
        name.span,
        f"`{name.text}` stands twice here",
        "again here",
        also=(Label(first, "first here"),),
        hint="give one of them another name, or `_` if it is not used",
    )


def finish(c: Lowering, made: Draft, body: Body) -> Generator[Any, Any, Function]:
    """Lower the defaults and the body in a new activation."""
    place = c.save_scope()
    c.activate(fence=1)
    params: list[Parameter] = []
    for label, (name, default) in zip(made.labels, made.params, strict=True):
        core: Core | None = None
        if default is not None:
            core = yield c.lower(default)
        params.append(Parameter(label, core))
        c.place(name)
    if made.rest is not None:
        c.place(made.rest)
    inner = yield body(c, made.body, 0, made.span)
    c.restore_scope(place)
    function = Function(
        made.index, made.name, tuple(params), made.rest, inner, made.span, made.doc, c.size
    )
    c.functions[made.index - c.first_function] = function
    return function


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


def _too_long(c: Lowering, form: ListForm, target: Name, again: bool) -> Definition:
    """Report a definition of a name with more than a value. Its name is bound."""
    _, _, params, *rest = form.items
    hint = "several forms: `(begin e…)`"
    edits: tuple[Edit, ...] = ()
    if isinstance(params, (ListForm, VectorForm)) and all(
        type(one) is Name for one in params.items
    ):
        names = " ".join([one.span.text for one in (target, *params.items)])
        hint = f"write `(define ({names}) …)`"
        edits = (Edit(_between(target.span, params.span), f"({names})"),)
        c.refused.update(one.spelling for one in params.items if type(one) is Name)
    elif type(params) is Name and params.text == "=" and len(rest) == 1:
        hint = f"write `({form.items[0].span.text} {target.text} {excerpt(rest[0].span.text)})`"
    c.report_malformed(form, form.items[3], "nothing more fits here", hint=hint, edits=edits)
    return Definition(form, target, again, value=Literal(None, span=form.span))


def _between(first: Span, last: Span) -> Span:
    """Return the span from the beginning of one to the end of another."""
    return Span(first.source, first.start, last.end)


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
        return _too_long(c, form, target, again)
    value = expand_head(c, items[2], used)
    if is_lambda(value):
        assert isinstance(value, ListForm)
        params = value.items[1]
        if type(params) in (ListForm, Name):
            return Definition(form, target, again, params=params, body=value.items[2:])
    return Definition(form, target, again, value=value)


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
        hint: str | None = None
        edits: tuple[Edit, ...] = ()
        if type(listing) is VectorForm:
            hint = "use parentheses: `((name e) …)`"
            texts = [one.span.text for one in listing.items]
            pairs = [f"({' '.join(texts[at : at + 2])})" for at in range(0, len(texts), 2)]
            edits = (Edit(listing.span, f"({' '.join(pairs)})"),) if len(texts) % 2 == 0 else ()
        words = "I expected a list of bindings `((name e) …)` here"
        c.report_malformed(form, listing, words, hint=hint, edits=edits)
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
        edits = (Edit(listing.span, f"({listing.span.text})"),) if is_pair else ()
        if all(type(one) is Name for one in items) and not is_pair:
            hint = (
                f"each name has a value: `({' '.join(f'({one.span.text} nil)' for one in items)})`"
            )
        words = "I expected a binding `(name e)` here"
        c.report_malformed(form, items[0], words, hint=hint, edits=edits)
        items = (listing,)
    for pair in items:
        if type(pair) is ListForm and len(pair.items) == 2:
            yield pair
            continue
        if pair is not listing:
            c.report_malformed(form, pair, "I expected a binding `(name e)` here")
        if type(pair) is VectorForm and len(pair.items) == 2 and type(pair.items[0]) is Name:
            yield ListForm(pair.items, span=pair.span)
            continue
        names = pair.items[:1] if type(pair) is ListForm else (pair,)
        for name in names:
            if type(name) is Name and name.text not in RESERVED:
                yield ListForm((name, Literal(None, span=name.span)), span=pair.span)
