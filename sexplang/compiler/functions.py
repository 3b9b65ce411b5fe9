"""Bodies to core: statements, definitions and groups of functions.

The macros of a body are expanded when it is split into statements. Adjacent function definitions
form one group.
"""

from collections.abc import Generator, Iterable, Iterator
from typing import Any

from sexplang.compiler.compilation import (
    LaterDefinition,
    Lowering,
    NamedFunction,
    Steps,
    signature_of,
)
from sexplang.compiler.forms.patterns import (
    PatternBinding,
    bind_pattern,
    is_pattern,
    names_in,
)
from sexplang.compiler.forms.shapes import DEFINING, SHAPES, SPLICED, word_of
from sexplang.compiler.macros import (
    Syntax,
    define_syntax,
    expand,
    expand_head,
    macro_named,
    macro_of,
)
from sexplang.compiler.names import names_mentioned, report_early_use
from sexplang.compiler.parameters import Draft, draft, finish, is_lambda
from sexplang.terms.classes.node import node
from sexplang.terms.core import Const, Core, Known, Lambda, Let, Local, Seq
from sexplang.terms.diagnostic import Edit, Label
from sexplang.terms.form import Form, ListForm, Literal, Name, VectorForm, source_name
from sexplang.terms.program import Bind, Export, Item
from sexplang.terms.source import Span
from sexplang.terms.values.abbreviation import excerpt
from sexplang.terms.values.value import Procedure


@node(eq=False)
class Definition:
    """`(define name e)`, `(define (name param…) body…)` or `(bind name e)`.

    A function has `params` and `body`; anything else has a `value`, a form or a generator of
    core (an input). With a `pattern`, there may be any number of names.
    """

    form: Form
    names: tuple[Name, ...]
    again: bool
    value: Any = None
    params: Form | tuple[Form, ...] | None = None
    body: tuple[Form, ...] = ()
    pattern: Form | None = None
    is_tool: bool = False

    @property
    def name(self) -> Name:
        """The only name, where there is no pattern."""
        return self.names[0]


Statement = Definition | Syntax | Form

Part = Item | PatternBinding
"""A lowered statement. A pattern's names are bound for the parts after it."""


def split(c: Lowering, forms: Iterable[Form], is_top: bool = False) -> list[Statement]:
    """Split a body into statements. A nested `begin` is a part of it, and so is the expansion of a
    macro. `is_top`: the body is a file."""
    out: list[Statement] = []
    used: dict[str, Name] = {}
    work = list(forms)[::-1]
    while work:
        form = work.pop()
        word = word_of(form)
        defines = DEFINING.get(word)
        if word in SPLICED and len(form.items) > 1:  # type: ignore[union-attr]
            work.extend(form.items[:0:-1])  # type: ignore[union-attr]
        elif word == TOOL:
            for made in _tools(c, form, is_top):  # type: ignore[arg-type]
                out.append(made)
                _hide(c, made, used)
        elif defines == "value":
            for made in _definitions(c, form, SHAPES[word].rebinds, used):  # type: ignore[arg-type]
                out.append(made)
                _hide(c, made, used)
        elif defines == "syntax":
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
    c.new_macros.clear()
    return out


def _hide(c: Lowering, item: Definition | Syntax, used: dict[str, Name]) -> None:
    """Shadow a macro by a definition of its name. The macro must not have been used in this
    body."""
    for name in item.names if isinstance(item, Definition) else (item.name,):
        if name.text in used:
            report_early_use(c, used.pop(name.text), LaterDefinition(name.span, False))
        if isinstance(item, Definition) and macro_named(c, name, c.names.find(name.text)):
            c.names.bind(name.text, LaterDefinition(name.span, item.params is not None))


def _definitions(
    c: Lowering, form: ListForm, again: bool, used: dict[str, Name]
) -> list[Definition]:
    """Return the definition of a form. A malformed one binds its names too, so that their uses are
    not reported."""
    made = _definition(c, form, again, used)
    return _define_as_nil(form) if made is None else [made]


