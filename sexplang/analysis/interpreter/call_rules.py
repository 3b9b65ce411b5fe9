"""Rules for calls of functions, operations, tasks and the prelude."""

from collections.abc import Callable, Iterable
from typing import Any

from sexplang.analysis.domain.bounds import no_bound
from sexplang.analysis.domain.effects_and_calls import (
    NOTHING,
    EffectCounts,
    FollowedCall,
    ParameterCall,
    add_counts,
    max_counts,
    one_count,
    repeat_work,
)
from sexplang.analysis.domain.environments import Environment
from sexplang.analysis.domain.handler_stack import ActiveCall, ActiveHandle, is_alike
from sexplang.analysis.domain.primitive_results import result_of
from sexplang.analysis.domain.typed_values import is_part
from sexplang.analysis.domain.values import ANY, DATA, Abstract, Closure, Constant, Param, Resume
from sexplang.analysis.domain.values import functions as functions_in
from sexplang.analysis.interpreter.interpreter import (
    AbstractInterpreter,
    Location,
    Seen,
    Steps,
    rule_for,
    without_effects,
)
from sexplang.analysis.interpreter.resume_rules import escape, resume
from sexplang.analysis.own_nodes import is_own
from sexplang.terms.core import Call, CallKnown, Core
from sexplang.terms.program import Function
from sexplang.terms.source import Span
from sexplang.terms.values.value import Higher, Primitive

NESTED = 4
"""The number of nested uses of a function that are distinguished from recursion."""

ROUNDS = 6
"""The number of times that a recursive function is interpreted before widening to Top."""

Enter = Callable[
    [AbstractInterpreter, tuple[Abstract, ...], tuple[str, ...], "ActiveHandle | None", Span],
    "Seen | Steps",
]

HIGHER: dict[str, Enter] = {}
"""Rules for higher-order prelude functions, by name. `higher_order_rules` fills the table."""

SHIPPED: dict[tuple[str, str], Enter] = {}
"""Rules for functions of `stdlib/` that are not interpreted, by module and name."""

SHAPES: dict[type, Callable[..., "Seen | Steps"]] = {}
"""Rules for operations and tasks: `(m, shape, arguments, handling, span)`. `handler_rules` and
`model_call_rules` fill the table."""


@rule_for(Call)
def call(m: AbstractInterpreter, node: Call, at: Location) -> Steps:
    callee, before = yield m.evaluate(node.callee, at)
    seen, work = yield m.each(node.arguments, at)
    m.observations.call(node, callee, seen)
    value, after = yield apply(m, callee, seen, node.labels, at.handling, at.place(node))
    return value, add_counts(before, work, after)


@rule_for(CallKnown)
def call_known(m: AbstractInterpreter, node: CallKnown, at: Location) -> Steps:
    seen, work = yield m.each(node.arguments, at)
    callee = m.closure(node.function, at.environment, node.depth)
    m.observations.call(node, callee, seen)
    value, after = yield enter(m, callee, seen, (), at.handling, at.place(node))
    return value, add_counts(work, after)


def apply(
    m: AbstractInterpreter,
    callee: Abstract,
    arguments: tuple[Abstract, ...],
    labels: tuple[str, ...],
    handling: ActiveHandle | None,
    span: Span,
) -> Steps:
    """Interpret a call of any callee."""
    found = functions_in(callee)
    if isinstance(callee, Constant) and isinstance(callee.value, Primitive):
        if not takes(callee.value, len(arguments)):
            return without_effects(m.values.within(arguments))
        return without_effects(result_of(m.values, callee.value.name, arguments, span))
    if found is None:
        # An unknown function may call and return its arguments.
        escape(*arguments)
        return ANY, m.anything("nobody knows which function is called here", span, handling)
    value: Abstract | None = None
    works: list[EffectCounts] = []
    for one in in_order(found):
        given, work = yield _one(m, one, arguments, labels, handling, span)
        value = given if value is None else m.values.join(value, given)
        works.append(work)
    if value is None:
        # A primitive, or data, which fails.
        return without_effects(m.values.within(arguments))
    return (m.values.join(value, m.values.within(arguments)) if is_uncertain(callee) else value), (
        max_counts(*works)
    )


