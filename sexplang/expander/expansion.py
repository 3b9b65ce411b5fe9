"""The expansion of a use of a macro."""

from sexplang.expander.macro_budget import Budget, BudgetExhausted, report_exhausted
from sexplang.expander.matcher import match
from sexplang.expander.rule_nodes import Rule
from sexplang.expander.rules import read_rules
from sexplang.expander.template_filler import TemplateFiller
from sexplang.terms.diagnostic import Diagnostic, Diagnostics, Label
from sexplang.terms.form import Form, ListForm
from sexplang.terms.macro import Macro, Rename, Rules, Same


class Expander:
    """The macros of one module, and their remaining budget."""

    def __init__(self, words: frozenset[str]) -> None:
        self.words = words
        self.budget = Budget()

    def rules(self, form: Form) -> Rules:
        """Return the checked rules of `(syntax-rules (literal…) (pattern template) …)`. Raises
        Diagnostics."""
        return read_rules(form, self.words)

    def expand(self, use: ListForm, macro: Macro, rename: Rename, same: Same) -> Form:
        """Expand a use by the first rule that fits. Raises Diagnostics."""
        try:
            return self._expand(use, macro, rename, same)
        except BudgetExhausted as limit:
            raise report_exhausted(str(limit), use.span, macro.name, macro.span) from None

    def _expand(self, use: ListForm, macro: Macro, rename: Rename, same: Same) -> Form:
        budget = self.budget
        before, depth = budget.size(use), budget.nest(use)
        assert macro.rules is not None, "uses of a flawed macro are left alone"
        rules: tuple[Rule, ...] = macro.rules.parts
        for rule in rules:
            budget.step(1)
            found = match(rule.pattern, use.items[1:], same, budget)
            if found is not None:
                filling = TemplateFiller(use.span, macro.name, rename, budget, depth)
                form = filling.fill(rule.template, found)
                budget.grow(budget.size(form) - before)
                return form
        raise Diagnostics([_no_rule(use, macro, rules)])


def _no_rule(use: ListForm, macro: Macro, rules: tuple[Rule, ...]) -> Diagnostic:
    patterns = [_as_used(rule.text, macro.name) for rule in rules]
    is_one = len(patterns) == 1
    return Diagnostic(
        "no-rule",
        f"this fits no pattern of `{macro.name}`",
        (
            Label(use.span, f"I expected `{patterns[0]}` here" if is_one else "used here"),
            Label(macro.span, f"`{macro.name}` is defined here"),
        ),
        notes=() if is_one else tuple(f"a pattern is `{text}`" for text in patterns[:10]),
        hint=f"write `{patterns[0]}`" if is_one else "write it as one of the patterns shows",
    )


def _as_used(pattern: str, name: str) -> str:
    """Return a pattern with the macro's name in place of `_`."""
    return f"({name}{pattern[2:]}" if pattern.startswith(("(_ ", "(_)")) else pattern
