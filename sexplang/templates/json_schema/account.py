"""What may be spent on holding one reply to its schema."""

from sexplang.terms.classes.node import define

MOST_STEPS = 10_000_000
"""Each part of a schema at a value is a step; each state of a pattern at a byte is two. The library
does some five million of the first in a second, and ten times as many of the second."""


class TooMuch(Exception):
    """Says that a check would take too many steps."""


@define
class Account:
    """Steps that are left."""

    left: float = MOST_STEPS

    def spend(self, steps: float) -> None:
        """Raises TooMuch."""
        self.left -= steps
        if self.left < 0:
            raise TooMuch(f"checking it against its schema takes more than {MOST_STEPS:,} steps")
