"""Macros, and the interface of the expander."""

from collections.abc import Callable
from typing import Any, Protocol, TypeAlias

from sexplang.terms.classes.node import field, frozen
from sexplang.terms.form import Form, ListForm
from sexplang.terms.source import Span


@frozen(eq=False)
class Rules:
    """A `syntax-rules`; `parts` is private to the expander.

    `names` are the texts of all names that have their meaning at the macro's definition: those that
    its templates introduce, and its literals.
    """

    names: frozenset[str]
    parts: Any = field(repr=False)


@frozen(eq=False)
class Macro:
    """A macro, as its module exports it.

    `names` maps the rules' names to their bindings there, an `Export` or a module; an absent name
    is unbound. The compiler fills it at the end of the module.
    """

    name: str
    rules: Rules | None
    """None if they are flawed, which was reported at the definition."""
    span: Span
    names: dict[str, Any] = field(factory=dict, repr=False)


Rename: TypeAlias = Callable[[str], str]
"""The renaming of a template's name, for one use of the macro."""

Same: TypeAlias = Callable[[str, str], bool]
"""The test that a name in a use and a literal of the macro have the same binding."""


class Expander(Protocol):
    """The macros of one module. Both methods raise Diagnostics."""

    def rules(self, form: Form) -> Rules:
        """Return the checked rules of `(syntax-rules (literal…) (pattern template) …)`."""

    def expand(self, use: ListForm, macro: Macro, rename: Rename, same: Same) -> Form:
        """Return the expansion of a use of a macro."""


NewExpander: TypeAlias = Callable[[frozenset[str]], Expander]
"""The constructor of an expander for the words of the language, which no template rebinds."""
