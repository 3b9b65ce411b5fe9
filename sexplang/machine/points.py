"""The code points of a linked program, numbered: what frames and segments may refer to.

Compiling is deterministic, so the closures that it makes are found in the same order in any
process that links the same program: by walking from its functions through what they close over.
What the machine's own modules define is known by name instead.
"""

import sys
from collections.abc import Callable, Iterator
from types import FunctionType, MethodType
from typing import Any

from sexplang.machine.generate import LoopCode, Piece
from sexplang.machine.stack import Code, Kind, Linked, Run
from sexplang.machine.unwinding import ClauseCode

_PACKAGE = __name__.rpartition(".")[0] + "."


class Points:
    """Numbers for the code of one linked program, and names for the machine's own."""

    def __init__(self, run: Run, linked: Linked, codes: dict[int, Code]) -> None:
        found = list(_reachable([run, *codes.values(), *linked.defaults.values()]))
        self.by_number: list[Any] = found
        self.by_name = dict(points_by_name())
        self._numbers = {id(point): at for at, point in enumerate(found)}
        self._names = {id(point): name for name, point in self.by_name.items()}

    def of(self, point: Any) -> int | str | None:
        """The number or the name of a code point, or None if it is none."""
        name = self._names.get(id(point))
        return name if name is not None else self._numbers.get(id(point))

    def at(self, place: int | str) -> Any:
        """The code point of that number or name. Raises LookupError."""
        return self.by_name[place] if isinstance(place, str) else self.by_number[place]


def points_by_name() -> Iterator[tuple[str, Any]]:
    """The functions and kinds that the machine's modules define, by module and name. Another thread
    may be loading modules meanwhile."""
    for module in sorted(name for name in list(sys.modules) if name.startswith(_PACKAGE)):
        for name, value in list(vars(sys.modules[module]).items()):
            if isinstance(value, Kind):
                yield f"{module}:{name}", value
                if value.stripped is not value:
                    yield f"{module}:{name}.stripped", value.stripped
                for operation, clauses in value.clauses.items():
                    for at, clause in enumerate(clauses):
                        yield f"{module}:{name}.{operation}.{at}", clause
            elif isinstance(value, FunctionType) and value.__module__ == module:
                yield f"{module}:{name}", value


def _reachable(roots: list[Any]) -> Iterator[Any]:
    """Functions that close over something, kinds, clauses and code, each once."""
    seen: set[int] = set()
    work = list(reversed(roots))
    while work:
        item = work.pop()
        if id(item) in seen:
            continue
        seen.add(id(item))
        parts = parts_of(item)
        if parts is not None:
            work.extend(reversed(parts))
            if not isinstance(item, (tuple, list, dict, Piece, LoopCode, MethodType)):
                yield item


def parts_of(item: Any) -> list[Any] | None:
    """What a piece of code refers to, in a fixed order; None for what is no code."""
    parts = _PARTS.get(type(item))
    if parts is not None:
        return parts(item)
    return _of_kind(item) if isinstance(item, Kind) else None


def _closed_over(item: FunctionType) -> list[Any] | None:
    if not item.__module__.startswith(_PACKAGE):
        return None
    return [cell.cell_contents for cell in item.__closure__ or () if _is_filled(cell)]


def _of_kind(item: Kind) -> list[Any]:
    own = [getattr(item, name, None) for name in ("returns", "body")]
    return [item.clauses, *own, item.stripped if item.stripped is not item else None]


_PARTS: dict[type, Callable[[Any], list[Any] | None]] = {
    FunctionType: _closed_over,
    MethodType: lambda item: [item.__self__],
    Code: lambda item: [item.body, item.pure, item.defaults],
    ClauseCode: lambda item: [item.body],
    Piece: lambda item: [item.simple, item.code],
    LoopCode: lambda item: [item.body],
    tuple: list,
    list: list,
    dict: lambda item: list(item.values()),
}


def _is_filled(cell: Any) -> bool:
    try:
        cell.cell_contents  # noqa: B018  (an empty cell raises)
    except ValueError:
        return False
    return True
