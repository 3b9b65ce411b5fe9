"""Habits of other languages: names that are not here, and what to write in their place."""

from collections.abc import Mapping
from functools import cache

from sexplang.compiler.forms.shapes import HABITS
from sexplang.terms.classes.node import frozen


@frozen
class Habit:
    """A name of another language, a hint what to write here, and an example with its value."""

    name: str
    hint: str
    example: str = ""
    value: str = ""

    def to_json(self) -> dict[str, str]:
        """Return the habit as data. A key that does not apply is absent."""
        shown = {"example": self.example, "value": self.value} if self.example else {}
        return {"name": self.name, "hint": self.hint} | shown


@cache
def read_habits() -> Mapping[str, Habit]:
    """Return the habits that the compiler knows, by name."""
    return {name: Habit(name, hint) for name, hint in HABITS.items()}