def _one(
    m: AbstractInterpreter,
    callee: Any,
    arguments: tuple[Abstract, ...],
    labels: tuple[str, ...],
    handling: ActiveHandle | None,
    span: Span,
) -> Any:
    if isinstance(callee, Closure):
        return enter(m, callee, arguments, labels, handling, span)
    if isinstance(callee, Resume):
        return resume(m, callee, arguments, handling, span)
    if isinstance(callee, Param):
        m.expose(handling)
        escape(*arguments)
        return ANY, one_count(ParameterCall(callee.name), span)
    shape = callee.value
    if not isinstance(shape, Higher):
        return SHAPES[type(shape)](m, shape, arguments, handling, span)
    if not takes(shape, len(arguments)):
        return m.values.within(arguments), NOTHING
    follow = HIGHER.get(shape.name)
    if follow is None:
        escape(*arguments)
        return ANY, m.anything(f"it is not known what `{shape.name}` does", span, handling)
    return follow(m, arguments, labels, handling, span)


def enter(
    m: AbstractInterpreter,
    callee: Closure,
    arguments: tuple[Abstract, ...],
    labels: tuple[str, ...],
    handling: ActiveHandle | None,
    span: Span,
) -> Any:
    """Interpret a call of a function of the program."""
    function = m.functions[callee.function]
    slots = slots_of(m, function, arguments, labels)
    if slots is None:
        return without_effects(DATA)
    return call_with_slots(m, callee, slots, handling, span)


def call_with_slots(
    m: AbstractInterpreter,
    callee: Closure,
    slots: tuple[Abstract | None, ...],
    handling: ActiveHandle | None,
    span: Span,
) -> Any:
    """Interpret a call with a value in each slot; None stands for a default."""
    function = m.functions[callee.function]
    shipped = SHIPPED.get((function.span.source.name, function.name))
    if shipped is not None:
        return shipped(m, slots, (), handling, span)  # type: ignore[arg-type]
    if function.name != "lambda" and is_own(function.span):
        # Other callers may pass other types, and recursion is followed by kinds of data alone.
        slots = tuple([DATA if is_part(slot) else slot for slot in slots])
    return enter_function(m, callee, function, slots, handling, span)


def enter_function(
    m: AbstractInterpreter,
    callee: Closure,
    function: Function,
    slots: tuple[Abstract | None, ...],
    handling: ActiveHandle | None,
    span: Span,
) -> Steps:
    """Interpret a function of the program with a value in each slot; None stands for a default."""
    frames = m.calling.setdefault(function.index, [])
    active = _join_call(frames, callee, slots, handling)
    if active is not None:
        return _widen_call(m, active, callee, slots, handling, span)
    site = span if function.span.source.name.startswith("std/") else None
    key = (callee, slots, handling, site, m.conversing > 0)
    found = m.memo.get(key)
    if found is not None:
        return found
    hits = m.hits
    frame = ActiveCall(m.number(), slots, callee.environment, handling, DATA, site)  # type: ignore[arg-type]
    frame.omitted = _find_omitted(slots)
    frames.append(frame)
    value, work = yield _follow_body(m, function, frame)
    frames.pop()
    again = work.of(FollowedCall(frame.number))
    work = work.without(FollowedCall(frame.number))
    if not again.is_zero:
        work = repeat_work(work, no_bound(_repeats(function), again.span or span))
    is_assumed = m.hits != hits and (any(m.calling.values()) or m.tasking)
    if not is_assumed:
        m.memo[key] = (value, work)
    return value, work


def _join_call(
    frames: list[ActiveCall],
    callee: Closure,
    slots: tuple[Abstract | None, ...],
    handling: ActiveHandle | None,
) -> ActiveCall | None:
    """Return the active call that this call repeats.

    A call with other arguments may be another use of the function inside the first. After `NESTED`
    of them it counts as recursion.
    """
    for frame in frames:
        is_same = frame.arguments == slots and frame.environment is callee.environment
        if is_same and is_alike(frame.handling, handling):
            return frame
    return frames[-1] if len(frames) >= NESTED else None


def _repeats(function: Function) -> str:
    """Return the reason why a recursive function has no bound."""
    if function.span.source.name.startswith("std/"):
        return "what this asks for may ask for more"
    return f"{'this function' if function.name == 'lambda' else f'`{function.name}`'} calls itself"


