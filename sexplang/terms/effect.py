"""Requests and what answers them: the whole of a program's contact with the world."""

from collections.abc import Callable
from typing import Any, TypeAlias

from sexplang.terms.classes.node import frozen, node
from sexplang.terms.task import Context
from sexplang.terms.values.value import Record, Value


@node(unsafe_hash=True)
class Request:
    """An operation that nobody in the program answers, waiting for the host.

    `id` is its identity: the path of its branch and its ordinal in that branch, joined by dots;
    it does not depend on timing. `arguments` are plain data. `context` says what it is for.
    Requests can be kept in sets and as keys: those that are equal have the same id.
    """

    id: str
    operation: str
    arguments: tuple[Value, ...]
    context: Context = Context()
    span: Any = None

    def __hash__(self) -> int:
        return hash(self.id)


Part: TypeAlias = dict[str, Value]
"""What a model call had got when it was withdrawn: `usage`, what was counted of all its attempts;
`text`, what had arrived last of a reply; `model`, who counted, if they said so. `uncounted` is true
where an attempt was under way of which nothing was counted, `unmade` where nobody had begun with
the call."""

UNMADE: Part = {"usage": {}, "text": "", "model": "", "unmade": True}
"""That of a call that nobody had begun with."""

UNCOUNTED: Part = {"usage": {}, "text": "", "model": "", "uncounted": True}
"""That of a call of which nothing is known but that it was made."""


def with_sent(part: Part) -> Part:
    """The same of a call that fails: an attempt of which nothing was counted is in its usage."""
    if "uncounted" not in part:
        return part
    usage = part["usage"]
    return {**part, "usage": {**usage, "uncounted": usage.get("uncounted", 0) + 1}}


SoFar: TypeAlias = Callable[[str], Part | None]
"""A call's id → its part, at the time of one delivery; None where nobody knows."""


def unknown(id: str) -> None:
    """Nobody knows what any call had got."""


_PARTS: tuple[tuple[str, type, Any], ...] = (
    ("usage", dict, None),
    ("text", str, None),
    ("model", str, ""),
)


def partial_usage(so_far: SoFar, id: str) -> Part | None:
    """What a call had got. Raises TypeError where that is no part of one."""
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
    """The answer: a value, or an error record with `failed`."""

    value: Value
    failed: bool = False

    @property
    def error(self) -> Record:
        assert self.failed
        error = self.value
        assert isinstance(error, Record)
        return error
