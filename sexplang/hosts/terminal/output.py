"""The outcome of a run as text: its value for stdout, its budget for stderr."""

from typing import Any

from sexplang.terms.values.text import text, to_source
from sexplang.terms.values.value import Record, Value

ROOT = "0"
"""The id of the budget around a whole program."""


def format_value(value: Value) -> str:
    """Return a value as text with a line break at the end.

    Text and TaskResults are their text; nil is empty; other data is source that reads and evaluates
    to the same value.
    """
    if value is None:
        return ""
    is_text = isinstance(value, str) or (isinstance(value, Record) and value.kind == "TaskResult")
    line = text(value) if is_text else to_source(value)
    return line if line.endswith("\n") else line + "\n"


def as_json(value: Value) -> str:
    """Return a value as one line of JSON; symbols become strings, records become objects.

    Raises Fault `not-json` for a value that JSON cannot hold.
    """
    from sexplang.primitives import PRIMITIVES

    return f"{PRIMITIVES['json-string'].function(value)}\n"


def spending(outcome: Any, is_asked: bool = False) -> str:
    """Return `budget: 3 of 20 calls, 1,204 of 50,000 tokens, $0.0123 of $0.5`.

    Return an empty text if there is no budget, or if the account has no call and `is_asked` is
    false. Calls that were withdrawn count with what they may have cost.
    """
    account = _account_of(outcome)
    if account is None or not (account.spent_calls or is_asked):
        return ""
    parts = []
    for name, limit, spent in account.spending():
        if name == "usd":
            parts.append(f"${spent:.6g} of ${limit:g}")
        else:
            parts.append(f"{spent:,} of {limit:,} {name}")
    return f"budget: {', '.join(parts)}" if parts else ""


def budget_usage(outcome: Any) -> dict[str, Any]:
    """Return the budget as data: `{calls: {limit: 20 used: 3} …}`; empty if there is no budget."""
    account = _account_of(outcome)
    each = [] if account is None else account.spending()
    return {name: {"limit": limit, "used": used} for name, limit, used in each}


def _account_of(outcome: Any) -> Any:
    return getattr(outcome, "accounts", {}).get(ROOT)
