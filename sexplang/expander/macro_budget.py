"""The limits of macros in one module: steps, depth, size."""

from typing import Any

from sexplang.terms.diagnostic import Diagnostic, Diagnostics, Label
from sexplang.terms.form import Form, Literal, Name
from sexplang.terms.form import Label as LabelForm
from sexplang.terms.source import Span

STEPS = 1_000_000
"""Forms that are compared with patterns or filled in."""

DEEPEST = 1_000
"""The depth of expansions from expansions."""

LARGEST = 200_000
"""The number of forms by which a module may grow."""

_WORDS = {
    "steps": (STEPS, "macros in this file take more than {:,} steps"),
    "depth": (DEEPEST, "macros that use macros go more than {:,} deep here"),
    "size": (LARGEST, "macros make this file larger by more than {:,} forms"),
}

ATOMS = frozenset((Name, Literal, LabelForm))


class BudgetExhausted(Exception):
    """A limit is exceeded."""


class Budget:
    """The remaining budget, and the size of each form that passed through a macro.

    A template that uses a variable twice shares one form. So a few thousand objects may stand for
    more text than fits in memory.
    """

    def __init__(self) -> None:
        self.steps = STEPS
        self.room = LARGEST
        # By identity. The form is kept, so that its id is not reused.
        self.known: dict[int, tuple[Form, int, int]] = {}

    def step(self, count: int) -> None:
        self.steps -= count
        if self.steps < 0:
            raise BudgetExhausted("steps")

    def grow(self, count: int) -> None:
        self.room -= max(count, 0)
        if self.room < 0:
            raise BudgetExhausted("size")

    def depth(self, form: Form) -> int:
        """Return the number of nested expansions that made the form."""
        found = self.known.get(id(form))
        return found[2] if found is not None else 0

    def nest(self, use: Form) -> int:
        depth = self.depth(use) + 1
        if depth > DEEPEST:
            raise BudgetExhausted("depth")
        return depth

    def charge(self, form: Any, depth: int) -> None:
        """Record a form whose parts are recorded."""
        known, items = self.known, form.items
        size = 1 + len(items)
        if not ATOMS.issuperset(map(type, items)):
            size += sum([known[id(item)][1] - 1 for item in items if type(item) not in ATOMS])
        known[id(form)] = (form, size, depth)

    def size(self, form: Any) -> int:
        """Return the number of forms in a form, itself included."""
        known = self.known
        if type(form) in ATOMS:
            return 1
        work = [form]
        while work:
            form = work[-1]
            if id(form) in known:
                work.pop()
                continue
            missing = [
                item for item in form.items if type(item) not in ATOMS and id(item) not in known
            ]
            work.extend(missing)
            if not missing:
                self.step(len(form.items))
                self.charge(form, 0)
        return known[id(form)][1]


def report_exhausted(what: str, use: Span, macro: str, definition: Span) -> Diagnostics:
    """Return the diagnostic for an exceeded limit."""
    limit, title = _WORDS[what]
    return Diagnostics(
        [
            Diagnostic(
                "limit-expansion",
                title.format(limit),
                (Label(use, "it began here"), Label(definition, f"`{macro}` is defined here")),
                hint="in the macro's template, give each use of the macro fewer forms than "
                "the rule takes, or write a function",
            )
        ]
    )
