"""What a run was allowed and what it took → one line for the person who set the bounds."""

from typing import Any

ROOT = "0"
"""The identity of the budget that stands around a whole program."""


def spending(outcome: Any, is_asked: bool = False) -> str:
    """`budget: 3 of 20 calls, 1,204 of 50,000 tokens, $0.0123 of $0.5`; empty where nothing that
    is bounded was asked for, by the account or `is_asked`. Calls that were withdrawn stand in it
    with what they may have cost."""
    account = _account(outcome)
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
    account = _account(outcome)
    each = [] if account is None else account.spending()
    return {name: {"limit": limit, "used": used} for name, limit, used in each}


def _account(outcome: Any) -> Any:
    return getattr(outcome, "accounts", {}).get(ROOT)
