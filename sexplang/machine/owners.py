"""What a program's code was made of: the function and the node of each piece, found when somebody
asks.

Code does not say which part of a program it is. So the program is compiled once more, by a maker
that remembers what it made of which node, and both are walked side by side: they are alike.
"""

from functools import partial
from typing import Any, TypeAlias
from weakref import WeakKeyDictionary

from sexplang.machine.generate import MAKERS, LoopCode, Make, Maker, Making, Piece
from sexplang.machine.link import compiled, linked_program
from sexplang.machine.points import parts_of, points_by_name
from sexplang.machine.stack import Code, Linked
from sexplang.terms.core import Core
from sexplang.terms.program import Program
from sexplang.terms.task import TaskSystem

Owner: TypeAlias = tuple[int | None, Core | None]
"""A function, None at the top level, and a node in it."""

OURS: Owner = None, None
"""What the machine's own modules define is of no program."""

Noted: TypeAlias = tuple[Any, Core]
"""A piece of code and its node. Code that is dropped would leave its id to another."""

Parts: TypeAlias = list[Any] | None

_known: WeakKeyDictionary[Linked, dict[int, Owner]] = WeakKeyDictionary()


def owners_of(program: Program, tasks: TaskSystem | None) -> dict[int, Owner]:
    """The function and the node that a program's code is of, by the id of the code."""
    run, linked, codes = linked_program(program, tasks)
    if linked not in _known:
        nodes: dict[int, Noted] = {}
        again, _, codes_again = compiled(program, tasks, partial(_Remembering, nodes))
        owners: dict[int, Owner] = {id(point): OURS for _, point in points_by_name()}
        for index, code in codes.items():
            _spread(parts_of(code), parts_of(codes_again[index]), index, nodes, owners)
        _spread([run], [again], None, nodes, owners)
        _known[linked] = {at: owner for at, owner in owners.items() if owner is not OURS}
    return _known[linked]


def _spread(
    made: Parts,
    again: Parts,
    function: int | None,
    nodes: dict[int, Noted],
    owners: dict[int, Owner],
) -> None:
    """All code of a function that is nobody's yet is its own, and of the nearest node around it:
    `nodes` knows those of the code that was made `again`."""
    work: list[tuple[Any, Any, Core | None]] = [
        (item, same, None) for item, same in zip(made or (), again or (), strict=True)
    ]
    while work:
        item, same, around = work.pop()
        parts = parts_of(item)
        if parts is None or isinstance(item, Code) or id(item) in owners:
            continue
        _, node = nodes.get(id(same), (None, around))
        owners[id(item)] = function, node
        work += [(one, other, node) for one, other in zip(parts, parts_of(same) or (), strict=True)]


class _Remembering(Maker):
    """Remembers of which node each piece of code was made, by the id of the code."""

    def __init__(self, nodes: dict[int, Noted], codes: dict[int, Code]) -> None:
        super().__init__(codes)
        self.nodes = nodes

    def note(self, node: Core, piece: Piece) -> Piece:
        for code in (piece.code, piece.simple):
            if code is not None:
                self.nodes.setdefault(id(code), (code, node))
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
