"""Matching of patterns against forms.

A variable under an ellipsis is bound to a tuple of forms if it is repeated alone, else to a list of
tables, one for each repetition.
"""

from typing import Any, TypeAlias

from sexplang.expander.macro_budget import Budget
from sexplang.expander.rule_nodes import Anything, Datum, Entries, Pattern, Sequence, Variable, Word
from sexplang.terms.form import Form, Label, Name, TableForm
from sexplang.terms.macro import Same

Found: TypeAlias = dict[str, Any]


def match(pattern: Sequence, items: tuple[Form, ...], same: Same, budget: Budget) -> Found | None:
    """Return the bindings of the variables if the forms fit, else None."""
    found: Found = {}
    work: list[tuple[Pattern, Form, Found]] = []
    if not _sequence(pattern, items, found, work, budget):
        return None
    while work:
        budget.step(1)
        node, form, target = work.pop()
        if type(node) is Variable:
            target[node.name] = form
        elif type(node) is Word:
            # A comparison of two names costs more than other steps.
            budget.step(5)
            if type(form) is not Name or not same(form.text, node.text):
                return None
        elif not _fits(node, form, target, work, budget):
            return None
    return found


def _fits(node: Pattern, form: Form, target: Found, work: list[Any], budget: Budget) -> bool:
    if isinstance(node, Sequence):
        return type(form) is node.kind and _sequence(node, form.items, target, work, budget)  # type: ignore[union-attr]
    if isinstance(node, Datum):
        return node.form == form
    if isinstance(node, Entries):
        return type(form) is TableForm and _entries(node, form, target, work)
    return isinstance(node, Anything)


def _sequence(
    node: Sequence, items: tuple[Form, ...], target: Found, work: list[Any], budget: Budget
) -> bool:
    budget.step(len(items) // 4)
    first, last = len(node.before), len(items) - len(node.after)
    if node.repeat is None:
        if len(items) != first:
            return False
    elif last < first:
        return False
    else:
        _match_repeated(node, items[first:last], target, work, budget)
        for part, item in zip(node.after, items[last:], strict=True):
            work.append((part, item, target))
    for part, item in zip(node.before, items[:first], strict=True):
        work.append((part, item, target))
    return True


def _match_repeated(
    node: Sequence, items: tuple[Form, ...], target: Found, work: list[Any], budget: Budget
) -> None:
    if type(node.repeat) is Variable:
        target[node.repeat.name] = items
        return
    budget.step(len(items))
    rows: list[Found] = [{} for _ in items]
    for name in node.names:
        target[name] = rows
    work.extend((node.repeat, item, row) for item, row in zip(items, rows, strict=True))


def _entries(node: Entries, form: TableForm, target: Found, work: list[Any]) -> bool:
    """Match entries with the same keys, in any order."""
    items = form.items
    if len(items) != 2 * len(node.values):
        return False
    pairs = zip(items[::2], items[1::2], strict=True)
    given = {label.text: value for label, value in pairs if type(label) is Label}
    if given.keys() != node.values.keys():
        return False
    work.extend((part, given[key], target) for key, part in node.values.items())
    return True
