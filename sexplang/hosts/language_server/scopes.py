"""The scopes of a text and the names that it mentions, found by one walk over its forms.

The compiler does the same for sound programs; a text that is being written is rarely one. Where a
special form binds names, the compiler's table says.
"""

from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from itertools import pairwise

from sexplang.compiler.forms.shapes import QUOTING, SPLICED, Role, Shape, shape_of, splice, word_of
from sexplang.hosts.language_server.meanings import (
    Meaning,
    function,
    parameter,
    parameters,
    read_definition,
    value,
)
from sexplang.terms.classes.node import define, field, frozen
from sexplang.terms.form import Form, Label, ListForm, Name, TableForm, VectorForm

DEEPEST = 500
"""The deepest nesting of scopes. Deeper forms are not walked, so that an answer takes a moment."""


@define(eq=False)
class Scope:
    """A range of the text and the names that are bound in all of it."""

    outer: "Scope | None"
    names: dict[str, Meaning]
    start: int
    end: int
    depth: int = 0

    def find(self, name: str) -> Meaning | None:
        """Return the meaning of a name here; of a path such as `plan.notes` that of its head, or
        of the member of a module."""
        found = self._bound(name)
        head, dot, rest = name.partition(".")
        if found is not None or not dot:
            return found
        base = self._bound(head)
        if base is None or base.kind != "module":
            return base
        return base.members.get(rest) or base.members.get(rest.partition(".")[0])

    def _bound(self, name: str) -> Meaning | None:
        scope: Scope | None = self
        while scope is not None:
            if name in scope.names:
                return scope.names[name]
            scope = scope.outer
        return None


@frozen
class Mention:
    """A range of the text that mentions a meaning."""

    start: int
    end: int
    meaning: Meaning


@define(eq=False)
class Scopes:
    """All scopes of a text, the widest first; the mentions and definitions in its order."""

    all: list[Scope] = field(factory=list)
    mentions: list[Mention] = field(factory=list)
    defined: list[Meaning] = field(factory=list)

    def visible(self, offset: int) -> dict[str, Meaning]:
        """Return every name that is bound at an offset, with its meaning there."""
        names: dict[str, Meaning] = {}
        around = [scope for scope in self.all if scope.start <= offset <= scope.end]
        for scope in sorted(around, key=lambda scope: scope.depth):
            names.update(scope.names)
        return names

    def mention_at(self, offset: int) -> Mention | None:
        """Return the mention at an offset, or the one that ends there."""
        found = None
        for mention in self.mentions:
            if mention.start <= offset < mention.end:
                return mention
            if mention.end == offset:
                found = mention
        return found


