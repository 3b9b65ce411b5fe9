"""Sums of floats that are the same under every Python.

Python's own `sum` rounds after each addition up to 3.11, and only at the end from 3.12 on.
"""

from collections.abc import Iterable
from math import fsum


def add_up(numbers: Iterable[float]) -> float:
    """Return the sum of a few numbers, added from left to right; 0 for none. A sum of integers is
    one."""
    total: float = 0
    for each in numbers:
        total += each
    return total


def add_up_floats(numbers: list[float]) -> float:
    """Return the sum of many floats, rounded once."""
    try:
        return fsum(numbers)
    except (OverflowError, ValueError):  # it goes beyond the floats on its way, or has infinities
        return add_up(numbers)
