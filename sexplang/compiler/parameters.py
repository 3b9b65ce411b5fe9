"""Functions to core: their parameters, by name or by pattern, and their activation."""

from collections import Counter
from collections.abc import Callable, Generator
from typing import TYPE_CHECKING, Any

from sexplang.compiler.compilation import Lowering, Place, Signature
from sexplang.compiler.forms.patterns import (
    REST,
    PatternBinding,
    bind_pattern,
    enclose,
    is_pattern,
    names_in,
    report_duplicate,
)
from sexplang.compiler.names import names_mentioned
from sexplang.terms.classes.node import define, field, node
from sexplang.terms.core import CallPrimitive, Const, Core, Let, Local
from sexplang.terms.diagnostic import Edit
from sexplang.terms.form import MARK, Form, ListForm, Literal, Name, VectorForm, source_name
from sexplang.terms.program import Function, Parameter
from sexplang.terms.source import Span
from sexplang.terms.values.abbreviation import excerpt
from sexplang.terms.values.boundary import value_of

if TYPE_CHECKING:
    from sexplang.terms.schemas import Schema

Body = Callable[[Lowering, tuple[Form, ...], int, Span], Any]


@node(eq=False)
class DraftParameter:
    """A parameter as written: `target` is a name or a pattern."""

    target: Form
    default: Form | None = None
    type: Form | None = None
    schema: "Schema | None" = None
    """The type of a tool's parameter, as it is written and as a JSON Schema."""
    doc: str = ""

    @property
    def name(self) -> str | None:
        """The name, or None for a pattern."""
        return self.target.text if type(self.target) is Name else None


