"""The shelf of a shop, for programs and their models."""

from dataclasses import dataclass

from sexplang import operation, primitive, tool

SHELF = {"green tea": (12, 4.5), "black tea": (0, 3.9)}


@dataclass
class Stock:
    packets: int
    price: float


@tool(replay="safe")
def stock(name: str) -> Stock:
    """How many packets of a tea are on the shelf, and the price of one in euros."""
    return Stock(*SHELF[name.lower()])


@operation
async def order(name: str, packets: int = 10) -> str:
    """Orders packets of a tea from the importer."""
    return f"{packets} packets of {name} ordered"


@primitive
def euros(amount: float) -> str:
    """An amount as it stands on a label."""
    return f"{amount:.2f} €"
