"""What patterns and templates are read into: a table of rules, ready to match and to fill."""

from typing import Any, TypeAlias

from sexplang.terms.classes.node import define, frozen
from sexplang.terms.form import Form, Label, Literal
from sexplang.terms.source import Span

Path: TypeAlias = tuple[int, ...]
"""The ellipses that a pattern variable stands under, outermost first; each has a number."""


# -- patterns


@frozen(eq=False)
class Anything:
    """`_`"""


@frozen(eq=False)
class Variable:
    """A name that takes whatever stands there."""

    name: str


@frozen(eq=False)
class Word:
    """A literal of the macro: a name that stands for the same."""

    text: str


@frozen(eq=False)
class Datum:
    """A literal value or a label: it fits its equal."""

    form: Literal | Label


@frozen(eq=False)
class Sequence:
    """`(a b)`, `[a b]`, `(a ... z)`: `repeat` stands for any number of what it fits.

    `names` are the variables in `repeat`.
    """

    kind: type
    before: "tuple[Pattern, ...]"
    repeat: "Pattern | None"
    after: "tuple[Pattern, ...]"
    names: tuple[str, ...] = ()


@frozen(eq=False)
class Entries:
    """`{k: p}`: these keys and no others, in any order."""

    values: "dict[str, Pattern]"


Pattern: TypeAlias = Anything | Variable | Word | Datum | Sequence | Entries


# -- templates


@frozen(eq=False)
class FixedForm:
    """A literal, a label or a word of the language, which nothing can rename."""

    form: Form


@frozen(eq=False)
class TemplateName:
    """A name that the template brings in."""

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
    """`part ...`: once for each of what the `drivers` stand for, all of them in step."""

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
    """A pattern, as a sequence of what follows the macro's name, and its template."""

    pattern: Sequence
    template: Template
    text: str
    """The pattern as it is written."""


@frozen(eq=False)
class Reading:
    """What the rules of one macro have in common."""

    ellipsis: str
    literals: frozenset[str]
    words: frozenset[str]
    """The words of the language: no variable is called so."""
    kept: frozenset[str]
    """Those, and what is punctuation: no template brings them in."""
    flaws: list[Any]
