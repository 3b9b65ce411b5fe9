"""Compilation of a rule's template, with the variables that each ellipsis repeats.

A variable under several ellipses in the pattern is repeated by as many in the template, in the same
order. If the template has more, an ellipsis repeats the variables that need it, and with them all
variables of the same ellipsis of the pattern. So `(((a b) ...) ...)` for `((a b ...) ...)` keeps
each a with its own bs, and `((x y ...) ...)` for `(x ...) (y ...)` gives all ys to each x.
"""

from typing import Any

from sexplang.expander.macro_diagnostics import flaw
from sexplang.expander.rule_nodes import (
    FixedForm,
    Group,
    MacroContext,
    Path,
    Repeat,
    Template,
    TemplateName,
    TemplateVariable,
    VariableField,
)
from sexplang.expander.rule_patterns import DEEPEST
from sexplang.terms.classes.node import define
from sexplang.terms.form import MARK, Form, ListForm, Name, TableForm, VectorForm
from sexplang.terms.source import Span


@define(eq=False)
class _Mention:
    """A variable in a template: the ellipses still to be repeated, and the ellipses around it."""

    name: str
    span: Span
    path: Path
    left: int


class _Templates:
    """The compilation of one template, by the same method as for a pattern."""

    def __init__(self, reading: MacroContext, paths: dict[str, Path]) -> None:
        self.reading = reading
        self.paths = paths
        self.brought: set[str] = set()
        # Outer ellipses before inner ones.
        self.repeats: list[tuple[Repeat, list[_Mention]]] = []
        self.mentions: list[_Mention] = []
        self.work: list[Any] = []
        self.done: list[Template] = []

    def read(self, form: Form) -> Template:
        self.work.append((self.one, form, (), False))
        while self.work:
            step, *arguments = self.work.pop()
            step(*arguments)
        for repeat, mentions in self.repeats:
            self.settle(repeat, mentions)
        for mention in self.mentions:
            if mention.path:
                self.too_few(mention)
        (template,) = self.done
        return template

    def one(self, form: Form, around: tuple[int, ...], is_plain: bool) -> None:
        """Compile a form under the ellipses `around`. In a plain form an ellipsis is a name."""
        if type(form) is Name:
            self.done.append(self.name(form, around, is_plain))
        elif type(form) is ListForm and not is_plain and self.is_escape(form):
            self.work.append((self.one, form.items[1], around, True))
        elif type(form) is TableForm:
            self.work.append((self.close, TableForm, len(form.items), form.span))
            self.work.extend((self.one, item, around, is_plain) for item in form.items[::-1])
        elif isinstance(form, (ListForm, VectorForm)):
            self.open(form, around, is_plain)
        else:
            self.done.append(FixedForm(form))

    def is_escape(self, form: ListForm) -> bool:
        """Return whether a form is `(... template)`."""
        return len(form.items) == 2 and self.is_ellipsis(form.items[0])

    def is_ellipsis(self, form: Form) -> bool:
        reading = self.reading
        return (
            type(form) is Name
            and form.text == reading.ellipsis
            and form.text not in reading.literals
        )

    def name(self, form: Name, around: tuple[int, ...], is_plain: bool) -> Template:
        text = form.text
        if text in self.paths:
            self.mention(text, form.span, around)
            return TemplateVariable(text)
        spelling, mark, which = text.partition(MARK)
        head, _, fields = spelling.partition(".")
        head += mark + which
        if fields and head in self.paths:
            self.mention(head, form.span, around)
            return VariableField(head, f".{fields}", form.span)
        if text in self.reading.kept:
            if self.is_ellipsis(form) and not is_plain:
                self.flaw(form, "an ellipsis follows what it repeats", "nothing stands before this")
            return FixedForm(form)
        self.brought |= {text, head}
        return TemplateName(text, form.span)

    def mention(self, name: str, span: Span, around: tuple[int, ...]) -> None:
        mention = _Mention(name, span, self.paths[name], len(around))
        self.mentions.append(mention)
        for at in around:
            self.repeats[at][1].append(mention)

    def open(self, form: ListForm | VectorForm, around: tuple[int, ...], is_plain: bool) -> None:
        parts: list[tuple[Form, list[Form]]] = []
        for item in form.items:
            if is_plain or not self.is_ellipsis(item) or not parts:
                parts.append((item, []))
            else:
                parts[-1][1].append(item)
        self.work.append((self.close, type(form), len(parts), form.span))
        for part, dots in reversed(parts):
            inner = around
            repeats: list[Repeat] = []
            if len(around) + len(dots) > DEEPEST:
                self.flaw(dots[0], f"ellipses are nested more than {DEEPEST} deep")
                dots = []
            for dot in reversed(dots):
                inner = (*inner, len(self.repeats))
                repeats.append(Repeat(None, dot.span))
                self.repeats.append((repeats[-1], []))
            self.work.append((self.wrap, repeats))
            self.work.append((self.one, part, inner, is_plain))

    def wrap(self, repeats: list[Repeat]) -> None:
        for repeat in reversed(repeats):
            repeat.part = self.done.pop()
            self.done.append(repeat)

    def close(self, kind: Any, count: int, span: Span) -> None:
        at = len(self.done) - count
        parts = tuple(self.done[at:])
        del self.done[at:]
        self.done.append(Group(kind, parts, span))

    def settle(self, repeat: Repeat, mentions: list[_Mention]) -> None:
        """Determine the variables that an ellipsis repeats."""
        needed = {each.path[0] for each in mentions if each.path and each.left <= len(each.path)}
        if not needed:
            words = "no variable before this stands before `...` in the pattern"
            title = "nothing is there to be repeated"
            self.reading.flaws.append(flaw("ellipsis-depth", repeat.span, title, words))
        drivers: dict[str, None] = {}
        for each in mentions:
            each.left -= 1
            if each.path and each.path[0] in needed:
                each.path = each.path[1:]
                drivers[each.name] = None
        repeat.drivers = tuple(drivers)

    def too_few(self, mention: _Mention) -> None:
        depth = len(self.paths[mention.name])
        dots = self.reading.ellipsis
        written = f"{mention.name} {' '.join([dots] * depth)}"
        self.reading.flaws.append(
            flaw(
                "ellipsis-depth",
                mention.span,
                f"`{mention.name}` stands for several forms",
                f"in the pattern it is under {depth} `{dots}`, here under fewer",
                hint=f"write `{written}`, or put it in what is repeated",
            )
        )

    def flaw(self, form: Form, title: str, words: str = "") -> None:
        self.reading.flaws.append(flaw("bad-syntax-rules", form.span, title, words))


def read_template(
    reading: MacroContext, form: Form, paths: dict[str, Path]
) -> tuple[Template, frozenset[str]]:
    """Return the compiled template for these variables, and the names that it introduces."""
    templates = _Templates(reading, paths)
    return templates.read(form), frozenset(templates.brought)
