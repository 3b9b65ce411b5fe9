"""The scopes of a text and the names that it mentions, found by one walk over its forms.

The compiler does the same for sound programs; a text that is being written is rarely one. Where a
special form binds names, the compiler's table says.
"""

from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from itertools import pairwise

from sexplang.compiler.forms.patterns import is_pattern, names_in
from sexplang.compiler.forms.shapes import (
    QUOTING,
    Role,
    Shape,
    shape_of,
    splice,
    word_of,
)
from sexplang.hosts.reference.meanings import (
    Meaning,
    function,
    parameter,
    parameters,
    read_definitions,
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
        head, _, rest = name.partition(".")
        base = self._bound(name) or self._bound(head)
        if base is None or base.kind != "module" or not rest:
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
        self.work: list[Callable[[], None]] = []
        """What is still to be walked: forms may be nested to any depth."""

    def over(self, forms: Sequence[Form], scope: Scope) -> Scopes:
        """Walk the top level of a text; `scope` has its imported names."""
        self.scopes.all += [scope] if scope.outer is None else [scope.outer, scope]
        self.body(forms, scope, scope.end)
        while self.work:
            self.work.pop()()
        self.scopes.mentions.sort(key=lambda mention: mention.start)
        self.scopes.defined.sort(key=lambda meaning: meaning.span.start if meaning.span else 0)
        return self.scopes

    def push(self, forms: Iterable[Form], scope: Scope) -> None:
        """Walk expressions in a scope."""
        self.work.extend(partial(self._visit, form, scope) for form in forms)

    def mention(self, form: Form, meaning: Meaning | None) -> None:
        if meaning is not None:
            self.scopes.mentions.append(Mention(form.span.start, form.span.end, meaning))

    def mention_types(self, form: Form, scope: Scope) -> None:
        """Mention the names of types in a type."""
        work = [form]
        while work:
            part = work.pop()
            if type(part) is Name:
                found = scope.find(part.text.rstrip("[]"))
                self.mention(part, found if found is not None and found.kind == "type" else None)
            elif isinstance(part, (ListForm, VectorForm, TableForm)):
                work += part.items

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

    def body(self, forms: Sequence[Form], outer: Scope, end: int) -> None:
        """Walk a body: a definition is seen in all of it, one that rebinds from there on."""
        if not forms:
            return
        items = [(form, read_definitions(form)) for form in splice(forms)]
        names: dict[str, Meaning] = {}
        for form, found in items:
            for made in found:
                if not shape_of(form).rebinds:  # type: ignore[union-attr]
                    names.setdefault(made.name, made)
        scope = self._open(outer, names, forms[0].span.start, end)
        for form, found in items:
            if not found or not isinstance(form, ListForm):
                self.push([form], scope)
                continue
            self.scopes.defined += found
            for made in found:
                at = made.name_span or form.span
                self.scopes.mentions.append(Mention(at.start, at.end, made))
            before = scope
            if shape_of(form).rebinds:  # type: ignore[union-attr]
                new = {made.name: made for made in found}
                scope = self._open(scope, new, form.span.end, end)
            # The right side sees the old value, but a function sees itself.
            self._special(form, scope if found[0].kind == "function" else before)

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
        found = read_definitions(form)
        if found and found[0].kind in ("function", "value"):
            self.body([form], scope, form.span.end)
        else:
            self._special(form, scope)

    def _special(self, form: ListForm, scope: Scope) -> None:
        """Walk a special form, or a list that begins with a word of one."""
        self.mention(form.items[0], self.special.get(word_of(form)))
        shape = shape_of(form) or _NO_SHAPE
        items: Sequence[Form] = form.items[1:]
        parts = [each for each in items if word_of(each) in shape.parts] if shape.parts else []
        if parts:
            items = [each for each in items if word_of(each) not in shape.parts]
        rest = [*self._operands(form, items, shape.operands, scope), *parts]
        for before, each in pairwise([form, *rest]):
            label = shape.labels.get(before.text) if type(before) is Label else None
            roles = shape.parts.get(word_of(each), shape.clauses)
            if type(each) is ListForm and roles:
                self._operands(each, each.items, roles, scope)
            elif shape.clauses or label == "expression":
                self.push([each], scope)
            elif label == "type":
                self.mention_types(each, scope)

    def _operands(
        self, form: ListForm, items: Sequence[Form], roles: Sequence[Role], scope: Scope
    ) -> Iterable[Form]:
        """Walk operands by their roles; return those without one."""
        operands = _Operands(self, form, deque(items), scope, scope)
        for role in roles:
            operands.take(role)
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

    Values are walked in `outer`, where none of the names is bound. `names` wait for the body. If
    the form `is_function`, its bindings are parameters.
    """

    walk: Walk
    form: ListForm
    rest: deque[Form]
    outer: Scope
    inner: Scope
    names: list[Name] = field(factory=list)
    is_function: bool = False

    def take(self, role: Role) -> None:
        """Walk the next operand, or all of the rest, by its role."""
        if role in ("body", "spliced body"):
            scope = self._bind_params(self.inner, self.names)
            end = self.form.span.end
            self.walk.work.append(partial(self.walk.body, tuple(self.rest), scope, end))
            self.rest.clear()
        if not self.rest:
            return
        item = self.rest.popleft()
        items = item.items if isinstance(item, ListForm) else ()
        is_listing = type(item) is ListForm and (not items or type(items[0]) is ListForm)
        match role:
            case "expression":
                self.walk.push([item], self.outer)
            case "type":
                self.walk.mention_types(item, self.outer)
            case "typed parameters":
                for each in (item, *self.rest):
                    self.walk.mention_types(each, self.outer)
            case "quasidatum":
                self._quasidatum(item)
            case "parameters":
                self._parameters(item)
            case "defined pattern or call" if type(item) is ListForm and not is_pattern(item):
                self._parameters(items[1:])
            case "defined pattern or call":
                self.walk.push(_predicates(item), self.outer)
            case "defined typed call":
                self._bind_typed(items[1:])
            case "function name" if type(item) is Name:
                self._function(item)
            case "function name":
                self.rest.appendleft(item)
            case "bindings or expression" if not is_listing:
                self.walk.push([item], self.outer)
            case "bindings" | "bindings or expression":
                self._bind(_pairs(item), item.span.end, self.outer)
            case "bindings of all":
                self._bind(_pairs(item), self.form.span.start, None)
            case "bindings in order":
                for target, made in _pairs(item):
                    self._bind([(target, made)], (made or target).span.end, self.inner)
            case "pattern":
                self._pattern(item)
            case "operation":
                self.walk.push(items[:1], self.outer)
                self._wait(items[1:])
            case "caught error":
                self._wait(items[:1])
            case "name":
                self._wait([item])

    def _wait(self, names: Iterable[Form]) -> None:
        self.names += [name for name in names if type(name) is Name]

    def _bind_params(self, outer: Scope, names: Iterable[Name]) -> Scope:
        """Return a scope with names that are bound in all of the form."""
        bound = [(name, parameter(name, self.form)) for name in names]
        return self.walk.bind(outer, bound, self.form.span.start, self.form.span.end)

    def _parameters(self, params: Form | tuple[Form, ...]) -> None:
        """Bind parameters; the defaults see them."""
        found, rest = parameters(params)
        targets = [target for _, target in found] + ([rest] if rest is not None else [])
        names = [name for target in targets for name in names_in(target)]
        self.inner = self._bind_params(self.outer, names)
        for item in params if isinstance(params, tuple) else getattr(params, "items", ()):
            if type(item) is ListForm and word_of(item) != "?":
                self.walk.push(item.items[1:], self.inner)
        for target in targets:
            self.walk.push(_predicates(target), self.inner)

    def _bind_typed(self, params: tuple[Form, ...]) -> None:
        """Bind parameters `(name T default: e)`; the defaults see them."""
        names = [each.items[0] if isinstance(each, ListForm) else each for each in params]
        bound = [name for name in names if type(name) is Name]
        self.inner = self._bind_params(self.outer, bound)
        for each in params:
            for before, after in pairwise(getattr(each, "items", ())):
                label = before.text if type(before) is Label else ""
                if label == "default":
                    self.walk.push([after], self.inner)
                elif label == "type" or (before in bound and type(after) is not Label):
                    self.walk.mention_types(after, self.outer)

    def _quasidatum(self, item: Form) -> None:
        work = [(item, 1)]
        while work:
            item, level = work.pop()
            if isinstance(item, (ListForm, VectorForm, TableForm)):
                level += QUOTING.get(word_of(item), 0)
                if level == 0:
                    self.walk.push(item.items[1:], self.outer)
                else:
                    work.extend((part, level) for part in item.items)

    def _pattern(self, pattern: Form) -> None:
        """Bind the names of a pattern: `x  [p . r]  {k: p}  (? predicate p)  'symbol`."""
        self.names += names_in(pattern)
        self.walk.push(_predicates(pattern), self.outer)

    def _function(self, name: Name) -> None:
        """Bind the name of a function whose parameters are the bindings that follow."""
        listing = self.rest[0] if self.rest else name
        made = function(name, self.form, tuple(target for target, _ in _pairs(listing)))
        self.is_function = True
        end = self.form.span.end
        self.inner = self.walk.bind(self.inner, [(name, made)], listing.span.end, end)

    def _bind(
        self, found: Sequence[tuple[Form, Form | None]], start: int, seen: Scope | None
    ) -> None:
        """Bind names and patterns to values, which see a scope, or if it is None each other."""
        bound = [
            (name, self._meaning(name, made if name is target else None))
            for target, made in found
            for name in names_in(target)
        ]
        self.inner = self.walk.bind(self.inner, bound, start, self.form.span.end)
        self.walk.push([made for _, made in found if made is not None], seen or self.inner)
        for target, _ in found:
            self.walk.push(_predicates(target), seen or self.inner)

    def _meaning(self, name: Name, made: Form | None) -> Meaning:
        if self.is_function:
            return parameter(name, self.form)
        return value(name, self.form, made)


def _pairs(listing: Form) -> list[tuple[Form, Form | None]]:
    """Return the names or patterns and the expressions of `((name e) …)`, as far as it is
    written."""
    found: list[tuple[Form, Form | None]] = []
    for pair in getattr(listing, "items", ()):
        target = pair.items[0] if type(pair) is ListForm and pair.items else None
        if target is not None and (type(target) is Name or is_pattern(target)):
            found.append((pair.items[0], pair.items[1] if len(pair.items) > 1 else None))
    return found


def _predicates(pattern: Form) -> list[Form]:
    """Return the predicates in a pattern."""
    found: list[Form] = []
    work = [pattern]
    while work:
        form = work.pop()
        if type(form) is ListForm and word_of(form) == "?":
            found += form.items[1:2]
            work += form.items[2:]
        elif isinstance(form, (VectorForm, TableForm)):
            work += form.items
    return found
