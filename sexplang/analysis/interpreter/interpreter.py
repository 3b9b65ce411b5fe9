"""Core to its value and its work, as far as they can be known: every node by table.

Calls are followed into the functions that are called, with what is known of the arguments, so a
function that is given another is followed with that one. Nothing recurses in Python: following is
written as generators that yield what is to be followed next.
"""

from collections.abc import Callable, Generator, Iterator
from functools import cache
from types import GeneratorType
from typing import Any, TypeAlias, TypeVar

from sexplang.analysis.domain.bounds import no_bound
from sexplang.analysis.domain.effects_and_calls import (
    ANYTHING,
    NOTHING,
    EffectCounts,
    EscapedCall,
    repeat_work,
    together,
)
from sexplang.analysis.domain.environments import Environment
from sexplang.analysis.domain.handler_stack import ActiveCall, ActiveHandle, ActiveLoop, certain
from sexplang.analysis.domain.values import ANY, DATA, Abstract, Closure, Values
from sexplang.analysis.interpreter.observations import Observations
from sexplang.terms.classes.node import define, evolve, field, fields, frozen
from sexplang.terms.core import (
    Clause,
    Core,
    Handle,
)
from sexplang.terms.program import Bind, Function, Program
from sexplang.terms.source import Span
from sexplang.terms.values.value import Task

STEPS = 60_000
"""How many nodes are followed before a program counts as too involved."""

Seen: TypeAlias = tuple[Abstract, EffectCounts]
Steps: TypeAlias = Generator[Any, Any, Seen]
Given: TypeAlias = tuple[Abstract, dict[Handle, Any]]
"""What a handle expression gave, and the same of those in it."""


class TooInvolved(Exception):
    """The program cannot be followed in reasonable time."""


@frozen(eq=False)
class Location:
    """Where a node stands: its environment, the handlers around it, its loop."""

    environment: Environment
    handling: ActiveHandle | None = None
    loop: ActiveLoop | None = None
    site: Span | None = None
    """Where the program called a function of `stdlib/`, while that is followed: what a message
    about it points to."""

    def place(self, node: Core) -> Span:
        """What a message about a node points to."""
        return self.site or node.span

    def under(self, handling: ActiveHandle | None) -> "Location":
        """The same place under other handlers; no `recur` leads out of them."""
        return evolve(self, handling=handling, loop=None)

    def with_slots(self, values: Values, slots: tuple[Abstract, ...]) -> "Location":
        """The same place with more slots."""
        return evolve(self, environment=values.wider(self.environment, slots))


@frozen
class Costs:
    """What the tasks room allows a conversation: see `turns_of`."""

    turns: int = 20
    repairs: int = 2


RULES: dict[type, Callable[["AbstractInterpreter", Any, Location], "Seen | Steps"]] = {}
"""How each kind of node is followed; the other modules of this room fill it."""


F = TypeVar("F", bound=Callable[..., Any])


def rule_for(kind: type) -> Callable[[F], F]:
    """Registers how a kind of node is followed."""

    def register(function: F) -> F:
        RULES[kind] = function
        return function

    return register


