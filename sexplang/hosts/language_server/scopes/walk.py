"""The walk over forms that finds scopes and mentions.

The compiler does the same for sound programs; a text that is being written is rarely one.
`binders.py` has the walks of special forms. The parts of any other form are a body.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence

from sexplang.compiler.forms.shapes import word_of
from sexplang.hosts.language_server.scopes.declarations import (
    flat,
    function,
    parameter,
    parameters,
    read_declaration,
    value,
)
from sexplang.hosts.language_server.scopes.meanings import Meaning
from sexplang.hosts.language_server.scopes.scope_table import DEEPEST, Mention, Scope, Scopes
from sexplang.terms.form import Form, Label, ListForm, Name, TableForm, VectorForm


class Walk:
    """One pass over the forms of a text, with a stack of its own."""

    def __init__(
        self, scopes: Scopes, special: Mapping[str, Meaning], walks: "Mapping[str, WalkForm]"
    ) -> None:
        self.scopes = scopes
        self.special = special
        self.walks = walks
        self.work: list[tuple[Form, Scope]] = []
        self.bodies: list[tuple[Sequence[Form], Scope, int]] = []
        """Bodies of functions, which may be nested to any depth."""
        self.defined: list[Meaning] = []

    def over(self, forms: Sequence[Form], scope: Scope) -> None:
        """Walk the top level of a text; `scope` has its imported names."""
        self.scopes.all.append(scope)
        self.body(forms, scope, scope.end)
        while self.work or self.bodies:
            if self.work:
                self._visit(*self.work.pop())
            else:
                self.body(*self.bodies.pop())
        self.scopes.mentions.sort(key=lambda mention: mention.start)
        self.defined.sort(key=_place)

    # -- for walks of special forms

    def push(self, forms: Iterable[Form], scope: Scope) -> None:
        """Walk expressions in a scope."""
        self.work.extend((form, scope) for form in forms)

    def mention(self, form: Form, meaning: Meaning | None) -> None:
        if meaning is not None:
            self.scopes.mentions.append(Mention(form.span.start, form.span.end, meaning))

    def open(self, outer: Scope, names: dict[str, Meaning], start: int, end: int) -> Scope:
        """Open a scope inside another; mention the names at their own places."""
        if outer.depth >= DEEPEST:
            return outer
        scope = outer.inner(names, start, end)
        self.scopes.all.append(scope)
        return scope

    def bind(self, outer: Scope, bound: list[tuple[Name, Meaning]], start: int, end: int) -> Scope:
        """Open a scope with names that are bound at these places."""
        for name, meaning in bound:
            self.mention(name, meaning)
        names = {name.text: meaning for name, meaning in bound if name.text != "_"}
        return self.open(outer, names, start, end) if names else outer

    def body(self, forms: Sequence[Form], outer: Scope, end: int) -> None:
        """Walk a body: a definition is visible in all of it, a `bind` from there on."""
        if not forms:
            return
        self._begins(forms)
        items = list(flat(forms))
        made = [read_declaration(form) for form in items]
        names: dict[str, Meaning] = {}
        for form, meaning in zip(items, made, strict=True):
            if meaning is not None and word_of(form) != "bind":
                names.setdefault(meaning.name, meaning)
        scope = self.open(outer, names, forms[0].span.start, end) if names else outer
        for form, meaning in zip(items, made, strict=True):
            if meaning is None:
                self.push([form], scope)
                continue
            self._define_meaning(meaning)
            if word_of(form) == "bind":
                after = self.open(scope, {meaning.name: meaning}, form.span.end, end)
                # The right side sees the old value, but a function sees itself.
                self._define(form, after if meaning.kind == "function" else scope)  # type: ignore[arg-type]
                scope = after
            else:
                self._define(form, scope)  # type: ignore[arg-type]

    def _begins(self, forms: Iterable[Form]) -> None:
        work = list(forms)
        while work:
            form = work.pop()
            if word_of(form) in ("begin", "progn"):
                assert isinstance(form, ListForm)
                self.mention(form.items[0], self.special.get(word_of(form)))
                work.extend(form.items[1:])

    def _define_meaning(self, meaning: Meaning) -> None:
        self.defined.append(meaning)
        if meaning.name_span is not None:
            at = meaning.name_span
            self.scopes.mentions.append(Mention(at.start, at.end, meaning))

    def _define(self, form: ListForm, scope: Scope) -> None:
        word = word_of(form)
        self.mention(form.items[0], self.special.get(word))
        if word not in ("define", "bind"):
            walk_form = self.walks.get(word)
            if walk_form is not None:
                walk_form(self, form, scope)
            return
        target = form.items[1]
        if type(target) is ListForm:
            self.function(target.items[1:], form.items[2:], scope, form)
        else:
            self.push(form.items[2:], scope)

    def function(
        self,
        params: Form | tuple[Form, ...],
        body: Sequence[Form],
        outer: Scope,
        form: Form,
    ) -> None:
        """Walk parameters and a body; the defaults see the parameters."""
        found, rest = parameters(params)
        bound = [(name, parameter(name, form)) for _, name in found]
        if rest is not None:
            bound.append((rest, parameter(rest, form)))
        scope = self.bind(outer, bound, form.span.start, form.span.end)
        items = params if isinstance(params, tuple) else getattr(params, "items", ())
        for item in items:
            if type(item) is ListForm:
                self.push(item.items[1:], scope)
        self.bodies.append((body, scope, form.span.end))

    # -- any form

    def _visit(self, form: Form, scope: Scope) -> None:
        if scope.depth >= DEEPEST:
            return
        if type(form) is Name:
            self.mention(form, scope.find(form.text) or self.special.get(form.text))
        elif type(form) is ListForm:
            self._list(form, scope)
        elif isinstance(form, (VectorForm, TableForm)):
            self.push(form.items, scope)

    def _list(self, form: ListForm, scope: Scope) -> None:
        word = word_of(form)
        if word in self.special:
            self.mention(form.items[0], self.special[word])
            walk_form = self.walks.get(word)
            if walk_form is not None:
                walk_form(self, form, scope)
            elif read_declaration(form) is not None:
                self.body([form], scope, form.span.end)
            else:
                self.body(form.items[1:], scope, form.span.end)
            return
        callee = scope.find(word) if word else None
        for item in form.items:
            if type(item) is Label and callee is not None:
                self.mention(item, _find_label(callee, item))
        self.push(form.items, scope)


_LONGEST = 1_000
"""The most characters of a signature in the documentation of a label."""


def _find_label(callee: Meaning, label: Label) -> Meaning | None:
    param = callee.param(label.text)
    if param is None:
        return None
    place = param.span or callee.name_span
    doc = " · ".join(
        part for part in (f"of `{callee.signature[:_LONGEST]}`", param.type, param.doc) if part
    )
    return Meaning(param.name, "parameter", place, callee.span, doc=doc, form=callee.form)


def _place(meaning: Meaning) -> int:
    return meaning.span.start if meaning.span is not None else 0


WalkForm = Callable[[Walk, ListForm, Scope], None]


def pairs(listing: Form | None) -> list[tuple[Name, Form | None]]:
    """Return the names and expressions of `((name e) …)`, as far as it is written."""
    found: list[tuple[Name, Form | None]] = []
    for pair in getattr(listing, "items", ()):
        if type(pair) is ListForm and pair.items and type(pair.items[0]) is Name:
            found.append((pair.items[0], pair.items[1] if len(pair.items) > 1 else None))
    return found


def bound_to(found: list[tuple[Name, Form | None]], form: Form) -> list[tuple[Name, Meaning]]:
    """Return the names of bindings with their meanings."""
    return [(name, value(name, form, made)) for name, made in found]


def name_function(name: Name, form: Form, found: list[tuple[Name, Form | None]]) -> Meaning:
    """Return the meaning of the function of a named let."""
    return function(name, form, tuple(param for param, _ in found))
