"""An agent that reads files below a folder, asks Python for prices and keeps notes."""

from pathlib import Path

import sexplang

PRICES = {"kettle": 30, "cup": 4}


def price(item: str, count: int = 1) -> int:
    """The price of so many of an item."""
    return PRICES[item] * count


def ask(question, folder, model):
    permissions = sexplang.Permissions(folder=folder, read=[folder], write=[f"{folder}/notes"])
    return sexplang.run(
        Path(__file__).with_suffix(".sexp"),
        inputs={"question": question},
        tools=[price],
        permissions=permissions,
        model=model,
    )