@define(eq=False)
class Draft:
    """A function whose place in the table is reserved and whose body is not lowered yet."""

    index: int
    name: str
    span: Span
    body: tuple[Form, ...]
    params: list[DraftParameter] = field(factory=list)
    rest: str | None = None
    doc: str = ""
    is_tool: bool = False

    @property
    def signature(self) -> Signature:
        labels = self.labels
        optional = frozenset(
            [
                label
                for label, param in zip(labels, self.params, strict=True)
                if param.default is not None
            ]
        )
        return Signature(self.name, labels, optional, self.rest)

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels of the parameters for calls: the names as written, without macro marks, unless
        that is another parameter's name. A pattern is shown as it is written, with a mark of its
        own: no label in a program is equal to it."""
        names = [param.name for param in self.params]
        taken = Counter([source_name(name) for name in names if name is not None])
        labels = []
        for at, (name, param) in enumerate(zip(names, self.params, strict=True)):
            if name is None:
                labels.append(f"{excerpt(param.target.span.text)}{MARK}{at}")
            else:
                labels.append(source_name(name) if taken[source_name(name)] == 1 else name)
        return tuple(labels)


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
        hint: str | None = None
        edits: tuple[Edit, ...] = ()
        if type(params) is VectorForm:
            written = f"({params.span.text[1:-1]})"
            hint, edits = f"use parentheses: `{excerpt(written)}`", (Edit(params.span, written),)
        _report_malformed(c, params, "I expected a list of parameters here", hint, edits)
        if type(params) is VectorForm and all(type(each) is Name for each in params.items):
            _read_params(c, made, params.items)
    return made


def _report_malformed(
    c: Lowering,
    at: Form,
    words: str,
    hint: str | None = None,
    edits: tuple[Edit, ...] = (),
) -> None:
    title = "parameters are written `(a (b default) . rest)`"
    c.report("malformed-form", at.span, title, words, hint=hint, edits=edits)


OPTIONAL = frozenset(("&optional", "&key", "&opt"))
"""Words of other Lisps before parameters that may be left out."""


def _read_params(c: Lowering, made: Draft, forms: tuple[Form, ...]) -> None:
    seen: dict[str, Span] = {}
    missing: Span | None = None
    for at, form in enumerate(forms):
        default: Form | None = None if missing is None else Literal(None, missing)
        target = form
        word = form.text if type(form) is Name else ""
        if word in OPTIONAL or word in REST:
            _report_foreign_word(c, form, word, forms[at + 1 : at + 2])
            missing = form.span  # arguments may be omitted, so no call is reported
        if word in OPTIONAL:
            continue
        if word == "." or word in REST:
            _read_rest(c, made, form, forms[at + 1 :], seen)
            return
        if type(form) is ListForm and (len(form.items) == 2 or not is_pattern(form)):
            if len(form.items) != 2:
                _report_no_parameter(c, made, form)
                continue
            target, default = form.items
        if is_pattern(target):
            for name in names_in(target):
                _is_new(c, name, seen)
            made.params.append(DraftParameter(target, default))
        elif _is_new(c, target, seen):
            made.params.append(DraftParameter(target, default))


def _report_no_parameter(c: Lowering, made: Draft, form: ListForm) -> None:
    """Report a list that is no parameter. Its names are bound, so that their uses are not
    reported."""
    hint = None
    if len(form.items) == 1:
        hint = f"without a default it stands alone: `{excerpt(form.items[0].span.text)}`"
    _report_malformed(c, form, "I expected a parameter here", hint)
    nil = Literal(None, span=form.span)
    made.params += [
        DraftParameter(name, nil)
        for item in form.items
        for name in names_in(item)
        if type(item) is Name or is_pattern(item)
    ]


def _read_rest(
    c: Lowering, made: Draft, dot: Form, forms: tuple[Form, ...], seen: dict[str, Span]
) -> None:
    if len(forms) != 1:
        _report_malformed(c, dot, "I expected one name after this dot, the last parameter")
    elif is_pattern(forms[0]):
        hint = "give it a name, and take the list apart in the body: `(bind [a b] rest)`"
        _report_malformed(c, forms[0], "I expected a name here", hint)
        nil = Literal(None, span=forms[0].span)
        made.params.append(DraftParameter(forms[0], nil))  # so that its names are bound
    elif _is_new(c, forms[0], seen):
        made.rest = forms[0].text  # type: ignore[union-attr]


def _report_foreign_word(c: Lowering, form: Form, word: str, following: tuple[Form, ...]) -> None:
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
        report_duplicate(c, form, seen[form.text])
    seen.setdefault(form.text, form.span)
    return True


Argument = tuple[Form, Local]
"""The pattern of a parameter, and its argument."""


def finish(c: Lowering, made: Draft, body: Body) -> Generator[Any, Any, Function]:
    """Lower the defaults and the body in a new activation. The body is inside the matches of the
    patterns."""
    place = c.save_scope()
    c.activate(fence=1)
    params: list[Parameter] = []
    matched: list[Argument] = []
    for label, param in zip(made.labels, made.params, strict=True):
        core: Core | None = None
        if param.default is not None:
            core = yield _lower_default(c, param.default, matched)
        params.append(Parameter(label, core, param.schema, param.doc))
        if param.name is not None:
            c.place(param.name)
        else:
            slot = Local(0, c.slot("_").index, "_", span=param.target.span)
            matched.append((param.target, slot))
    if made.rest is not None:
        c.place(made.rest)
    bindings = yield _match(c, matched)
    held = [_hold(c, made, param) for param in made.params if param.schema is not None]
    inner = enclose(bindings, (yield body(c, made.body, 0, made.span)))
    for value in reversed(held):
        inner = Let((value,), inner, ("_",), span=value.span)
    c.restore_scope(place)
    function = Function(
        made.index,
        made.name,
        tuple(params),
        made.rest,
        inner,
        made.span,
        made.doc,
        c.size,
        made.is_tool,
    )
    c.functions[made.index - c.first_function] = function
    return function


def _hold(c: Lowering, made: Draft, param: DraftParameter) -> Core:
    """Return an argument that is held to its type. The name stands for it from there on."""
    assert param.name is not None and param.type is not None
    named = Const(f"`{source_name(param.name)}` of `{made.name}`", span=param.type.span)
    place = c.names.find(param.name)
    assert isinstance(place, Place)
    argument = Local(0, place.index, source_name(param.name), span=param.target.span)
    type_ = Const(value_of(param.schema), span=param.type.span)
    c.place(param.name)
    return CallPrimitive(c.primitive("as"), (type_, argument, named), span=param.target.span)


def _match(c: Lowering, matched: list[Argument]) -> Generator[Any, Any, list[PatternBinding]]:
    """Match arguments with their patterns in order, and bind the names."""
    bindings: list[PatternBinding] = []
    for pattern, argument in matched:
        made: PatternBinding = yield bind_pattern(c, pattern, argument)
        made.fit.bind(c)
        bindings.append(made)
    return bindings


def _lower_default(
    c: Lowering, default: Form, matched: list[Argument]
) -> Generator[Any, Any, Core]:
    """Lower a default. It sees the parameters before it: a pattern whose names it mentions is
    matched for it too."""
    mentioned = names_mentioned(default) if matched else frozenset()
    needed = [
        (pattern, argument)
        for pattern, argument in matched
        if any(name.text in mentioned for name in names_in(pattern))
    ]
    place, findings = c.save_scope(), len(c.findings)
    bindings = yield _match(c, needed)
    del c.findings[findings:]  # the body's match reports the same
    core = enclose(bindings, (yield c.lower(default)))
    c.restore_scope(place)
    return core