def _define_as_nil(form: ListForm) -> list[Definition]:
    target = form.items[1] if len(form.items) > 1 else form
    parts = target.items if type(target) is ListForm and target is not form else (target,)
    nil = Literal(None, span=form.span)
    names = [name for part in parts for name in names_in(part)]
    return [Definition(form, (name,), True, value=nil) for name in names]


TOOL = "define-tool"


def _tools(c: Lowering, form: ListForm, is_top: bool) -> list[Definition]:
    """Return the definition of a tool. A malformed one binds its name too."""
    from sexplang.compiler.tasks.define_tool import read_name

    name = read_name(c, form, is_top)
    if name is None:
        return _define_as_nil(form)
    params = form.items[1].items[1:]  # type: ignore[union-attr]
    return [Definition(form, (name,), False, params=params, body=form.items[2:], is_tool=True)]


def _report_length(c: Lowering, form: ListForm, target: Form) -> None:
    """Report a definition of a name with more than a value."""
    _, _, params, *rest = form.items
    hint = "several forms: `(begin e…)`"
    edits: tuple[Edit, ...] = ()
    if type(target) is Name and _are_names(params):
        names = " ".join([one.span.text for one in (target, *params.items)])  # type: ignore[union-attr]
        hint = f"write `(define ({names}) …)`"
        edits = (Edit(_between(target.span, params.span), f"({names})"),)
        c.refused |= names_mentioned(params)
    elif type(params) is Name and params.text == "=" and len(rest) == 1:
        word, name, value = form.items[0].span.text, target.span.text, rest[0].span.text
        hint = f"write `({word} {name} {excerpt(value)})`"
    c.report_malformed(form, form.items[3], "nothing more fits here", hint=hint, edits=edits)


def _are_names(form: Form) -> bool:
    """Return whether a form is a list of names, in parentheses or brackets."""
    is_list = type(form) is ListForm or type(form) is VectorForm
    return is_list and all(type(one) is Name for one in form.items)  # type: ignore[union-attr]


def _between(first: Span, last: Span) -> Span:
    """Return the span from the beginning of one to the end of another."""
    return Span(first.source, first.start, last.end)


def _definition(
    c: Lowering, form: ListForm, again: bool, used: dict[str, Name]
) -> Definition | None:
    items = form.items
    if len(items) < 3:
        c.report_malformed(form, form, "something is missing here")
        return None
    target = items[1]
    if type(target) is ListForm and target.items and not again and not is_pattern(target):
        if not c.is_bindable(target.items[0], "I expected the name of the function here"):
            return None
        name = target.items[0]
        assert isinstance(name, Name)
        return Definition(form, (name,), again, params=target.items[1:], body=items[2:])
    if type(target) is not Name and not is_pattern(target):
        hint = (
            "a function is defined with `define`; the items of a list are named by `[a b]`"
            if type(target) is ListForm
            else None
        )
        if word_of(target) == "quote":
            hint = f"the name alone: `{target.span.text.removeprefix(_QUOTE)}`"
        c.report_malformed(form, target, "I expected a name here", hint=hint)
        return None
    if type(target) is Name and not c.is_bindable(target):
        return None
    if len(items) > 3:
        _report_length(c, form, target)
        return None
    value = expand_head(c, items[2], used)
    if type(target) is not Name:
        return Definition(form, tuple(names_in(target)), again, value=value, pattern=target)
    if is_lambda(value):
        assert isinstance(value, ListForm)
        params = value.items[1]
        if type(params) in (ListForm, Name):
            return Definition(form, (target,), again, params=params, body=value.items[2:])
    return Definition(form, (target,), again, value=value)


_QUOTE = "'"


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


def nest(items: list[Part], span: Span) -> Core:
    """Nest the parts of an inner body: each `Bind` becomes a `Let` around the rest, each pattern a
    match."""
    follow: list[Core] = []
    for item in reversed(items):
        if type(item) is Bind:
            rest = sequence(follow[::-1], span)
            follow = [Let((item.value,), rest, (item.name,), span=item.span)]
        elif type(item) is PatternBinding:
            follow = [item.around(sequence(follow[::-1], span))]
        else:
            follow.append(item)  # type: ignore[arg-type]
    return sequence(follow[::-1], span)


