"""Data that fits no branch of a union to the branch that was meant, or to the field that says which
and says none.

A field tells branches apart where each has choices for it (`const`, `enum`).
"""

import json
from collections.abc import Callable, Sequence
from typing import Any

Schema = dict[str, Any]
Fits = Callable[[Any, Schema], bool]
"""Whether data is of a branch's kind."""


def choose_branch(data: Any, branches: Sequence[Schema], is_of: Fits) -> int | None:
    """The index of the branch that the data was meant for: the only one of its kind; of objects
    that whose choice a field has, else that with the most of its fields. None for nobody knows."""
    kind = [at for at, branch in enumerate(branches) if is_of(data, branch)]
    if type(data) is not dict:
        return kind[0] if len(kind) == 1 else None
    for name in _telling([branches[at] for at in kind]):
        if name in data:
            chosen = [at for at in kind if _is_among(data[name], choices(branches[at], name))]
            if len(kind) > len(chosen) == 1:
                return chosen[0]
    return max(kind, key=lambda at: len(data.keys() & _fields(branches[at])), default=None)


def astray(data: Any, branches: Sequence[Schema]) -> tuple[str, list[Any]] | None:
    """A field by which the branches are told apart and that has the choice of none of them, and all
    these choices."""
    for name in _telling(branches) if type(data) is dict and len(branches) > 1 else ():
        every = [each for branch in branches for each in choices(branch, name)]
        if name in data and not _is_among(data[name], every):
            return name, list({json.dumps(each, default=str): each for each in every}.values())
    return None


def _telling(branches: Sequence[Schema]) -> list[str]:
    """The fields for which every branch has choices."""
    first = _fields(branches[0]) if branches else {}
    return [name for name in first if all(choices(branch, name) for branch in branches)]


def choices(branch: Schema, name: str) -> Sequence[Any]:
    """What a branch lets a field be, where it lists it."""
    field = _fields(branch).get(name)
    if not isinstance(field, dict):
        return ()
    return (field["const"],) if "const" in field else field.get("enum") or ()


def _fields(branch: Schema) -> Schema:
    fields = branch.get("properties")
    return fields if isinstance(fields, dict) else {}


def _is_among(value: Any, listed: Sequence[Any]) -> bool:
    """Whether it is one of the choices; to Python, true is 1."""
    return any(
        value == each and isinstance(value, bool) is isinstance(each, bool) for each in listed
    )
