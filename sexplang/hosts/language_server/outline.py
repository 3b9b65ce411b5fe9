"""The outline of a text: its tokens, forms, scopes, mentions and definitions."""

from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping
from itertools import islice

from sexplang.compiler.forms.shapes import shape_of
from sexplang.hosts.language_server.scopes import Scope, Scopes, Walk
from sexplang.hosts.language_server.tolerant_tree import forms_of
from sexplang.hosts.reference.language_names import prelude, special
from sexplang.hosts.reference.meanings import Meaning
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

    @property
    def source(self) -> Source:
        return self.text.source


MOST = 200_000
"""The most tokens of a text that are read: some 800 KB of a program."""


def text_of(source: Source) -> Text:
    """Read a source: as much of it as takes a moment."""
    found = tuple(islice(tokens(source.text), MOST))
    forms = forms_of(source, found)
    return Text(source, found, forms, tuple(_imports_of(forms)))


def outline(text: Text, load: Load) -> Outline:
    """Return the outline of a text, broken or not."""
    names: dict[str, Meaning] = {}
    walk = Walk(special())
    for each in text.imports:
        members = dict(load(each.path))
        if each.alias is None:
            names.update(members)
        else:
            name, span = each.alias.text, each.alias.span
            names[name] = Meaning(
                name, "module", span, each.form.span, doc=each.path, members=members
            )
            walk.mention(each.alias, names[name])
    end = len(text.source.text)
    scope = Scope(Scope(None, dict(prelude()), 0, end), names, 0, end)
    return Outline(text, walk.over(text.forms, scope))


def _imports_of(forms: tuple[Form, ...]) -> Iterator[Import]:
    """Yield the imports at the top of a text."""
    for form in forms:
        shape = shape_of(form)
        if not isinstance(form, ListForm) or shape is None or shape.operands != ("path",):
            continue
        target = form.items[1] if len(form.items) > 1 else form
        path = None
        if type(target) is Literal and isinstance(target.value, str):
            path = target.value
        elif type(target) is Name and target.text.startswith("std/"):
            path = target.text
        if path is not None:
            alias = None
            if len(form.items) == 4 and type(form.items[2]) is Label:
                alias = form.items[3] if isinstance(form.items[3], Name) else None
            yield Import(form, target, path, alias)
