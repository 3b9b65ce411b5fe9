"""Habits of other languages: names that are not here, and what to write in their place."""

from collections.abc import Iterator
from typing import Any

from sexplang.hosts.reference.language_names import prelude
from sexplang.package import habits
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
    found = habits.find_habits(name, prelude())
    row = next((each for each in found if not each.pattern), found[0]) if found else None
    return _convert((name,), row) if row is not None else None


def headline_of(habit: Habit) -> str:
    """Return what to write for the name that was looked up, in one line."""
    return f"there is no `{habit.names[0]}` here: {habit.hint}"


def describe_habit(habit: Habit) -> str:
    """Return what to write for the name that was looked up, and the example."""
    example = f"\n  {habit.example}  ;=> {habit.value}" if habit.example else ""
    return f"{headline_of(habit)}{example}"


def list_habits() -> Iterator[Habit]:
    """Yield the habits that the compiler knows."""
    for row in habits.rows():
        yield _convert(row.names, row)


def _convert(names: tuple[str, ...], row: habits.Habit) -> Habit:
    example, _, value = row.example.partition(" ;=> ")
    return Habit(names, row.hint, example, value)
