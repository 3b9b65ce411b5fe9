"""Names of the prelude that another name has replaced."""

from collections.abc import Iterator

from sexplang.analysis.own_nodes import is_own, own_nodes
from sexplang.terms.core import Const
from sexplang.terms.diagnostic import Diagnostic, Label
from sexplang.terms.program import Program
from sexplang.terms.values.value import Higher

DEPRECATED = {"in-place": ("with-permit", "0.2.0")}
"""Each old name, with the new one and the version that brought it. An old name works for one
version more."""


def find_deprecated(program: Program) -> Iterator[Diagnostic]:
    """A warning for each use of an old name."""
    for node in own_nodes(program):
        if isinstance(node, Const) and isinstance(node.value, Higher) and is_own(node.span):
            name = node.value.name
            if name in DEPRECATED:
                new, since = DEPRECATED[name]
                yield Diagnostic(
                    "deprecated-name",
                    f"`{name}` is the old name of `{new}`, since {since}",
                    (Label(node.span, "the old name"),),
                    hint=f"write `{new}`: it means the same",
                    severity="warning",
                )
