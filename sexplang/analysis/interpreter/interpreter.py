"""The abstract interpreter: the abstract value and the effect counts of core, by a table of rules.

A call interprets the called function with the abstract arguments, so a higher-order function is
interpreted for each function that it is given. Python's stack is not used: a rule is a generator
that yields the steps it depends on.
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
    add_counts,
    repeat_work,
)
from sexplang.analysis.domain.environments import Environment
from sexplang.analysis.domain.handler_stack import (
    ActiveCall,
    ActiveHandle,
    ActiveLoop,
    answering_handler,
    certain,
)
from sexplang.analysis.domain.values import ANY, DATA, Abstract, Closure, Values
from sexplang.analysis.interpreter.observations import Observations
from sexplang.terms.classes.node import define, evolve, field, fields, frozen
from sexplang.terms.core import (
    Clause,
    Core,
    Handle,
)
from sexplang.terms.program import Bind, Function, Input, Program
from sexplang.terms.source import Span
from sexplang.terms.values.value import Task

STEPS = 60_000
"""The number of nodes that are interpreted before a program counts as too involved."""

Seen: TypeAlias = tuple[Abstract, EffectCounts]
Steps: TypeAlias = Generator[Any, Any, Seen]
Given: TypeAlias = tuple[Abstract, dict[Handle, Any]]
"""The result of a handle expression, and the results of those inside it."""


class TooInvolved(Exception):
    """The program exceeds the step limit of the analysis."""


@frozen(eq=False)
class Location:
    """The place of a node: its environment, the handlers around it, its loop."""

    environment: Environment
    handling: ActiveHandle | None = None
    loop: ActiveLoop | None = None
    site: Span | None = None
    """The call site in the program of a function of `stdlib/` under interpretation. Messages point
    there."""

    def place(self, node: Core) -> Span:
        """Return the span for a message about a node."""
        return self.site or node.span

    def under(self, handling: ActiveHandle | None) -> "Location":
        """Return the same place under other handlers. No `recur` leads out of them."""
        return evolve(self, handling=handling, loop=None)

    def with_slots(self, values: Values, slots: tuple[Abstract, ...]) -> "Location":
        """Return the same place with more slots."""
        return evolve(self, environment=values.wider(self.environment, slots))


@frozen
class Costs:
    """The limits of conversations, from `tasks`; see `turns_of`."""

    turns: int = 20
    repairs: int = 2


RULES: dict[type, Callable[["AbstractInterpreter", Any, Location], "Seen | Steps"]] = {}
"""The rule for each kind of node. The other modules of this package fill the table."""


F = TypeVar("F", bound=Callable[..., Any])


def rule_for(kind: type) -> Callable[[F], F]:
    """Register the rule for a kind of node."""

    def register(function: F) -> F:
        RULES[kind] = function
        return function

    return register


@frozen
class Crossing:
    """An operation of a branch that a clause around it takes."""

    operation: str
    unsure: bool
    """Whether it may never be performed."""
    conversing: bool
    """Whether the branch is that of a conversation."""


@define(eq=False)
class AbstractInterpreter:
    """The state of the interpretation of one program."""

    program: Program
    costs: Costs
    values: Values = field(factory=Values)
    functions: dict[int, Function] = field(init=False)
    asks_models: bool = field(init=False)
    inputs: dict[str, Input] = field(init=False)
    steps: int = 0
    allowed: int = STEPS
    top: Environment | None = None
    """The definitions of the program at the current place."""
    gave_up: bool = False
    """Whether the step limit was reached. Then an effect that was not seen may still occur."""
    memo: dict[Any, Seen] = field(factory=dict)
    calling: dict[int, list[ActiveCall]] = field(factory=dict)
    """Active functions by index, innermost last."""
    tasking: dict[str, Span] = field(factory=dict)
    """Active tasks, and the span of the first call of each."""
    conversing: int = 0
    """The number of conversations around the current place."""
    hits: int = 0
    """The number of assumptions about functions that are still active."""
    handled: dict[Clause, bool] = field(factory=dict)
    """Clauses whose handle expression was interpreted, and whether they were ever performed."""
    crossed: dict[Span, "Crossing"] = field(factory=dict)
    """Operations of branches that a clause takes without resuming in tail position only, by span of
    the performer or of the program's clause."""
    branches: dict[ActiveHandle, ActiveHandle] = field(factory=dict)
    """The place inside a branch of a `par`, by the handler around it."""
    narrow: dict[Clause, int] = field(factory=dict)
    """Clauses with fewer parameters than arguments, and the number of arguments."""
    answered: dict[Clause, list[Abstract]] = field(factory=dict)
    """The values that clauses resume a conversation with."""
    direct: str = ""
    """The operation that the innermost conversation performs now in a branch."""
    unsure: int = 0
    """The number of active calls that are one of several possible callees."""
    open: set[Clause] = field(factory=set)
    """Clauses around a call of an unknown function."""
    raised: Abstract = DATA
    """The join of all raised values."""
    observations: Observations = field(factory=Observations)
    before: dict[Handle, Given] = field(factory=dict)
    """The results of handle expressions in the last iteration over the code around them."""
    found: dict[Handle, Given] = field(factory=dict)
    """The results of handle expressions in this iteration."""
    last: int = 0

    def __attrs_post_init__(self) -> None:
        self.functions = {function.index: function for function in self.program.functions}
        self.inputs = {given.name: given for given in self.program.inputs}
        self.asks_models = bool(self.program.tasks) or _asks_models(self.program)

    def run(self, step: Any) -> Seen:
        """Run a step of `evaluate` to its result. Raises TooInvolved."""
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
        """Reset the state for another interpretation of at most `steps` nodes."""
        self.calling.clear()
        self.before, self.found = {}, {}
        self.tasking.clear()
        self.conversing = 0
        self.allowed = self.steps + steps

    def branch(self, handling: ActiveHandle | None) -> ActiveHandle | None:
        """Return the place inside a branch of a `par`. Without a handler around, nothing crosses
        it."""
        if handling is None or handling.branches:
            return handling
        inside = self.branches.get(handling)
        if inside is None:
            inside = ActiveHandle(self.number(), handling, handling.environment, branches=True)
            inside.answering = answering_handler(handling)
            self.branches[handling] = inside
        return inside

    def cross(
        self, operation: str, span: Span, clause: Clause | None, branch: ActiveHandle
    ) -> None:
        """Record that a branch performs an operation that a clause cannot take there. In a
        conversation, a clause or a tool may perform on behalf of a tool that is called in order."""
        if branch.conversing:
            is_direct = operation == self.direct
            if not is_direct and any(task.template.in_order for task in self.program.tasks):
                return
        is_own = clause is not None and not clause.span.source.name.startswith("std/")
        at = clause.span if clause is not None and is_own else span
        unsure = not branch.conversing or self.unsure > 0 or operation != self.direct
        first = self.crossed.get(at, Crossing(operation, True, branch.conversing))
        self.crossed[at] = evolve(first, unsure=first.unsure and unsure)

    def evaluate(self, node: Core, at: Location) -> "Seen | Steps":
        """Return the step that gives a node's value and effect counts."""
        self.steps += 1
        if self.steps > self.allowed:
            raise TooInvolved
        follow = RULES.get(type(node))
        return follow(self, node, at) if follow is not None else _unknown(self, node, at)

    def each(self, nodes: tuple[Core, ...], at: Location) -> Generator[Any, Any, Any]:
        """Interpret nodes in a row. Return their values and the sum of their counts."""
        seen = []
        works = []
        for node in nodes:
            value, work = yield self.evaluate(node, at)
            seen.append(value)
            works.append(work)
        return tuple(seen), add_counts(*works)

    def number(self) -> int:
        """Return a fresh number."""
        self.last += 1
        return self.last

    def anything(self, why: str, span: Span, handling: ActiveHandle | None) -> EffectCounts:
        """Return the effects of an unknown function: any operation, any number of times."""
        self.expose(handling)
        bound = no_bound(why, span)
        if not self.asks_models:
            return EffectCounts({ANYTHING: bound})
        return EffectCounts(
            {ANYTHING: bound, "model": bound, EscapedCall(certain(handling)): bound}
        )

    def expose(self, handling: ActiveHandle | None) -> None:
        """Record that every handler around may take operations from here."""
        while handling is not None:
            for clauses in handling.clauses.values():
                self.open.update(clauses)
            handling = handling.outer

    def closure(self, index: int, environment: Environment, depth: int = 0) -> Closure:
        """Return a function with the environment `depth` levels up."""
        found: Environment | None = environment
        for _ in range(depth):
            found = found.enclosing if found is not None else None
        return self.values.make(Closure, index, found or environment)  # type: ignore[no-any-return]