@define(eq=False)
class AbstractInterpreter:
    """One program being followed."""

    program: Program
    costs: Costs
    values: Values = field(factory=Values)
    functions: dict[int, Function] = field(init=False)
    asks_models: bool = field(init=False)
    integers: frozenset[str] = field(init=False)
    """The inputs that are whole numbers."""
    steps: int = 0
    allowed: int = STEPS
    top: Environment | None = None
    """What the program has defined where it is followed now."""
    gave_up: bool = False
    """Whether something was too involved: then what was not seen may be there all the same."""
    memo: dict[Any, Seen] = field(factory=dict)
    calling: dict[int, list[ActiveCall]] = field(factory=dict)
    """Functions that are being followed now, by index; innermost last."""
    tasking: dict[str, Span] = field(factory=dict)
    """Tasks that are being followed now, and where they were called first."""
    conversing: int = 0
    """How many conversations what is followed now is done for."""
    hits: int = 0
    """How often something was assumed of a function that was still being followed."""
    handled: dict[Clause, bool] = field(factory=dict)
    """Clauses whose handle expression was followed, and whether they were ever performed."""
    crossed: dict[Span, tuple[str, bool]] = field(factory=dict)
    """What branches of conversations perform and clauses take that do not only resume last: by the
    place, or the program's clause, the operation, and whether it may be that no run comes to it."""
    narrow: dict[Clause, int] = field(factory=dict)
    """Clauses that are given more than they have parameters for, and how many arguments."""
    answered: dict[Clause, list[Abstract]] = field(factory=dict)
    """What clauses resume with that a conversation asks."""
    direct: str = ""
    """What the innermost conversation performs now, in a branch."""
    unsure: int = 0
    """How many of the calls that are followed now are among several of which one is made."""
    open: set[Clause] = field(factory=set)
    """Clauses around a call of something unknown."""
    raised: Abstract = DATA
    """What was ever raised."""
    notes: Observations = field(factory=Observations)
    before: dict[Handle, Given] = field(factory=dict)
    """What handle expressions gave when what is around them was last looked at."""
    found: dict[Handle, Given] = field(factory=dict)
    """What they give in this look."""
    last: int = 0

    def __attrs_post_init__(self) -> None:
        self.functions = {function.index: function for function in self.program.functions}
        self.integers = frozenset(
            [given.name for given in self.program.inputs if given.type == "integer"]
        )
        self.asks_models = bool(self.program.tasks) or _asks_models(self.program)

    def run(self, step: Any) -> Seen:
        """Drives what `look` gives. Raises TooInvolved."""
        if type(step) is tuple:
            return step
        stack: list[Any] = [step]
        sent: Any = None
        while True:
            try:
                asked = stack[-1].send(sent)
                sent = None
                if type(asked) is GeneratorType:
                    stack.append(asked)
                else:
                    sent = asked
            except StopIteration as done:
                stack.pop()
                sent = done.value
                if not stack:
                    return sent  # type: ignore[no-any-return]

    def restart(self, steps: int) -> None:
        """Ready to follow something else for so many steps, wherever the last was left."""
        self.calling.clear()
        self.before, self.found = {}, {}
        self.tasking.clear()
        self.conversing = 0
        self.allowed = self.steps + steps

    def cross(self, operation: str, span: Span, clause: Clause | None) -> None:
        """A branch of a conversation performs what a clause cannot take from there. What a clause
        or a tool performs in turn may be for a tool that is called in order."""
        if operation != self.direct and any(task.template.in_order for task in self.program.tasks):
            return
        is_own = clause is not None and not clause.span.source.name.startswith("std/")
        at = clause.span if clause is not None and is_own else span
        first, unsure = self.crossed.get(at, (operation, True))
        self.crossed[at] = first, unsure and (self.unsure > 0 or operation != self.direct)

    def evaluate(self, node: Core, at: Location) -> "Seen | Steps":
        """The value and work of a node, to be yielded."""
        self.steps += 1
        if self.steps > self.allowed:
            raise TooInvolved
        follow = RULES.get(type(node))
        return follow(self, node, at) if follow is not None else _unknown(self, node, at)

    def each(self, nodes: tuple[Core, ...], at: Location) -> Generator[Any, Any, Any]:
        """The values of nodes in a row, and their work together."""
        seen = []
        works = []
        for node in nodes:
            value, work = yield self.evaluate(node, at)
            seen.append(value)
            works.append(work)
        return tuple(seen), together(*works)

    def number(self) -> int:
        """A number that nothing else has."""
        self.last += 1
        return self.last

    def anything(self, why: str, span: Span, handling: ActiveHandle | None) -> EffectCounts:
        """What something unknown may do: perform any operation, any number of times."""
        self.expose(handling)
        bound = no_bound(why, span)
        if not self.asks_models:
            return EffectCounts({ANYTHING: bound})
        return EffectCounts(
            {ANYTHING: bound, "model": bound, EscapedCall(certain(handling)): bound}
        )

    def expose(self, handling: ActiveHandle | None) -> None:
        """Whatever is performed here, every handler around it may take."""
        while handling is not None:
            for clauses in handling.clauses.values():
                self.open.update(clauses)
            handling = handling.outer

    def closure(self, index: int, environment: Environment, depth: int = 0) -> Closure:
        """A function with the environment `depth` levels up."""
        found: Environment | None = environment
        for _ in range(depth):
            found = found.enclosing if found is not None else None
        return self.values.make(Closure, index, found or environment)  # type: ignore[no-any-return]


def _unknown(m: AbstractInterpreter, node: Core, at: Location) -> Steps:
    """A kind of node that is not in the table: its parts may be evaluated any number of times."""
    seen, work = yield m.each(tuple(children(node)), at)
    why = "it is not known how often this is done"
    return m.values.within(seen) if seen else ANY, repeat_work(work, no_bound(why, at.place(node)))


def children(node: Any) -> list[Any]:
    """The nodes directly inside a node, whatever its kind."""
    kind: Any = type(node)
    found: list[Any] = []
    for name in _names(kind):
        value = getattr(node, name)
        if type(value) is tuple:
            found += [one for one in value if is_core(one)]
        elif is_core(value):
            found.append(value)
    return found


@cache
def _names(kind: type) -> tuple[str, ...]:
    return tuple([attribute.name for attribute in fields(kind) if attribute.name != "span"])


def is_core(value: Any) -> bool:
    """Whether this is a node."""
    return type(value).__module__ == Clause.__module__


def parts(program: Program) -> list[Any]:
    """Every node at the top of a unit, of a function or of a default."""
    found: list[Any] = []
    for unit in program.units:
        found += [item.value if isinstance(item, Bind) else item for item in unit.items]
        for function in unit.functions:
            found.append(function.body)
            found += [each.default for each in function.params if each.default is not None]
    return found


def _asks_models(program: Program) -> bool:
    """Whether `model` or a task is mentioned anywhere."""
    for node in _all(parts(program)):
        value = getattr(node, "value", None)
        if isinstance(value, Task) or getattr(value, "name", "") in ("model", "run-plan"):
            return True
        if getattr(node, "operation", None) == "model":
            return True
    return False


def _all(nodes: list[Any]) -> Iterator[Any]:
    """These nodes and all that are in them."""
    work = [*nodes]
    while work:
        node = work.pop()
        yield node
        work.extend(children(node))


def nothing(value: Abstract) -> Seen:
    """A value that costs nothing."""
    return value, NOTHING
