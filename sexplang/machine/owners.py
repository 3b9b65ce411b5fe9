"""What a program's code was made of: the function and the node of each piece, found when somebody
asks.

Code does not say which part of a program it is. So the program is compiled once more, by a maker
that remembers what it made of which node, and both are numbered alike (`points.py`).
"""

from functools import partial
from typing import Any, TypeAlias
from weakref import WeakKeyDictionary

from sexplang.machine.generate import MAKERS, LoopCode, Make, Maker, Making, Piece
from sexplang.machine.link import compiled, linked_program
from sexplang.machine.points import Points, parts_of
from sexplang.machine.stack import Code, Linked
from sexplang.terms.core import Core
from sexplang.terms.program import Program
from sexplang.terms.task import TaskSystem

Owner: TypeAlias = tuple[int | None, Core | None]
"""A function, None at the top level, and a node in it."""

_known: WeakKeyDictionary[Linked, dict[int, Owner]] = WeakKeyDictionary()


def owners_of(program: Program, tasks: TaskSystem | None) -> dict[int, Owner]:
    """The function and the node that a program's code is of, by the id of the code."""
    run, linked, codes = linked_program(program, tasks)
    if linked not in _known:
        nodes: dict[int, Core] = {}
        again, linked_again, codes_again = compiled(program, tasks, partial(_Remembering, nodes))
        numbers = Points(again, linked_again, codes_again)
        owners: dict[Any, Owner] = {}
        for index, code in codes_again.items():
            _spread(parts_of(code), index, nodes, numbers, owners)
        _spread([again], None, nodes, numbers, owners)
        made = Points(run, linked, codes)
        _known[linked] = {
            id(point): owners[at] for at, point in enumerate(made.by_number) if at in owners
        }
    return _known[linked]


def _spread(
    roots: Any,
    function: int | None,
    nodes: dict[int, Core],
    numbers: Points,
    owners: dict[Any, Owner],
) -> None:
    """All code of a function that is nobody's yet is its own, and of the nearest node around it."""
    work: list[tuple[Any, Core | None]] = [(root, None) for root in roots or ()]
    seen: set[int] = set()
    while work:
        item, around = work.pop()
        number = numbers.of(item)
        if id(item) in seen or isinstance(item, Code) or number in owners:
            continue
        seen.add(id(item))
        node = nodes.get(id(item), around)
        if number is not None:
            owners[number] = function, node
        work.extend([(part, node) for part in parts_of(item) or ()])


class _Remembering(Maker):
    """Remembers of which node each piece of code was made, by the id of the code."""

    def __init__(self, nodes: dict[int, Core], codes: dict[int, Code]) -> None:
        super().__init__(codes)
        self.nodes = nodes

    def note(self, node: Core, piece: Piece) -> Piece:
        for code in (piece.code, piece.simple):
            if code is not None:
                self.nodes.setdefault(id(code), node)
        return piece


def _noting(make: Make) -> Make:
    def made(maker: Any, node: Any, loop: LoopCode | None) -> Making | Piece:
        making = make(maker, node, loop)
        if isinstance(making, Piece):
            return maker.note(node, making)  # type: ignore[no-any-return]
        return noted(maker, node, making)

    def noted(maker: Any, node: Any, making: Making) -> Making:
        return maker.note(node, (yield from making))  # type: ignore[no-any-return]

    return made


_Remembering.makers = {kind: _noting(make) for kind, make in MAKERS.items()}
