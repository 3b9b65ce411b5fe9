"""Habits of other languages: names that are not here, and what to write in their place."""

from collections.abc import Iterator
from typing import Any

from sexplang.compiler.forms.shapes import HABITS
from sexplang.terms.classes.node import frozen


@frozen
class Habit:
    """Names of other languages with one meaning, a hint what to write here, and an example with its
    value."""

    names: tuple[str, ...]
    hint: str
    example: str = ""
    value: str = ""

    def to_json(self) -> dict[str, Any]:
        """Return the habit as data. A key that does not apply is absent."""
        shown = {"example": self.example, "value": self.value} if self.example else {}
        return {"names": list(self.names), "hint": self.hint} | shown


def find_habit(name: str) -> Habit | None:
    """Return what to write for a name of another language; None if it is not known as one."""
    return Habit((name,), HABITS[name]) if name in HABITS else None


def list_habits() -> Iterator[Habit]:
    """Yield the habits that the compiler knows."""
    for name, hint in HABITS.items():
        yield Habit((name,), hint)
