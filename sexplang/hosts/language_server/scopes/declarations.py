"""The meanings of names by their defining forms."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import pairwise

from sexplang.compiler.forms.shapes import word_of
from sexplang.hosts.language_server.scopes.meanings import Meaning, Parameter
from sexplang.terms.classes.node import evolve
from sexplang.terms.form import Form, Label, ListForm, Literal, Name
from sexplang.terms.source import Source
from sexplang.terms.template import Template, TemplateNode
from sexplang.terms.values.value import Task


def flat(forms: Iterable[Form]) -> Iterator[Form]:
    """Yield the forms of a body; those of a `begin` in it belong to it."""
    work = list(forms)[::-1]
    while work:
        form = work.pop()
        if word_of(form) in ("begin", "progn") and len(form.items) > 1:  # type: ignore[union-attr]
            work.extend(form.items[:0:-1])  # type: ignore[union-attr]
        else:
            yield form


def read_declaration(form: Form) -> Meaning | None:
    """Return the meaning that a defining form declares; None for another form."""
    make = _MAKERS.get(word_of(form))
    if make is None or len(form.items) < 2:  # type: ignore[union-attr]
        return None
    assert isinstance(form, ListForm)
    return make(form)


def public(forms: Iterable[Form]) -> dict[str, Meaning]:
    """Return the names that a module exports."""
    all_forms = tuple(flat(forms))
    made = {each.name: each for each in map(read_declaration, all_forms) if each is not None}
    known = list_private(all_forms)
    return {
        name: evolve(
            _resolve_alias(each, made),
            name=name,
            params=outward(_resolve_alias(each, made).params, known),
        )
        for name, each in made.items()
        if not _is_private(name)
    }


def _is_private(name: str) -> bool:
    return name.startswith("_")


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
    for form in flat(forms):
        made = read_declaration(form)
        if made is not None and _is_private(made.name):
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


def function(name: Name, form: Form, params: Form | tuple[Form, ...], doc: str = "") -> Meaning:
    """Return the meaning of a function; `params` is a list, or one name for all."""
    found, rest = parameters(params)
    return Meaning(
        name.text,
        "function",
        name.span,
        form.span,
        tuple(parameter for parameter, _ in found),
        rest.text if rest is not None else None,
        doc,
        form=form,
    )


def value(name: Name, form: Form, bound: Form | None = None) -> Meaning:
    """Return the meaning of a bound name: a function if a lambda is bound, else a value."""
    if bound is not None and word_of(bound) in ("lambda", "fn") and len(bound.items) > 2:  # type: ignore[union-attr]
        _, params, *body = bound.items  # type: ignore[union-attr]
        return function(name, form, params, documentation(body))
    return Meaning(name.text, "value", name.span, form.span, form=form)


def parameter(name: Name, form: Form) -> Meaning:
    """Return the meaning of a name that a function, a clause, a pattern or a loop binds."""
    return Meaning(name.text, "parameter", name.span, form.span, form=form)


def parameters(
    params: Form | tuple[Form, ...],
) -> tuple[list[tuple[Parameter, Name]], Name | None]:
    """Return the parameters of `(a (b default) . rest)` with their names, and the rest."""
    if type(params) is Name:
        return [], params
    items = params if isinstance(params, tuple) else getattr(params, "items", ())
    found: list[tuple[Parameter, Name]] = []
    for at, form in enumerate(items):
        if type(form) is Name and form.text == ".":
            after = items[at + 1] if at + 1 < len(items) else None
            return found, after if isinstance(after, Name) else None
        default = None
        if type(form) is ListForm and form.items:
            default = form.items[1].span.text if len(form.items) > 1 else None
            form = form.items[0]
        if type(form) is Name:
            found.append((Parameter(form.text, form.span, default), form))
    return found, None


def documentation(body: Iterable[Form]) -> str:
    """Return the string before the last form of a body, or an empty text."""
    first, *rest = [*body, None]
    if len(rest) > 1 and type(first) is Literal and isinstance(first.value, str):
        return first.value
    return ""


def comment_above(source: Source, offset: int) -> str:
    """Return the lines of comment directly above the line of an offset."""
    number = source.position(offset).line - 1
    found: list[str] = []
    while number > 0 and source.line(number).lstrip().startswith(";"):
        found.append(source.line(number).strip().lstrip(";").strip())
        number -= 1
    return "\n".join(reversed(found))


def task_meaning(template: Template) -> Meaning:
    """Return the meaning of a task by its template."""
    params = tuple(
        Parameter(
            each.name,
            None,
            None if each.required else ("nil" if each.default is None else str(each.default)),
            each.doc,
            each.type,
        )
        for each in template.params
    )
    doc, shape = template.description, Task(template)
    return Meaning(
        template.name, "task", template.span, template.span, params, doc=doc, shape=shape
    )


def function_meaning(node: TemplateNode) -> Meaning:
    """Return the meaning of a template that calls another: a function of its parameters."""
    params = tuple(Parameter(name, None, None) for name in node.params)
    return Meaning(node.name, "function", node.span, node.span, params)


def _define(form: ListForm) -> Meaning | None:
    target = form.items[1]
    made = None
    if type(target) is ListForm and target.items and type(target.items[0]) is Name:
        doc = documentation(form.items[2:])
        made = function(target.items[0], form, target.items[1:], doc)
    elif type(target) is Name:
        made = value(target, form, form.items[2] if len(form.items) > 2 else None)
    return made


def find_label(items: tuple[Form, ...], label: str) -> Form | None:
    """Return the form after a label."""
    for item, after in pairwise(items):
        if type(item) is Label and item.text == label:
            return after
    return None


def _text(form: Form | None) -> str:
    return form.value if type(form) is Literal and isinstance(form.value, str) else ""


def _input(form: ListForm) -> Meaning | None:
    name = form.items[1]
    if type(name) is not Name:
        return None
    doc = _text(find_label(form.items, "doc"))
    return Meaning(name.text, "input", name.span, form.span, doc=doc, form=form)


def _effect(form: ListForm) -> Meaning | None:
    pattern = form.items[1]
    if type(pattern) is not ListForm or not pattern.items or type(pattern.items[0]) is not Name:
        return None
    name = pattern.items[0]
    params = tuple(
        Parameter(each.text, each.span) for each in pattern.items[1:] if type(each) is Name
    )
    doc = _text(form.items[2]) if len(form.items) > 2 else ""
    return Meaning(name.text, "operation", name.span, form.span, params, doc=doc, form=form)


def _syntax(form: ListForm) -> Meaning | None:
    name = form.items[1]
    if type(name) is not Name:
        return None
    return Meaning(name.text, "syntax", name.span, form.span, form=form)


def _atom(form: ListForm) -> Meaning | None:
    name = form.items[1]
    if type(name) is not Name:
        return None
    parts = {word_of(part): part for part in form.items[2:] if type(part) is ListForm}
    listed = parts.get("params")
    params = tuple(_atom_params(listed)) if listed is not None else ()
    description = parts.get("description")
    doc = _text(description.items[1]) if description and len(description.items) > 1 else ""
    return Meaning(name.text, "task", name.span, form.span, params, doc=doc, form=form)


def _atom_params(listed: ListForm) -> Iterator[Parameter]:
    """Yield the parameters `name` and `(name type default: value doc: "…")`."""
    for item in listed.items[1:]:
        parts = item.items if type(item) is ListForm else (item,)
        name, rest = (parts[0], parts[1:]) if parts else (item, ())
        if type(name) is Name:
            kind = rest[0].span.text if rest and type(rest[0]) is Name else ""
            default = find_label(parts, "default")
            yield Parameter(
                name.text,
                name.span,
                None if default is None else default.span.text,
                _text(find_label(parts, "doc")),
                kind,
            )


_MAKERS: dict[str, Callable[[ListForm], Meaning | None]] = {
    "define": _define,
    "bind": _define,
    "define-input": _input,
    "define-effect": _effect,
    "define-syntax": _syntax,
    "defatom": _atom,
}
