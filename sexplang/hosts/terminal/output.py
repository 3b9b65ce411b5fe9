"""A program's value to what stands on standard output."""

from typing import Any

from sexplang.terms.values.text import text, to_source
from sexplang.terms.values.value import Record, Value

ROOT = "0"
"""The identity of the budget that stands around a whole program."""


def format_value(value: Value) -> str:
    """Text and TaskResults as their text with a line break at the end; nil is nothing; other
    data so that reading and evaluating it gives it back."""
    if value is None:
        return ""
    is_text = isinstance(value, str) or (isinstance(value, Record) and value.kind == "TaskResult")
    line = text(value) if is_text else to_source(value)
    return line if line.endswith("\n") else line + "\n"


def as_json(value: Value) -> str:
    """The value as one JSON document on one line; symbols are strings, records are objects.

    Raises Fault `not-json` for what JSON cannot hold.
    """
    from sexplang.primitives import PRIMITIVES

    return f"{PRIMITIVES['json-string'].function(value)}\n"


def spending(outcome: Any, is_asked: bool = False) -> str:
    """`budget: 3 of 20 calls, 1,204 of 50,000 tokens, $0.0123 of $0.5`; empty where nothing that
    is bounded was asked for, by the account or `is_asked`. Calls that were withdrawn stand in it
    with what they may have cost."""
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
    """The same as data: `{calls: {limit: 20 used: 3} …}`; empty where nothing is bounded."""
    account = _account_of(outcome)
    each = [] if account is None else account.spending()
    return {name: {"limit": limit, "used": used} for name, limit, used in each}


def _account_of(outcome: Any) -> Any:
    return getattr(outcome, "accounts", {}).get(ROOT)
