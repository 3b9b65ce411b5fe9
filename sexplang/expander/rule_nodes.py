"""The nodes of compiled patterns and templates."""

from typing import Any, TypeAlias

from sexplang.terms.classes.node import define, frozen
from sexplang.terms.form import Form, Label, Literal
from sexplang.terms.source import Span

Path: TypeAlias = tuple[int, ...]
"""The ellipses around a pattern variable, outermost first, each by number."""


# -- patterns


@frozen(eq=False)
class Anything:
    """The pattern `_`."""


@frozen(eq=False)
class Variable:
    """A variable, which fits any form."""

    name: str


@frozen(eq=False)
class Word:
    """A literal of the macro: it fits a name with the same binding."""

    text: str


@frozen(eq=False)
class Datum:
    """A literal value or a label: it fits an equal one."""

    form: Literal | Label


@frozen(eq=False)
class Sequence:
    """`(a b)`, `[a b]`, `(a ... z)`: `repeat` fits any number of forms.

    `names` are the variables in `repeat`.
    """

    kind: type
    before: "tuple[Pattern, ...]"
    repeat: "Pattern | None"
    after: "tuple[Pattern, ...]"
    names: tuple[str, ...] = ()


@frozen(eq=False)
class Entries:
    """`{k: p}`: exactly these keys, in any order."""

    values: "dict[str, Pattern]"


Pattern: TypeAlias = Anything | Variable | Word | Datum | Sequence | Entries


# -- templates


@frozen(eq=False)
class FixedForm:
    """A literal, a label or a word of the language, which is not renamed."""

    form: Form


@frozen(eq=False)
class TemplateName:
    """A name that the template introduces; it is renamed."""

    text: str
    span: Span


@frozen(eq=False)
class TemplateVariable:
    """A pattern variable."""

    name: str


@frozen(eq=False)
class VariableField:
    """`x.notes`, where x is a pattern variable."""

    name: str
    fields: str
    span: Span


@define(eq=False)
class Repeat:
    """`part ...`: once for each form of the `drivers`, which advance together."""

    part: "Template | None"
    span: Span
    drivers: tuple[str, ...] = ()


@frozen(eq=False)
class Group:
    """A list, a vector or a table."""

    kind: Any
    parts: "tuple[Template, ...]"
    span: Span


Template: TypeAlias = FixedForm | TemplateName | TemplateVariable | VariableField | Repeat | Group


@frozen(eq=False)
class Rule:
    """A pattern, as the sequence after the macro's name, and its template."""

    pattern: Sequence
    template: Template
    text: str
    """The pattern as written."""


@frozen(eq=False)
class MacroContext:
    """The state that the rules of one macro share."""

    ellipsis: str
    literals: frozenset[str]
    words: frozenset[str]
    """The words of the language: no variable has such a name."""
    kept: frozenset[str]
    """The words and punctuation that no template renames."""
    flaws: list[Any]