def flatten(parts: list[Part]) -> Iterator[Item]:
    """Yield the parts of a file's top level as items, which leave their names bound."""
    for part in parts:
        if type(part) is PatternBinding:
            yield from part.items()
        else:
            yield part  # type: ignore[misc]


def sequence(cores: list[Core], span: Span) -> Core:
    """Return one core for several in order; `()` for none."""
    if len(cores) == 1:
        return cores[0]
    return Seq(tuple(cores), span=span) if cores else Const((), span=span)


def _opens_body(c: Lowering, form: Form) -> bool:
    """Return whether a form is more than one expression where it is a whole body."""
    word = word_of(form)
    is_part = word in SPLICED or DEFINING.get(word) in ("value", "syntax")
    return is_part or macro_of(c, form) is not None


def statements(
    c: Lowering, items: list[Statement], position: int, span: Span
) -> Generator[Any, Any, list[Part]]:
    """Lower statements in order and leave their names bound."""
    _announce(c, items)
    out: list[Part] = []
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
        elif item.pattern is not None:
            out += yield _match(c, item)
        else:
            out.append((yield _value(c, item)))
        if at == len(items):
            last = items[-1]
            is_defined = isinstance(last, Definition)
            out.append(_result(c, last, out) if is_defined else Const(None, span=span))  # type: ignore[arg-type]
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
        is_again = isinstance(item, Definition) and item.again
        for each in item.names if isinstance(item, Definition) else (item.name,):
            name = each.text
            if name in seen and (not is_again or name in macros):
                _report_duplicate(c, each, seen[name])
            seen.setdefault(name, each.span)
            if isinstance(item, Syntax):
                macros.add(name)
            elif not item.again or c.names.find(name) is None:
                c.names.bind(name, LaterDefinition(each.span, item.params is not None))


def _report_duplicate(c: Lowering, name: Name, first: Span) -> None:
    c.report(
        "defined-twice",
        name.span,
        f"`{name.text}` is already defined here",
        "defined again here",
        also=(Label(first, "first defined here"),),
        hint=f"choose another name, or write `(bind {name.text} …)` to bind it again",
    )


def _draft(c: Lowering, item: Definition) -> Draft:
    name, span = item.name.text, item.form.span
    assert item.params is not None
    if not item.is_tool:
        return draft(c, name, item.params, item.body, span)
    from sexplang.compiler.tasks.define_tool import draft_tool

    assert isinstance(item.params, tuple)
    return draft_tool(c, name, item.params, item.body, span)


def _functions(c: Lowering, group: list[Definition]) -> Steps:
    drafts: list[Draft] = []
    for item in group:
        made = _draft(c, item)
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


def _match(c: Lowering, item: Definition) -> Generator[Any, Any, list[Part]]:
    """Lower `(define [a b] e)` or `(bind [a b] e)`: the value, and its match."""
    out: list[Part] = []
    value: Core = yield c.lower(item.value)
    if type(value) is not Local:
        out.append(Bind("_", value, span=item.form.span))
        value = Local(0, c.slot("_").index, "_", span=item.value.span)
    later = [(name.text, c.names.table.get(name.text)) for name in item.names]
    assert item.pattern is not None
    made = yield bind_pattern(c, item.pattern, value, keeps_slot=True)
    made.fit.bind(c)
    for name, announced in later:
        c.names.define(name, announced)
    return [*out, made]


def shape_of(c: Lowering, core: Core) -> Any:
    """Return the shape of the calls that a value takes."""
    if type(core) is Const and isinstance(core.value, Procedure):
        return core.value
    if type(core) is Known or type(core) is Lambda:
        index = core.function - c.first_function
        function = c.functions[index] if 0 <= index < len(c.functions) else None
        return signature_of(function) if function is not None else None
    return None


def _result(c: Lowering, last: Definition, parts: list[Part]) -> Core:
    """Return the value of a body that ends in a definition: the value for `bind`, nil for
    `define`."""
    if last.pattern is not None:
        (*_, made) = parts
        assert isinstance(made, PatternBinding)
        return made.value if last.again else Const(None, span=last.form.span)
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
