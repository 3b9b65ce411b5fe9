"""The meanings of names in a text, read from the forms that define them.

The compiler's table of special forms says which forms define names, and where their parts stand.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import pairwise
from typing import Any
from typing import Literal as OneOf

from sexplang.compiler.forms.patterns import is_pattern, names_in
from sexplang.compiler.forms.shapes import Role, Shape, shape_of, splice, word_of
from sexplang.terms.classes.node import evolve, field, frozen
from sexplang.terms.form import Form, Label, ListForm, Literal, Name
from sexplang.terms.source import Span
from sexplang.terms.values.abbreviation import excerpt

LONGEST_DEFAULT = 60
"""The number of characters of a default that a signature shows."""

Kind = OneOf[
    "function",
    "value",
    "parameter",
    "input",
    "operation",
    "task",
    "type",
    "syntax",
    "module",
    "special form",
    "primitive",
]


@frozen(eq=False)
class Parameter:
    """A parameter as it is written: a name, or the text of a pattern, which no label gives."""

    name: str
    span: Span | None = None
    default: str | None = None
    doc: str = ""
    type: str = ""
    is_pattern: bool = False


@frozen(eq=False)
class Meaning:
    """The meaning of a name.

    `name_span` is the binding name, `span` the whole definition; both are None for names of the
    language. `params` is None if nothing is known of calls. `members` are the names behind a
    module's name. `shape` is the language's own object: a Primitive, a Higher, an Operation, a
    Task.
    """

    name: str
    kind: Kind
    name_span: Span | None = None
    span: Span | None = None
    params: tuple[Parameter, ...] | None = None
    rest: str | None = None
    doc: str = ""
    members: "dict[str, Meaning]" = field(factory=dict)
    shape: Any = None
    form: Form | None = None

    def param(self, name: str) -> Parameter | None:
        """Return the parameter called `name`."""
        return self._parameters.get(name)

    @cached_property
    def _parameters(self) -> dict[str, Parameter]:
        return {each.name: each for each in reversed(self.params or ())}

    @cached_property
    def signature(self) -> str:
        """Return the text of a call: `(name a (b 1) . rest)`."""
        if self.params is None:
            return self.name
        words = [
            each.name if each.default is None else f"({each.name} {each.default})"
            for each in self.params
        ]
        if self.rest is not None:
            words += [".", self.rest]
        return f"({' '.join([self.name, *words])})"


def function(name: Name, form: Form, params: Form | tuple[Form, ...], doc: str = "") -> Meaning:
    """Return the meaning of a function; `params` is a list, or one name for all."""
    found, rest = parameters(params)
    listed = tuple(parameter for parameter, _ in found)
    end = rest.text if rest is not None else None
    return Meaning(name.text, "function", name.span, form.span, listed, end, doc, form=form)


def value(name: Name, form: Form, bound: Form | None = None) -> Meaning:
    """Return the meaning of a bound name: a function if a lambda is bound, else a value."""
    shape = shape_of(bound) if bound is not None else None
    if shape is not None and shape.operands[:1] == ("parameters",) and len(bound.items) > 2:  # type: ignore[union-attr]
        _, params, *body = bound.items  # type: ignore[union-attr]
        return function(name, form, params, _text(body[:-1]))
    return Meaning(name.text, "value", name.span, form.span, form=form)


def parameter(name: Name, form: Form) -> Meaning:
    """Return the meaning of a name that a function, a clause, a pattern or a loop binds."""
    return Meaning(name.text, "parameter", name.span, form.span, form=form)


def parameters(
    params: Form | tuple[Form, ...],
) -> tuple[list[tuple[Parameter, Form]], Name | None]:
    """Return the parameters of `(a (b default) . rest)`, each with its name or pattern, and the
    rest."""
    if type(params) is Name:
        return [], params
    items = params if isinstance(params, tuple) else getattr(params, "items", ())
    found: list[tuple[Parameter, Form]] = []
    for at, form in enumerate(items):
        if type(form) is Name and form.text == ".":
            after = items[at + 1] if at + 1 < len(items) else None
            return found, after if isinstance(after, Name) else None
        has_default = isinstance(form, ListForm) and form.items and len(form.items) != 3
        name, *rest = form.items if has_default else (form,)
        default = _shorten(rest[0].span.text) if rest else None
        if type(name) is Name:
            found.append((Parameter(name.text, name.span, default), name))
        elif is_pattern(name):
            written = excerpt(name.span.text)
            found.append((Parameter(written, name.span, default, is_pattern=True), name))
    return found, None


def _shorten(default: str) -> str:
    """Return a default on one line; a long one as `…`, for a part of it has brackets that do not
    fit."""
    text = " ".join(default.split())
    return text if len(text) <= LONGEST_DEFAULT else "…"


def read_definitions(form: Form) -> tuple[Meaning, ...]:
    """Return the meanings of the names that a form defines: of a pattern, any number."""
    made = read_definition(form)
    if made is not None:
        return (made,)
    shape = shape_of(form)
    if shape is None or shape.defines != "value" or len(form.items) < 2:  # type: ignore[union-attr]
        return ()
    target = form.items[1]  # type: ignore[union-attr]
    names = names_in(target) if is_pattern(target) else ()
    return tuple([Meaning(name.text, "value", name.span, form.span, form=form) for name in names])


def read_definition(form: Form) -> Meaning | None:
    """Return the meaning of the one name that a form defines; None if it defines none."""
    shape = shape_of(form)
    if shape is None or not shape.defines or len(form.items) < 2:  # type: ignore[union-attr]
        return None
    assert isinstance(form, ListForm)
    target, *rest = form.items[1:]
    is_call = type(target) is ListForm and not is_pattern(target)
    name = target.items[0] if is_call and target.items else target  # type: ignore[union-attr]
    misfits = ("defined name",) if is_call else ("defined call", "defined typed call")
    if type(name) is not Name or shape.operands[0] in misfits:
        return None
    params = target.items[1:] if isinstance(target, ListForm) else ()
    if shape.operands[0] == "defined typed call":
        made = function(name, form, (), _text(rest[:-1]))
        return evolve(made, params=tuple(_read_typed(params)))
    if shape.defines == "value" and is_call:
        return function(name, form, params, _text(rest[:-1]))
    if shape.defines == "value":
        return value(name, form, rest[0] if rest else None)
    params = tuple(each for each in params if type(each) is Name)
    made = function(name, form, params, _text(_find(form, shape, "doc")))
    listed: tuple[Parameter, ...] | None = made.params if is_call else None
    if shape.defines == "type":
        return Meaning(name.text, "type", name.span, form.span, doc=made.doc, form=form)
    if shape.defines == "task":
        listed = tuple(_read_typed(_find(form, shape, "typed parameters")))
    return evolve(made, kind=shape.defines, params=listed)


def _find(form: ListForm, shape: Shape, role: Role) -> tuple[Form, ...]:
    """Return the operands from one with a role on: of the form, of a part, or after a label."""
    if role in shape.operands:
        return form.items[1 + shape.operands.index(role) :]
    for operand, after in pairwise((*form.items, form)):
        if type(operand) is Label and shape.labels.get(operand.text) == role:
            return (after,)
        roles = shape.parts.get(word_of(operand), ())
        if role in roles:
            return operand.items[roles.index(role) :]  # type: ignore[union-attr]
    return ()


def _read_typed(items: Iterable[Form]) -> Iterator[Parameter]:
    """Yield the parameters `name` and `(name type default: value doc: "…")`."""
    for item in items:
        name, *rest = item.items if isinstance(item, ListForm) and item.items else (item,)
        if type(name) is Name:
            labels = {label.text: after for label, after in pairwise(rest) if type(label) is Label}
            default = labels["default"].span.text if "default" in labels else None
            kind = rest[0].span.text if rest and type(rest[0]) is not Label else ""
            doc = _text([labels["doc"]] if "doc" in labels else [])
            yield Parameter(name.text, name.span, default, doc, kind)


def _text(forms: Sequence[Form]) -> str:
    """Return the string at the beginning of forms, or an empty text."""
    text = forms[0].value if forms and type(forms[0]) is Literal else ""
    return text if isinstance(text, str) else ""


def public(forms: Iterable[Form]) -> dict[str, Meaning]:
    """Return the names that a module exports."""
    all_forms = tuple(splice(forms))
    made = {each.name: each for form in all_forms for each in read_definitions(form)}
    hidden = list_private(all_forms)
    exported = {}
    for name, each in made.items():
        if not name.startswith("_"):
            meant = _resolve_alias(each, made)
            exported[name] = evolve(meant, name=name, params=outward(meant.params, hidden))
    return exported


def _resolve_alias(meaning: Meaning, made: Mapping[str, Meaning]) -> Meaning:
    """Return the meaning of a name, or of the name in the same module that it is an alias of."""
    form = meaning.form
    bound = form.items[2] if isinstance(form, ListForm) and len(form.items) == 3 else None
    is_other = meaning.kind == "value" and type(bound) is Name
    return made.get(bound.text, meaning) if is_other else meaning  # type: ignore[union-attr]


def list_private(forms: Iterable[Form]) -> dict[str, str]:
    """Return the private names of a module, each with the text that importers are shown: its
    constant, or `…`."""
    found = {}
    for form in splice(forms):
        for made in read_definitions(form):
            if made.name.startswith("_"):
                last = form.items[-1]  # type: ignore[union-attr]
                found[made.name] = last.span.text if type(last) is Literal else "…"
    return found


def outward(
    params: tuple[Parameter, ...] | None, hidden: Mapping[str, str]
) -> tuple[Parameter, ...] | None:
    """Return parameters without the private names of their module in the defaults."""
    if params is None or not hidden:
        return params
    return tuple([evolve(each, default=_show_default(each.default, hidden)) for each in params])


def _show_default(default: str | None, hidden: Mapping[str, str]) -> str | None:
    if default is None or hidden.keys().isdisjoint(_WORDS.findall(default)):
        return default
    return hidden.get(default, "…")


_WORDS = re.compile(r"[^\s()\[\]{}'`~\"]+")