def _unknown(m: AbstractInterpreter, node: Core, at: Location) -> Steps:
    """Interpret a node without a rule: its parts may be evaluated any number of times."""
    seen, work = yield m.each(tuple(children(node)), at)
    why = "it is not known how often this is done"
    return m.values.within(seen) if seen else ANY, repeat_work(work, no_bound(why, at.place(node)))


def children(node: Any) -> list[Any]:
    """Return the direct children of a node."""
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
    """Return whether a value is a node."""
    return type(value).__module__ == Clause.__module__


def parts(program: Program) -> list[Any]:
    """Return every node at the top of a unit, of a function or of a default."""
    found: list[Any] = []
    for unit in program.units:
        found += [item.value if isinstance(item, Bind) else item for item in unit.items]
        for function in unit.functions:
            found.append(function.body)
            found += [each.default for each in function.params if each.default is not None]
    return found


def _asks_models(program: Program) -> bool:
    """Return whether `model` or a task is mentioned anywhere."""
    for node in _all(parts(program)):
        value = getattr(node, "value", None)
        if isinstance(value, Task) or getattr(value, "name", "") in ("model", "run-plan"):
            return True
        if getattr(node, "operation", None) == "model":
            return True
    return False


def _all(nodes: list[Any]) -> Iterator[Any]:
    """Yield these nodes and all their descendants."""
    work = [*nodes]
    while work:
        node = work.pop()
        yield node
        work.extend(children(node))


def without_effects(value: Abstract) -> Seen:
    """Return a value without effects."""
    return value, NOTHING
