"""Instantiation of a template at the span of the use."""

from typing import Any

from sexplang.expander.macro_budget import ATOMS, Budget
from sexplang.expander.matcher import Found
from sexplang.expander.rule_nodes import (
    FixedForm,
    Group,
    Repeat,
    Template,
    TemplateName,
    TemplateVariable,
    VariableField,
)
from sexplang.terms.classes.node import frozen
from sexplang.terms.diagnostic import Diagnostic, Diagnostics, Label
from sexplang.terms.form import MARK, Form, ListForm, Name
from sexplang.terms.macro import Rename
from sexplang.terms.source import Made, Span, make_span


@frozen(eq=False)
class TemplateFiller:
    """The instantiation for one use of a macro."""

    use: Span
    macro: str
    rename: Rename
    budget: Budget
    depth: int
    """The expansion depth of every form that is made."""

    def span(self, template: Span) -> Made:
        return make_span(self.use, template, self.macro)

    def fill(self, template: Template, found: Found) -> Form:
        """Return the form of the template for these bindings."""
        budget = self.budget
        done: list[Form] = []
        # A template with its bindings, or a mark for the begin of a list.
        work: list[tuple[Any, Any]] = [(template, found)]
        while work:
            budget.step(1)
            node, given = work.pop()
            kind = type(node)
            if kind is TemplateVariable:
                done.append(given[node.name])
            elif kind is Group:
                work.append((len(done), node))
                work.extend((part, given) for part in reversed(node.parts))
            elif kind is int:
                done[node:] = [self.group(given.kind, tuple(done[node:]), given.span)]
            elif kind is Repeat:
                self.repeat(node, given, done, work)
            elif kind is TemplateName:
                done.append(self.name(node.text, node.span))
            elif kind is FixedForm:
                done.append(self.rebuild(node.form))
            else:
                done.append(self.reach(node, given[node.name]))
        return done[0]

    def group(self, kind: Any, items: tuple[Form, ...], span: Span) -> Form:
        """Return a list of instantiated parts. The parts from the use are charged first."""
        form: Form = kind(items, span=self.span(span))
        self.budget.step(1 + len(items) // 4)
        if not ATOMS.issuperset(map(type, items)):
            for item in items:
                self.budget.size(item)
        self.budget.charge(form, self.depth)
        return form

    def name(self, text: str, span: Span) -> Name:
        return Name(self.rename(text), span=self.span(span))

    def rebuild(self, form: Any) -> Form:
        content = form.value if hasattr(form, "value") else form.text
        return type(form)(content, span=self.span(form.span))  # type: ignore[no-any-return]

    def repeat(self, node: Repeat, given: Found, done: list[Form], work: list[Any]) -> None:
        """Instantiate the part once for each repetition, in order."""
        columns = {name: _column(given[name], name) for name in node.drivers}
        count = self.count(node, columns)
        if type(node.part) is TemplateVariable:
            self.budget.step(count // 16)
            done.extend(columns[node.part.name])
            return
        self.budget.step(count)
        for at in reversed(range(count)):
            row = given | {name: column[at] for name, column in columns.items()}
            work.append((node.part, row))

    def count(self, node: Repeat, columns: dict[str, Any]) -> int:
        counts = {len(column) for column in columns.values()}
        if len(counts) == 1:
            return counts.pop()
        first = node.drivers[0]
        second = next(name for name in columns if len(columns[name]) != len(columns[first]))
        raise Diagnostics(
            [
                Diagnostic(
                    "ellipsis-length",
                    f"`{first}` and `{second}` are repeated together, but "
                    f"{len(columns[first])} and {len(columns[second])} forms are given",
                    (
                        Label(self.use, "in this use"),
                        Label(self.span(node.span).template, "both are repeated here"),
                    ),
                    hint="give as many of the one as of the other",
                )
            ]
        )

    def reach(self, node: VariableField, form: Form) -> Form:
        """Return `x.notes` for a name x; for any other form, a field access."""
        if type(form) is Name:
            spelling, mark, which = form.text.partition(MARK)
            return Name(f"{spelling}{node.fields}{mark}{which}", span=self.span(node.span))
        value, path = (self.name(text, node.span) for text in ("value", f"value{node.fields}"))
        let = Name("let", span=self.span(node.span))
        pair = self.group(ListForm, (value, form), node.span)
        pairs = self.group(ListForm, (pair,), node.span)
        return self.group(ListForm, (let, pairs, path), node.span)


def _column(value: Any, name: str) -> Any:
    return value if type(value) is tuple else [row[name] for row in value]
