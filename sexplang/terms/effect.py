"""Requests and replies: a program's only contact with the world."""

from collections.abc import Callable
from typing import Any, TypeAlias

from sexplang.terms.classes.node import frozen, node
from sexplang.terms.task import Context
from sexplang.terms.values.value import Record, Value


@node(unsafe_hash=True)
class Request:
    """An operation that no handler of the program takes, addressed to the host.

    `id` is its identity: the path of its branch and its ordinal in that branch, joined by dots. It
    does not depend on timing. `arguments` are plain data. `context` is the work that it is made
    for. Requests are hashable by id: equal requests have the same id.
    """

    id: str
    operation: str
    arguments: tuple[Value, ...]
    context: Context = Context()
    span: Any = None

    def __hash__(self) -> int:
        return hash(self.id)


Part: TypeAlias = dict[str, Value]
"""The partial result of a withdrawn model call.

`usage` is the counted usage of all attempts; `text` is the text of the last reply as far as it had
arrived; `model` is the model that counted, if it is known. `uncounted` is true if an attempt was in
progress without a count, `unmade` if the call had not begun.
"""

UNMADE: Part = {"usage": {}, "text": "", "model": "", "unmade": True}
"""The part of a call that had not begun."""

UNCOUNTED: Part = {"usage": {}, "text": "", "model": "", "uncounted": True}
"""The part of a call that was made and of which nothing else is known."""


def with_sent(part: Part) -> Part:
    """Return the part for a call that fails: its uncounted attempt is included in the usage."""
    if "uncounted" not in part:
        return part
    usage = part["usage"]
    return {**part, "usage": {**usage, "uncounted": usage.get("uncounted", 0) + 1}}


SoFar: TypeAlias = Callable[[str], Part | None]
"""The part of a call by its id, at the time of one delivery; None if it is not known."""


def unknown(id: str) -> None:
    """Return None: the part of no call is known."""


_PARTS: tuple[tuple[str, type, Any], ...] = (
    ("usage", dict, None),
    ("text", str, None),
    ("model", str, ""),
)


def partial_usage(so_far: SoFar, id: str) -> Part | None:
    """Return the part of a call, or None. Raises TypeError for an invalid part."""
    part: Any = so_far(id)
    if part is None:
        return None
    if not isinstance(part, dict):
        kind = type(part).__name__
        raise TypeError(f"so_far gives None or {{'usage': {{…}}, 'text': …}} of a call, not {kind}")
    for name, takes, unsaid in _PARTS:
        if not isinstance(part.get(name, unsaid), takes):
            given = type(part[name]).__name__ if name in part else "nothing"
            raise TypeError(f"`{name}` of what so_far gives is a {takes.__name__}, not {given}")
    return part


@frozen
class Reply:
    """The answer to a request: a value, or an error record with `failed`."""

    value: Value
    failed: bool = False

    @property
    def error(self) -> Record:
        assert self.failed
        error = self.value
        assert isinstance(error, Record)
        return error
