"""Macros: what `define-syntax` defines, and the expander as the compiler knows it."""

from collections.abc import Callable
from typing import Any, Protocol, TypeAlias

from sexplang.terms.classes.node import field, frozen
from sexplang.terms.form import Form, ListForm
from sexplang.terms.source import Span


@frozen(eq=False)
class Rules:
    """A `syntax-rules`: `parts` is the expander's own.

    `names` are the texts of all names that have their meaning where the macro is defined: those
    that its templates bring in, and its literals.
    """

    names: frozenset[str]
    parts: Any = field(repr=False)


@frozen(eq=False)
class Macro:
    """A macro, as its module exports it.

    `names` says what each of the rules' names stands for there, an `Export` or a module; what is
    missing stands for nothing. Whoever compiles the module fills it at the end.
    """

    name: str
    rules: Rules | None
    """None where they are flawed, which was said at the definition."""
    span: Span
    names: dict[str, Any] = field(factory=dict, repr=False)


Rename: TypeAlias = Callable[[str], str]
"""The text of a name that a template brings in, for one use of the macro."""

Same: TypeAlias = Callable[[str, str], bool]
"""Whether a name in a use and a literal of the macro stand for the same."""


class Expander(Protocol):
    """The macros of one module. Both functions raise Diagnostics."""

    def rules(self, form: Form) -> Rules:
        """`(syntax-rules (literal…) (pattern template) …)`, checked."""

    def expand(self, use: ListForm, macro: Macro, rename: Rename, same: Same) -> Form:
        """What a use of a macro stands for."""


NewExpander: TypeAlias = Callable[[frozenset[str]], Expander]
"""An expander that knows the words of the language: no template can give them another meaning."""
