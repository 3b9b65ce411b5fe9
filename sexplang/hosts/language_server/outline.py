"""The outline of a text: its tokens, forms, scopes, mentions and definitions."""

from bisect import bisect_left
from collections.abc import Callable, Mapping
from functools import cache
from itertools import islice

from sexplang.compiler.forms.shapes import word_of
from sexplang.hosts.language_server.scopes.binders import WALKS
from sexplang.hosts.language_server.scopes.declarations import public
from sexplang.hosts.language_server.scopes.meanings import Meaning, Parameter
from sexplang.hosts.language_server.scopes.scope_table import Scope, Scopes
from sexplang.hosts.language_server.scopes.tolerant_tree import forms_of
from sexplang.hosts.language_server.scopes.walk import Walk
from sexplang.hosts.language_server.syntax_lines import special
from sexplang.hosts.tokens import Token, tokens
from sexplang.terms.classes.node import frozen
from sexplang.terms.form import Form, Label, ListForm, Literal, Name
from sexplang.terms.source import Source

Load = Callable[[str], Mapping[str, Meaning]]
"""`load(path)` returns the public names of an import; empty if it cannot be read."""


@frozen(eq=False)
class Import:
    """`(import "path" as: alias)`"""

    form: ListForm
    target: Form
    path: str
    alias: Name | None


@frozen(eq=False)
class Text:
    """A text as it was read, broken or not."""

    source: Source
    tokens: tuple[Token, ...]
    forms: tuple[Form, ...]
    imports: tuple[Import, ...]

    def token_at(self, offset: int) -> Token | None:
        """Return the token at an offset; of two that touch there, the one before."""
        at = bisect_left(self.tokens, offset, key=lambda token: token.end)
        return self.tokens[at] if at < len(self.tokens) else None


@frozen(eq=False)
class Outline:
    """The outline of a text."""

    text: Text
    scopes: Scopes
    defined: tuple[Meaning, ...]
    """All definitions, in the order of the text."""

    @property
    def source(self) -> Source:
        return self.text.source


MOST = 200_000
"""The most tokens of a text that are read: some 800 KB of a program."""


def text_of(source: Source) -> Text:
    """Read a source: as much of it as takes a moment."""
    found = tuple(islice(tokens(source.text), MOST))
    forms = forms_of(source, found)
    return Text(source, found, forms, _imports_of(forms))


def outline(text: Text, load: Load) -> Outline:
    """Return the outline of a text, broken or not."""
    names: dict[str, Meaning] = {}
    for each in text.imports:
        members = dict(load(each.path))
        if each.alias is None:
            names.update(members)
        else:
            span = each.alias.span
            names[each.alias.text] = Meaning(
                each.alias.text, "module", span, each.form.span, doc=each.path, members=members
            )
    end = len(text.source.text)
    scopes = Scopes(prelude())
    walk = Walk(scopes, special(), WALKS)
    walk.over(text.forms, Scope(Scope(None, dict(prelude()), 0, end), names, 0, end))
    for each in text.imports:
        if each.alias is not None:
            walk.mention(each.alias, names[each.alias.text])
    return Outline(text, scopes, tuple(walk.defined))


def _imports_of(forms: tuple[Form, ...]) -> tuple[Import, ...]:
    """Return the imports at the top of a text."""
    found = (_import(form) for form in forms if word_of(form) == "import")
    return tuple(each for each in found if each is not None)


def _import(form: Form) -> Import | None:
    assert isinstance(form, ListForm)
    if len(form.items) < 2:
        return None
    target = form.items[1]
    if type(target) is Literal and isinstance(target.value, str):
        path = target.value
    elif type(target) is Name and target.text.startswith("std/"):
        path = target.text
    else:
        return None
    alias = None
    if len(form.items) == 4 and type(form.items[2]) is Label and type(form.items[3]) is Name:
        alias = form.items[3]
    return Import(form, target, path, alias)


@cache
def prelude() -> Mapping[str, Meaning]:
    """Return the names that every program has."""
    from sexplang.machine import HIGHER
    from sexplang.package.package_data import read_shipped
    from sexplang.pipeline.pipeline import STANDARD
    from sexplang.primitives import OPERATIONS, PRIMITIVES

    names: dict[str, Meaning] = {}
    for name, primitive in PRIMITIVES.items():
        names[name] = Meaning(name, "primitive", doc=primitive.doc, shape=primitive)
    for name, higher in HIGHER.items():
        names[name] = Meaning(name, "primitive", doc=higher.doc, shape=higher)
    for name, operation in OPERATIONS.items():
        params = tuple(Parameter(each) for each in operation.params)
        names[name] = Meaning(name, "operation", params=params, doc=operation.doc, shape=operation)
    for name, module in STANDARD.items():
        text = text_of(standard(module, read_shipped(f"stdlib/{module}.sexp")))
        members = public(text.forms)
        if name in members:
            names[name] = members[name]
    return names


def standard(module: str, text: str) -> Source:
    """Return a module of the standard library under the pipeline's name for it."""
    return Source(f"std/{module}", text)
