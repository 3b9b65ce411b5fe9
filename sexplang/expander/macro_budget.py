"""What macros may cost in one module: so many steps, so deep, so much text."""

from typing import Any

from sexplang.terms.diagnostic import Diagnostic, Diagnostics, Label
from sexplang.terms.form import Form, Literal, Name
from sexplang.terms.form import Label as LabelForm
from sexplang.terms.source import Span

STEPS = 1_000_000
"""Forms that are compared with patterns or put in place."""

DEEPEST = 1_000
"""Uses of macros that come out of uses of macros."""

LARGEST = 200_000
"""Forms by which a module grows."""

_WORDS = {
    "steps": (STEPS, "macros in this file take more than {:,} steps"),
    "depth": (DEEPEST, "macros that use macros go more than {:,} deep here"),
    "size": (LARGEST, "macros make this file larger by more than {:,} forms"),
}

ATOMS = frozenset((Name, Literal, LabelForm))


class Exhausted(Exception):
    """One of the limits is passed."""


class Budget:
    """What is left, and how large each form is that went through a macro.

    A template that uses a variable twice makes two out of one form without copying it, so what
    has a few thousand parts in memory may stand for more text than there is room for.
    """

    def __init__(self) -> None:
        self.steps = STEPS
        self.room = LARGEST
        # By identity; the form is kept, so that nothing else gets its place.
        self.known: dict[int, tuple[Form, int, int]] = {}

    def step(self, count: int) -> None:
        self.steps -= count
        if self.steps < 0:
            raise Exhausted("steps")

    def grow(self, count: int) -> None:
        self.room -= max(count, 0)
        if self.room < 0:
            raise Exhausted("size")

    def depth(self, form: Form) -> int:
        """How many uses of macros, one out of the other, it took to make the form."""
        found = self.known.get(id(form))
        return found[2] if found is not None else 0

    def nest(self, use: Form) -> int:
        depth = self.depth(use) + 1
        if depth > DEEPEST:
            raise Exhausted("depth")
        return depth

    def charge(self, form: Any, depth: int) -> None:
        """Notes a form whose parts are known."""
        known, items = self.known, form.items
        size = 1 + len(items)
        if not ATOMS.issuperset(map(type, items)):
            size += sum([known[id(item)][1] - 1 for item in items if type(item) not in ATOMS])
        known[id(form)] = (form, size, depth)

    def size(self, form: Any) -> int:
        """How many forms a form is, itself and all in it."""
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
    """The finding for a limit that is passed."""
    limit, title = _WORDS[what]
    return Diagnostics(
        [
            Diagnostic(
                "limit-expansion",
                title.format(limit),
                (Label(use, "it began here"), Label(definition, f"`{macro}` is defined here")),
                hint="see that each use of a macro in its own template stands for less than the "
                "use before, or write a function",
            )
        ]
    )
