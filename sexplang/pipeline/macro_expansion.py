"""The expander of macros, imported with the first macro: most programs have none."""

from typing import Any

from sexplang.terms.form import Form
from sexplang.terms.macro import Expander


class Macros:
    """The expander of one file."""

    def __init__(self, words: frozenset[str]) -> None:
        self._words = words
        self._made: Expander | None = None

    def rules(self, form: Form) -> Any:
        return self._expander().rules(form)

    def expand(self, *use: Any) -> Form:
        return self._expander().expand(*use)

    def _expander(self) -> Expander:
        if self._made is None:
            from sexplang.expander import Expander as Rewriter

            self._made = Rewriter(self._words)
        return self._made
