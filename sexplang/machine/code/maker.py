"""The maker: core to code, as closures over closures.

A node becomes a piece. A piece that cannot call, suspend or capture is simple: a function of the
environment. Any other piece is code that works on the registers. Pieces call the pieces inside them
on Python's stack up to a certain height; above it they go through the loop, or through frames.

`Maker.piece` drives generators, so the depth of a program does not matter: a maker yields a node
and is sent its piece.
"""

from collections.abc import Callable, Generator
from typing import Any, TypeAlias

from sexplang.machine.positions.sites import CODE, Sites
from sexplang.machine.stack import Code, Frame, Run, Segment, Step
from sexplang.terms.core import Const, Core, Known, Lambda, Local
from sexplang.terms.values.value import Value

MAX_NESTING = 40
"""How many Python calls pieces may nest."""

HEAVIEST = 100
"""The greatest weight of a simple call of a simple function. Simple code is not counted in steps,
so calls of calls must not multiply."""


class Piece:
    """A compiled node. A new piece has exactly one of `simple` and `code`."""

    __slots__ = ("code", "constant", "height", "jump", "near", "simple", "weight")

    def __init__(
        self, simple: Any = None, code: Run | None = None, height: int = 0, weight: int = 1
    ) -> None:
        self.simple = simple
        self.code = code
        self.height = height
        self.jump: tuple[Any, list[Any]] | None = None
        """The target and the arguments of a call one activation up whose arguments are all simple.
        The caller can then enter it without a Python call."""
        self.weight = weight
        """The greatest number of nodes that a simple piece evaluates, inner calls included."""
        self.near = 0
        """The slot, if the piece is a variable of this activation; else 0."""
        self.constant: tuple[Value] | None = None
        """The value, if the piece is a constant."""

    @property
    def run(self) -> Run:
        """The piece as code, at most `MAX_NESTING` Python calls high."""
        if self.code is None:
            self.code = value_of(self.simple)
        elif self.height > MAX_NESTING:
            self.code = bounce(self.code)
            self.height = 0
        return self.code


class LoopCode:
    """The body of a loop, for `recur`. It is set when the loop is compiled."""

    __slots__ = ("body",)

    body: Run


Making: TypeAlias = Generator[tuple[Core, "LoopCode | None"], Piece, Piece]
Make: TypeAlias = Callable[["Maker", Any, "LoopCode | None"], "Making | Piece"]

Combine: TypeAlias = Callable[["Maker", Any, list[Piece]], Piece]

MAKERS: dict[type, Make] = {}
"""The maker of each kind of node; `nodes` and `effects` fill it."""


def makes(kind: type) -> Callable[[Make], Make]:
    """Register the maker of a kind of node."""

    def register(make: Make) -> Make:
        MAKERS[kind] = make
        return make

    return register


LEAVES = frozenset([Const, Local, Known, Lambda])
"""The kinds of node without inner nodes. Their makers return a piece at once."""


def combines(kind: type, parts: Callable[[Any], tuple[Core, ...]]) -> Callable[[Combine], Combine]:
    """Register a maker that combines the pieces of a node's parts, none of them in tail
    position."""

    def register(combine: Combine) -> Combine:
        def make(maker: "Maker", node: Any, loop: LoopCode | None) -> Making | Piece:
            nodes = parts(node)
            if LEAVES.issuperset(map(type, nodes)):
                pieces = [maker.makers[type(each)](maker, each, None) for each in nodes]
                return combine(maker, node, pieces)  # type: ignore[arg-type]
            return make_combined(maker, node, nodes)

        def make_combined(maker: "Maker", node: Any, nodes: tuple[Core, ...]) -> Making:
            return combine(maker, node, (yield from every_one(maker, nodes)))

        MAKERS[kind] = make
        return combine

    return register


def every_one(maker: "Maker", nodes: tuple[Core, ...]) -> Any:
    """Yield nodes to the maker's driver, and return their pieces. None is in tail position."""
    pieces = []
    for node in nodes:
        if type(node) in LEAVES:
            pieces.append(maker.makers[type(node)](maker, node, None))
        else:
            pieces.append((yield node, None))
    return pieces


class Maker:
    """The compiler of one program's nodes. `codes` are its functions by index. All code that a
    register, a frame or a segment may hold is entered in `sites`."""

    makers = MAKERS

    def __init__(self, codes: dict[int, Code], sites: Sites) -> None:
        self.codes = codes
        self.sites = sites
        self.enter = sites.enter
        self._bodies: dict[int, Piece] = {}

    def function(self, index: int, body: Core) -> None:
        """Compile a function's body."""
        piece = self._bodies[index] = self.piece(body)
        code = self.codes[index]
        code.body, code.pure = self.run(body, piece), piece.simple

    def run(self, node: Core, piece: Piece) -> Run:
        """Return the piece of a node as code, entered as code that a register may hold."""
        run = piece.run
        self.enter(node, CODE, run)
        return run

    def pure(self, index: int) -> Piece | None:
        """Return the body of a function, if it is compiled already and simple."""
        piece = self._bodies.get(index)
        return piece if piece is not None and piece.simple is not None else None

    def piece(self, node: Core, loop: LoopCode | None = None) -> Piece:
        """Return the piece of a node of any depth."""
        made = self.makers[type(node)](self, node, loop)
        if isinstance(made, Piece):
            return made
        stack: list[Making] = [made]
        sent: Piece | None = None
        while True:
            try:
                inner, loop = stack[-1].send(sent)  # type: ignore[arg-type]
            except StopIteration as done:
                stack.pop()
                sent = done.value
                if not stack:
                    assert sent is not None
                    return sent
                continue
            made = self.makers[type(inner)](self, inner, loop)
            if isinstance(made, Piece):
                sent = made
            else:
                stack.append(made)
                sent = None


def value_of(simple: Any) -> Run:
    """Return simple code as code: its value goes to the frame on top."""

    def run(env: Any, k: Frame, s: Segment) -> Step:
        return k[0], simple(env), k, s

    return run


def bounce(code: Run) -> Run:
    """Return the same code by way of the loop, so that Python's stack starts anew. It goes through
    a frame, so it is no step."""

    def back(env: Any, k: Frame, s: Segment) -> Step:
        return code(env, k[1], s)

    def run(env: Any, k: Frame, s: Segment) -> Step:
        return back, env, (back, k), s

    return run


def fits_inline(pieces: list[Piece]) -> bool:
    """Return whether all pieces are simple and one more level of them may be called directly."""
    return not [piece for piece in pieces if piece.simple is None or piece.height >= MAX_NESTING]


def height(pieces: list[Piece]) -> int:
    """Return the height of a piece that calls these directly."""
    return 1 + max([piece.height for piece in pieces], default=0)


def combine_simple(simple: Any, pieces: list[Piece]) -> Piece:
    """Return a simple piece made of simple pieces."""
    height, weight = 0, 1
    for piece in pieces:
        weight += piece.weight
        if piece.height > height:
            height = piece.height
    return Piece(simple, None, height + 1, weight)


def cap(pieces: list[Piece]) -> list[Piece]:
    """Return the pieces. Simple pieces that are too tall become code of their own."""
    return [
        piece
        if piece.simple is None or piece.height < MAX_NESTING
        else Piece(code=bounce(value_of(piece.simple)))
        for piece in pieces
    ]
