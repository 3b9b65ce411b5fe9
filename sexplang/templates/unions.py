"""Data that fits no branch of a union to the branch that was meant, or to the field that says which
and says none.

A field tells branches apart where each has choices for it (`const`, `enum`).
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

Schema = dict[str, Any]
Fits = Callable[[Any, Schema], bool]
"""Whether data is of a branch's kind."""


def meant(data: Any, branches: Sequence[Schema], is_of: Fits) -> int | None:
    """The index of the branch that the data was meant for: the only one of its kind; of objects
    that whose choice a field has, else that with the most of its fields. None for nobody knows."""
    kind = [at for at, branch in enumerate(branches) if is_of(data, branch)]
    if type(data) is not dict:
        return kind[0] if len(kind) == 1 else None
    for name in data:
        having = [at for at in kind if choices(branches[at], name)]
        chosen = [at for at in having if _is_among(data[name], choices(branches[at], name))]
        if len(having) == len(kind) > len(chosen) == 1:
            return chosen[0]
    return max(kind, key=lambda at: len(data.keys() & _fields(branches[at])), default=None)


def astray(data: Any, branches: Sequence[Schema]) -> tuple[str, list[Any]] | None:
    """A field by which the branches are told apart and that has the choice of none of them, and all
    these choices."""
    for name in data if type(data) is dict else ():
        listed = [choices(branch, name) for branch in branches]
        every = [each for some in listed for each in some]
        if len(listed) > 1 and all(listed) and not _is_among(data[name], every):
            return name, [each for at, each in enumerate(every) if each not in every[:at]]
    return None


def choices(branch: Schema, name: str) -> Sequence[Any]:
    """What a branch lets a field be, where it lists it."""
    field = _fields(branch).get(name)
    if not isinstance(field, dict):
        return ()
    return (field["const"],) if "const" in field else field.get("enum") or ()


def branches_at(schema: Schema, path: Iterator[Any] | Sequence[Any]) -> list[Schema] | None:
    """The branches of the union at a path of a JSON Schema, references within it followed; None
    where they cannot be found."""
    found = _at(schema, path)
    if not isinstance(found, (list, tuple)):
        return None
    branches = [_resolved(schema, each) for each in found]
    return branches if all(isinstance(each, dict) for each in branches) else None


def _resolved(schema: Schema, branch: Any) -> Any:
    for _ in range(10):
        reference = branch.get("$ref") if isinstance(branch, dict) else None
        if not isinstance(reference, str) or not reference.startswith("#/"):
            break
        keys = reference[2:].split("/")
        branch = _at(schema, [key.replace("~1", "/").replace("~0", "~") for key in keys])
    return branch


def _at(schema: Any, path: Iterator[Any] | Sequence[Any]) -> Any:
    for key in path:
        try:
            schema = schema[int(key)] if isinstance(schema, (list, tuple)) else schema[key]
        except (KeyError, IndexError, TypeError, ValueError):
            return None
    return schema


def _fields(branch: Schema) -> Schema:
    fields = branch.get("properties")
    return fields if isinstance(fields, dict) else {}


def _is_among(value: Any, listed: Sequence[Any]) -> bool:
    """Whether it is one of the choices; to Python, true is 1."""
    return any(
        value == each and isinstance(value, bool) is isinstance(each, bool) for each in listed
    )
