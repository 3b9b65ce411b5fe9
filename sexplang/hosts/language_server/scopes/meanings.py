"""The meaning of a name in a text, for completion and hover."""

from functools import cached_property
from typing import Any, Literal

from sexplang.terms.classes.node import field, frozen
from sexplang.terms.form import Form
from sexplang.terms.source import Span

Kind = Literal[
    "function",
    "value",
    "parameter",
    "input",
    "operation",
    "task",
    "syntax",
    "module",
    "special form",
    "primitive",
]


@frozen(eq=False)
class Parameter:
    """A parameter as it is written."""

    name: str
    span: Span | None = None
    default: str | None = None
    doc: str = ""
    type: str = ""


@frozen(eq=False)
class Meaning:
    """The meaning of a name.

    `name_span` is the binding name, `span` the whole definition; both are None for names of the
    language. `params` is None if nothing is known of calls. `members` are the names behind a
    module's name. `shape` is the language's own object: a Primitive, a Higher, an Operation, a
    Task.
    """

    name: str
    kind: Kind
    name_span: Span | None = None
    span: Span | None = None
    params: tuple[Parameter, ...] | None = None
    rest: str | None = None
    doc: str = ""
    members: "dict[str, Meaning]" = field(factory=dict)
    shape: Any = None
    form: Form | None = None

    def param(self, name: str) -> Parameter | None:
        """Return the parameter called `name`."""
        return self._parameters.get(name)

    @cached_property
    def _parameters(self) -> dict[str, Parameter]:
        return {each.name: each for each in reversed(self.params or ())}

    @cached_property
    def signature(self) -> str:
        """Return the text of a call: `(name a (b 1) . rest)`."""
        if self.params is None:
            return self.name
        words = [
            each.name if each.default is None else f"({each.name} {each.default})"
            for each in self.params
        ]
        if self.rest is not None:
            words += [".", self.rest]
        return f"({' '.join([self.name, *words])})"


def member(names: dict[str, Meaning], path: str) -> Meaning | None:
    """Return the meaning of a name or of a path such as `u.f` or `plan.notes`."""
    found = names.get(path)
    if found is not None or "." not in path:
        return found
    head, _, rest = path.partition(".")
    return through(names.get(head), rest)


def through(base: Meaning | None, rest: str) -> Meaning | None:
    """Return the meaning of `base.rest`: a member of a module, else the value with that field."""
    if base is None or base.kind != "module":
        return base
    return base.members.get(rest) or base.members.get(rest.partition(".")[0])