def _follow_body(m: AbstractInterpreter, function: Function, frame: ActiveCall) -> Steps:
    """Interpret the body until the facts about its recursive calls are stable."""
    for _ in range(ROUNDS):
        known = (frame.arguments, frame.environment, m.raised, frame.omitted)
        frame.again, frame.wanted, frame.wider = False, frame.arguments, frame.environment
        value, work = yield _body(m, function, frame)
        if not frame.again:
            return value, work
        assert frame.wider is not None
        is_settled = (frame.wanted, frame.wider, m.raised, frame.omitted) == known
        if is_settled and m.values.covers(frame.value, m.values.within((value,))):
            return m.values.within((value,)), work
        frame.value = m.values.within((frame.value, value))
        frame.arguments, frame.environment = frame.wanted, frame.wider
    escape(*frame.arguments)
    why = f"it cannot be told what `{function.name}` calls"
    return ANY, m.anything(why, function.span, frame.handling)


def _body(m: AbstractInterpreter, function: Function, frame: ActiveCall) -> Steps:
    """Interpret defaults and body. A default sees the parameters before it."""
    environment: Environment = m.values.environment(frame.environment, ())
    works: list[EffectCounts] = []
    omitted = frame.omitted
    for at, slot in enumerate(frame.arguments):
        if at in omitted:
            default = function.params[at].default
            assert default is not None
            value, work = yield m.evaluate(
                default, Location(environment, frame.handling, site=frame.site)
            )
            slot = value if slot is None else slot
            works.append(work)
        environment = m.values.wider(environment, (slot,))
    body: Core = function.body
    value, work = yield m.evaluate(body, Location(environment, frame.handling, site=frame.site))
    return value, add_counts(*works, work)


def _widen_call(
    m: AbstractInterpreter,
    active: ActiveCall,
    callee: Closure,
    slots: tuple[Abstract | None, ...],
    handling: ActiveHandle | None,
    span: Span,
) -> Seen:
    """Interpret a recursive call: widen the arguments of the active call."""
    m.hits += 1
    active.again = True
    escape(callee, *slots)
    name = m.functions[callee.function].name
    if not is_alike(active.handling, handling):
        why = f"`{name}` calls itself inside a handler"
        return ANY, m.anything(why, span, handling)
    active.wanted = tuple(
        [_wider(m, old, new) for old, new in zip(active.wanted, slots, strict=True)]
    )
    active.omitted |= _find_omitted(slots)
    assert active.wider is not None
    if active.wider is not callee.environment:
        active.wider = m.values.widen_environment(active.wider, callee.environment)
    return active.value, one_count(FollowedCall(active.number), span)


def _find_omitted(slots: tuple[Abstract | None, ...]) -> frozenset[int]:
    return frozenset([at for at, slot in enumerate(slots) if slot is None])


def _wider(m: AbstractInterpreter, old: Abstract | None, new: Abstract | None) -> Any:
    if old is new:
        return old
    # A default that is omitted in one call and given in another may be any value.
    if old is None or new is None:
        return ANY
    return m.values.widen(old, new)


def in_order(found: Iterable[Any]) -> list[Any]:
    """Sort callees. The order of messages must not depend on addresses in memory."""
    return sorted(found, key=_order)


_KINDS = (Constant, Closure, Param, Resume)
"""The order of callees of different kinds."""


def _order(callee: Any) -> tuple[int, int, str]:
    value = getattr(callee, "value", None)
    name = getattr(value, "name", getattr(callee, "name", ""))
    return _KINDS.index(type(callee)), getattr(callee, "function", 0), name


def is_uncertain(callee: Abstract) -> bool:
    """Return whether a value may be something else than one function."""
    return not isinstance(callee, (Constant, Closure, Param, Resume))


def takes(shape: Primitive | Higher, count: int) -> bool:
    """Return whether a call with this many arguments fits."""
    return shape.least <= count and (shape.most is None or count <= shape.most)


def slots_of(
    m: AbstractInterpreter,
    function: Function,
    arguments: tuple[Abstract, ...],
    labels: tuple[str, ...],
) -> tuple[Abstract | None, ...] | None:
    """Return the value of each parameter (None: its default), or None if the call does not fit."""
    count = len(arguments) - len(labels)
    named = dict(zip(labels, arguments[count:], strict=True))
    size = len(function.params)
    slots: list[Abstract | None] = list(arguments[: min(count, size)])
    for param in function.params[len(slots) :]:
        given = named.get(param.name)
        if given is None and param.default is None:
            return None
        slots.append(given)
    if function.rest is not None:
        slots.append(result_of(m.values, "list", arguments[size:count], function.span))
    elif count > size:
        return None
    return tuple(slots)