class Walk:
    """One pass over the forms of a text, with a stack of its own."""

    def __init__(self, special: Mapping[str, Meaning]) -> None:
        self.special = special
        self.scopes = Scopes()
        self.work: list[tuple[Form, Scope]] = []
        self.bodies: list[tuple[Sequence[Form], Scope, int]] = []
        """Bodies of forms, which may be nested to any depth."""

    def over(self, forms: Sequence[Form], scope: Scope) -> Scopes:
        """Walk the top level of a text; `scope` has its imported names."""
        self.scopes.all += [scope] if scope.outer is None else [scope.outer, scope]
        self._body(forms, scope, scope.end)
        while self.work or self.bodies:
            if self.work:
                self._visit(*self.work.pop())
            else:
                self._body(*self.bodies.pop())
        self.scopes.mentions.sort(key=lambda mention: mention.start)
        self.scopes.defined.sort(key=lambda meaning: meaning.span.start if meaning.span else 0)
        return self.scopes

    def push(self, forms: Iterable[Form], scope: Scope) -> None:
        """Walk expressions in a scope."""
        self.work.extend((form, scope) for form in forms)

    def mention(self, form: Form, meaning: Meaning | None) -> None:
        if meaning is not None:
            self.scopes.mentions.append(Mention(form.span.start, form.span.end, meaning))

    def bind(
        self, outer: Scope, bound: Sequence[tuple[Name, Meaning]], start: int, end: int
    ) -> Scope:
        """Return a scope with names that are bound at these places; `outer` if there are none."""
        for name, meaning in bound:
            self.mention(name, meaning)
        return self._open(
            outer, {name.text: each for name, each in bound if name.text != "_"}, start, end
        )

    def _open(self, outer: Scope, names: dict[str, Meaning], start: int, end: int) -> Scope:
        if not names or outer.depth >= DEEPEST:
            return outer
        scope = Scope(outer, names, start, end, outer.depth + 1)
        self.scopes.all.append(scope)
        return scope

    def _body(self, forms: Sequence[Form], outer: Scope, end: int) -> None:
        """Walk a body: a definition is seen in all of it, one that rebinds from there on."""
        if not forms:
            return
        self._mention_splices(forms)
        items = [(form, read_definition(form)) for form in splice(forms)]
        names: dict[str, Meaning] = {}
        for form, made in items:
            if made is not None and not shape_of(form).rebinds:  # type: ignore[union-attr]
                names.setdefault(made.name, made)
        scope = self._open(outer, names, forms[0].span.start, end)
        for form, made in items:
            if made is None or not isinstance(form, ListForm):
                self.push([form], scope)
                continue
            self.scopes.defined.append(made)
            if made.name_span is not None:
                at = made.name_span
                self.scopes.mentions.append(Mention(at.start, at.end, made))
            before = scope
            if shape_of(form).rebinds:  # type: ignore[union-attr]
                scope = self._open(scope, {made.name: made}, form.span.end, end)
            # The right side sees the old value, but a function sees itself.
            self._special(form, scope if made.kind == "function" else before)

    def _mention_splices(self, forms: Iterable[Form]) -> None:
        work = list(forms)
        while work:
            form = work.pop()
            if isinstance(form, ListForm) and word_of(form) in SPLICED:
                self.mention(form.items[0], self.special.get(word_of(form)))
                work.extend(form.items[1:])

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
        if word not in self.special:
            callee = scope.find(word) if word else None
            for item in form.items:
                if type(item) is Label and callee is not None:
                    self.mention(item, _find_label(callee, item))
            self.push(form.items, scope)
            return
        made = read_definition(form)
        if made is not None and made.kind in ("function", "value"):
            self._body([form], scope, form.span.end)
        else:
            self._special(form, scope)

    def _special(self, form: ListForm, scope: Scope) -> None:
        """Walk a special form, or a list that begins with a word of one."""
        self.mention(form.items[0], self.special.get(word_of(form)))
        shape = shape_of(form) or _NO_SHAPE
        items = form.items[1:]
        parts = [each for each in items if word_of(each) in shape.parts] if shape.parts else []
        if parts:
            items = tuple(each for each in items if word_of(each) not in shape.parts)
        rest = self._operands(form, items, shape.operands, scope)
        for clause in rest if shape.clauses else ():
            if type(clause) is ListForm:
                self._operands(clause, clause.items, shape.clauses, scope)
            else:
                self.push([clause], scope)
        for part in parts:
            assert isinstance(part, ListForm)
            self.mention(part.items[0], self.special.get(word_of(part)))
            self._operands(part, part.items[1:], shape.parts[word_of(part)], scope)

    def _operands(
        self, form: ListForm, items: Sequence[Form], roles: Sequence[Role], scope: Scope
    ) -> Iterable[Form]:
        """Walk operands by their roles; return those without one."""
        operands = _Operands(self, form, deque(items), scope, scope)
        for role in roles:
            if operands.rest or role == "body":
                _ROLES.get(role, _Operands.leave)(operands)
        return operands.rest


_NO_SHAPE = Shape("", 0)
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


