"""Bugs planted on purpose: each spends what is not there, or does not tell what was refused."""

# ruff: noqa: E501  # what is replaced is as long as it is

from planted.bugs import Bug

SPENDING = [
    Bug(
        "what cleans up when a budget has broken spends from it no more",
        "counted",
        "machine/scopes/deadlines.py",
        (
            (
                "                    budgets.append(accounts[id])",
                "                    pass",
            ),
        ),
        seed=2,
    ),
    Bug(
        "a call that is withdrawn while it is made does not count",
        "counted",
        "machine/scopes/budgets.py",
        (
            (
                '    if part is not None and "unmade" in part:',
                '    if part is not None and ("unmade" in part or "uncounted" in part):',
            ),
        ),
        seed=7,
    ),
    Bug(
        "an attempt that nobody counted takes nothing",
        "counted",
        "machine/scopes/budgets.py",
        (
            (
                "given + fresh + written + read + uncounted * held.input",
                "given + fresh + written + read",
            ),
        ),
        seed=4,
    ),
    Bug(
        "a refusal of money in a finally takes the place of the first error",
        "spent",
        "machine/unwind.py",
        (
            (
                '    return fields.get("type") != "RESOURCE_EXHAUSTION" or fields.get("reason") not in RESOURCES',
                "    return True",
            ),
        ),
    ),
    Bug(
        "a refusal of money in a finally breaks the form around it",
        "spent",
        "machine/scopes/deadlines.py",
        (
            (
                "        if kind in _CLEANING:\n            return True\n",
                "",
            ),
        ),
        seed=8,
    ),
    Bug(
        "what a handler's clause has ended is a value to the finally around it",
        "spent",
        "machine/unwind.py",
        (
            (
                "        k = _LEFT if isinstance(kind, FinallyKind) else BOTTOM\n",
                "        k = BOTTOM\n",
            ),
        ),
        seed=49,
    ),
    Bug(
        "refusals are forgotten where a body that has met them is left",
        "spent",
        "machine/unwind.py",
        (("        return NOTHING if is_target else data[0]\n", "        return NOTHING\n"),),
        seed=124,
    ),
]