@define(eq=False)
class _Operands:
    """The operands of a form or clause that are not walked yet, and the scope that they see.

    Values are walked in `outer`, where none of the names is bound. `names` wait for the body.
    """

    walk: Walk
    form: ListForm
    rest: deque[Form]
    outer: Scope
    inner: Scope
    names: list[Name] = field(factory=list)

    def leave(self) -> None:
        """Walk nothing: the operand is no expression."""
        self.rest.popleft()

    def expression(self) -> None:
        self.walk.push([self.rest.popleft()], self.outer)

    def body(self) -> None:
        bound = [(name, parameter(name, self.form)) for name in self.names]
        span = self.form.span
        scope = self.walk.bind(self.inner, bound, span.start, span.end)
        self.walk.bodies.append((tuple(self.rest), scope, span.end))
        self.rest.clear()

    def labels(self) -> None:
        shape = shape_of(self.form) or _NO_SHAPE
        for label, item in pairwise(self.rest):
            if type(label) is Label and shape.labels.get(label.text, "expression") == "expression":
                self.walk.push([item], self.outer)

    def quasidatum(self) -> None:
        work = [(self.rest.popleft(), 1)]
        while work:
            item, level = work.pop()
            if not isinstance(item, (ListForm, VectorForm, TableForm)):
                continue
            level += QUOTING.get(word_of(item), 0)
            if level == 0:
                self.walk.push(item.items[1:], self.outer)
            else:
                work.extend((part, level) for part in item.items)

    def target(self) -> None:
        """Bind the parameters of a defined `(name param…)`."""
        target = self.rest.popleft()
        if type(target) is ListForm:
            self._bind_parameters(target.items[1:])

    def parameters(self) -> None:
        self._bind_parameters(self.rest.popleft())

    def _bind_parameters(self, params: Form | tuple[Form, ...]) -> None:
        """Bind parameters; the defaults see them."""
        found, rest = parameters(params)
        names = [name for _, name in found] + ([rest] if rest is not None else [])
        bound = [(name, parameter(name, self.form)) for name in names]
        span = self.form.span
        self.inner = self.walk.bind(self.outer, bound, span.start, span.end)
        for item in params if isinstance(params, tuple) else getattr(params, "items", ()):
            if type(item) is ListForm:
                self.walk.push(item.items[1:], self.inner)

    def function_name(self) -> None:
        if type(self.rest[0]) is Name:
            name = self.rest.popleft()
            listing = self.rest[0] if self.rest else name
            params = tuple(param for param, _ in _pairs(listing))
            bound = [(name, function(name, self.form, params))]
            self.inner = self.walk.bind(self.inner, bound, listing.span.end, self.form.span.end)

    def bindings(self, are_seen_by_all: bool = False) -> None:
        listing, form = self.rest.popleft(), self.form
        found = _pairs(listing)
        bound = [(name, value(name, form, made)) for name, made in found]
        if self.inner is not self.outer:
            bound = [(name, parameter(name, form)) for name, _ in found]
        start = form.span.start if are_seen_by_all else listing.span.end
        self.inner = self.walk.bind(self.inner, bound, start, form.span.end)
        values = [made for _, made in found if made is not None]
        self.walk.push(values, self.inner if are_seen_by_all else self.outer)

    def bindings_or_expression(self) -> None:
        first = self.rest[0]
        if type(first) is ListForm and (not first.items or type(first.items[0]) is ListForm):
            self.bindings()
        else:
            self.expression()

    def bindings_in_order(self) -> None:
        for name, made in _pairs(self.rest.popleft()):
            self.walk.push([] if made is None else [made], self.inner)
            start = name.span.end if made is None else made.span.end
            bound = [(name, value(name, self.form, made))]
            self.inner = self.walk.bind(self.inner, bound, start, self.form.span.end)

    def name(self) -> None:
        self._add([self.rest.popleft()])

    def _add(self, forms: Iterable[Form]) -> None:
        self.names += [form for form in forms if type(form) is Name]

    def error(self) -> None:
        self._add(getattr(self.rest.popleft(), "items", ())[:1])

    def operation(self) -> None:
        pattern = self.rest.popleft()
        if type(pattern) is ListForm:
            self.walk.push(pattern.items[:1], self.outer)
            self._add(pattern.items[1:])

    def guard_word(self) -> None:
        word = self.rest[0]
        if type(word) is Name and word.text in self.walk.special and len(self.rest) > 1:
            self.walk.mention(self.rest.popleft(), self.walk.special[word.text])

    def pattern(self) -> None:
        """Add the names of a pattern: `x  [p . r]  {k: p}  (? predicate p)  'symbol`."""
        work = [self.rest.popleft()]
        while work:
            form = work.pop()
            if type(form) is Name and form.text not in ("_", ".", "..."):
                self.names.append(form)
            elif type(form) is ListForm and word_of(form) == "?":
                self.walk.push(form.items[1:2], self.outer)
                work += form.items[2:]
            elif isinstance(form, (ListForm, VectorForm, TableForm)) and not shape_of(form):
                work += form.items


_ROLES: dict[Role, Callable[[_Operands], None]] = {
    "body": _Operands.body,
    "spliced body": _Operands.body,
    "labels": _Operands.labels,
    "expression": _Operands.expression,
    "quasidatum": _Operands.quasidatum,
    "defined name or call": _Operands.target,
    "name": _Operands.name,
    "parameters": _Operands.parameters,
    "function name": _Operands.function_name,
    "bindings": _Operands.bindings,
    "bindings or expression": _Operands.bindings_or_expression,
    "bindings in order": _Operands.bindings_in_order,
    "bindings of all": partial(_Operands.bindings, are_seen_by_all=True),
    "pattern": _Operands.pattern,
    "guard word": _Operands.guard_word,
    "operation": _Operands.operation,
    "caught error": _Operands.error,
}


def _pairs(listing: Form) -> list[tuple[Name, Form | None]]:
    """Return the names and expressions of `((name e) …)`, as far as it is written."""
    found: list[tuple[Name, Form | None]] = []
    for pair in getattr(listing, "items", ()):
        if type(pair) is ListForm and pair.items and type(pair.items[0]) is Name:
            found.append((pair.items[0], pair.items[1] if len(pair.items) > 1 else None))
    return found
