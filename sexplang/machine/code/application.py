"""The application of a value to arguments: the next step for everything that can be called."""

from collections.abc import Callable
from functools import lru_cache
from typing import Any

from sexplang.machine.errors import call_frame
from sexplang.machine.handlers import ACROSS, perform, resume, resume_across
from sexplang.machine.stack import Closure, Continuation, Frame, Segment, Step
from sexplang.machine.tasks.conversation import call_task
from sexplang.terms.form import source_name
from sexplang.terms.source import Span
from sexplang.terms.values.abbreviation import abbreviate
from sexplang.terms.values.rope import TEXTS
from sexplang.terms.values.sequences import LISTS
from sexplang.terms.values.text import text
from sexplang.terms.values.value import (
    Fault,
    Higher,
    Operation,
    Primitive,
    Procedure,
    Record,
    Task,
    Value,
)

_CALLED = frozenset([Task, Operation, Higher])
"""The kinds, beside closures, that a higher-order function may call."""

Entry = Callable[[tuple[Value, ...], Frame, Segment, "Span | None"], Step]

ENTRIES: dict[str, Entry] = {}
"""The prelude functions that call back, by name; `roster` fills it."""

LABELLED: dict[str, Callable[[tuple[Value, ...], tuple[str, ...], Frame, Segment], Step]] = {}
"""The entries that also take arguments by name."""


def apply(
    function: Value,
    arguments: tuple[Value, ...],
    k: Frame,
    s: Segment,
    span: Span | None = None,
    env: tuple[Any, ...] = (),
) -> Step:
    """Return the step that calls `function` with positional arguments. `span` and `env` are the
    place of the call, if they are known. Raises Fault."""
    kind = type(function)
    if kind is Closure:
        code = function.code
        if code.is_library:
            k = call_frame(span, k, env)
        if code.simple and len(arguments) == code.size:
            return code.body, (function.env,) + arguments, k, s
        return _enter(function, arguments, {}, k, s)
    if kind is Primitive or kind is Higher:
        _check_fit(function, len(arguments))
        if kind is Primitive:
            return k[0], function.function(*arguments), k, s
        for one in arguments:  # it may fail when only frames are left, or it calls the library
            if one.__class__ is Closure:
                if one.code.pure is not None and not one.code.is_library:
                    continue
            elif one.__class__ not in _CALLED:
                continue
            k = call_frame(span, k, env)
            break
        return ENTRIES[function.name](arguments, k, s, span)
    if kind is Continuation:
        _check_count("continuation", len(arguments), 0, 1)
        return resume(function, arguments[0] if arguments else None, k, s)
    if function is ACROSS:
        return resume_across(arguments[0] if arguments else None, k, s)
    if kind is Operation:
        if function.text or len(arguments) != len(function.params):
            arguments = operands(function, arguments)
        return perform(function.name, arguments, k, s, span)
    if kind is Task:
        return call_task(
            function, task_inputs(function, arguments), {}, call_frame(span, k, env), s
        )
    raise Fault(
        "not-a-function",
        f"{abbreviate(function)} is not a function",
        hint=_say_what_is_called(function, arguments, span),
    )


def _say_what_is_called(function: Value, arguments: tuple[Value, ...], span: Span | None) -> str:
    """Return what to write for a call of what is no function."""
    if function is None and span is not None:
        from re import match

        from sexplang.package.habits import find_field_hint

        method = match(r"\([\w-]+\.([A-Za-z][\w-]*)[\s)]", span.text)
        hint = find_field_hint(method[1]) if method is not None else None
        if hint is not None:
            return hint
    if type(function) in TEXTS and len(arguments) == 1 and isinstance(arguments[0], (dict, Record)):
        from re import fullmatch

        name = str(function)
        field = (
            f"x.{name}"
            if fullmatch(r"[A-Za-z_][\w-]*", name)
            else f"(get x {abbreviate(function)})"
        )
        return f"a field is read by a function: `(lambda (x) {field})`"
    if len(arguments) == 1 and type(arguments[0]) is int:
        if type(function) in LISTS:
            return f"`(nth xs {abbreviate(arguments[0])})` is an item of a list"
        if type(function) in TEXTS:
            return f"`(string-ref s {abbreviate(arguments[0])})` is a character of a text"
    if isinstance(function, dict) and len(arguments) == 1 and type(arguments[0]) in TEXTS:
        return f"`(get t {abbreviate(arguments[0])})` looks a key up"
    if len(arguments) == 2 and isinstance(arguments[0], Procedure):
        return "a function stands first in its call: `(+ x y)`, `(> x y)`"
    return (
        "the head of a list is called, and `map`, `sort` and their like call what they are given; "
        "'(…) and [ … ] are data"
    )


def apply_labelled(
    function: Value,
    arguments: tuple[Value, ...],
    labels: tuple[str, ...],
    k: Frame,
    s: Segment,
    span: Span | None = None,
    env: tuple[Any, ...] = (),
) -> Step:
    """Return the step of a call whose last `len(labels)` arguments are given by name."""
    if isinstance(function, Task):
        inputs = task_inputs(function, arguments, labels)
        return call_task(function, inputs, {}, call_frame(span, k, env), s)
    count = len(arguments) - len(labels)
    given, named = arguments[:count], dict(zip(labels, arguments[count:], strict=True))
    if isinstance(function, Closure):
        k = call_frame(span, k, env) if function.code.is_library else k
        return _enter(function, given, named, k, s)
    if isinstance(function, Operation):
        values = _by_name(function.name, function.params, given, named)
        filled = tuple([values.get(name) for name in function.params])
        return perform(function.name, operands(function, filled), k, s, span)
    entry = LABELLED.get(function.name) if isinstance(function, Higher) else None
    if entry is not None:
        _check_fit(function, count)
        return entry(arguments, labels, call_frame(span, k, env), s)
    if isinstance(function, Procedure):
        raise Fault(
            "positions-only",
            f"`{getattr(function, 'name', 'this function')}` takes its arguments by position",
            hint="leave the labels out",
        )
    return apply(function, arguments, k, s, span)


def operands(operation: Operation, arguments: tuple[Value, ...]) -> tuple[Value, ...]:
    """Return an operation's arguments as the handler gets them: texts are whole, a missing argument
    is nil."""
    if len(arguments) == len(operation.params) and not operation.text:
        return arguments
    most = None if operation.rest else len(operation.params)
    _check_count(operation.name, len(arguments), operation.least, most)
    last = len(operation.params) - 1
    if operation.text:
        arguments = tuple(
            [
                text(value) if min(at, last) in operation.text and _is_result(value) else value
                for at, value in enumerate(arguments)
            ]
        )
    missing = last + 1 - len(arguments)
    return arguments + (None,) * missing if missing > 0 and not operation.rest else arguments


def _is_result(value: Value) -> bool:
    return isinstance(value, Record) and value.kind == "TaskResult"


def task_inputs(
    task: Task, arguments: tuple[Value, ...], labels: tuple[str, ...] = ()
) -> dict[str, Value]:
    """Bind a call's arguments to a task's declared parameters, the last of them by `labels`. The
    task system checks the rest."""
    order = inputs_order(task, len(arguments), labels)
    return dict(zip(order, arguments, strict=True))


def inputs_order(task: Task, count: int, labels: tuple[str, ...]) -> tuple[str, ...]:
    """Return the parameters that `count` arguments bind, the last of them by label. Raises Fault if
    they fit no parameters."""
    return _order(task.template.name, task.names, count, labels)


@lru_cache(maxsize=1_000)
def _order(
    name: str, names: tuple[str, ...], count: int, labels: tuple[str, ...]
) -> tuple[str, ...]:
    unlabelled = count - len(labels)
    named = dict(zip(labels, range(unlabelled, count), strict=True))
    return tuple(_by_name(name, names, tuple(range(unlabelled)), named))


def _by_name(
    name: str, names: tuple[str, ...], given: tuple[Value, ...], named: dict[str, Value]
) -> dict[str, Value]:
    if len(given) > len(names):
        raise _arity(name, len(given), 0, len(names))
    values = dict(zip(names, given, strict=False))
    for label, value in named.items():
        if label not in names:
            raise Fault(
                "unknown-label",
                f"`{name}` has no parameter `{label}`",
                hint=f"it takes {', '.join(map(source_name, names)) or 'nothing'}",
            )
        if label in values:
            raise Fault("duplicate-label", f"`{name}` is given `{label}` twice")
        values[label] = value
    return values


def _enter(
    function: Closure,
    given: tuple[Value, ...],
    named: dict[str, Value],
    k: Frame,
    s: Segment,
) -> Step:
    """Enter a function whose call may omit parameters with defaults, name some, or give more for a
    rest."""
    code = function.code
    rest: tuple[Value, ...] = ()
    if code.rest:
        given, rest = given[: code.size], given[code.size :]
    elif len(given) > code.size:
        least = sum(default is None for default in code.defaults)
        raise _arity(code.name, len(given) + len(named), least, code.size)
    values = _by_name(code.name, code.names, given, named)
    return fill(code, (function.env,), values, rest, k, s)


def fill(
    code: Any,
    env: tuple[Any, ...],
    values: dict[str, Value],
    rest: tuple[Value, ...],
    k: Frame,
    s: Segment,
) -> Step:
    """Append the parameters in order. A default is evaluated at its turn."""
    for at in range(len(env) - 1, code.size):
        name = code.names[at]
        if name in values:
            env = env + (values[name],)
            continue
        default = code.defaults[at]
        if default is None:
            least = sum(item is None for item in code.defaults)
            raise Fault(
                "wrong-arity",
                f"`{code.name}` needs `{source_name(name)}`, and the call does not give it",
                hint=_takes(least, None if code.rest else code.size),
            )
        return default, env, (_call_filled, k, code, env, values, rest), s
    if code.rest:
        env = env + (rest,)
    return code.body, env, k, s


def _call_filled(value: Value, k: Frame, s: Segment) -> Step:
    _, below, code, env, values, rest = k
    return fill(code, env + (value,), values, rest, below, s)


def _check_fit(function: Primitive | Higher, count: int) -> None:
    if count < function.least or (function.most is not None and count > function.most):
        raise arity_fault(function, count)


def arity_fault(function: Primitive | Higher, count: int) -> Fault:
    """Return the fault for a call with another number of arguments."""
    fault = _arity(function.name, count, function.least, function.most)
    if function.usage:
        fault.hint = f"write {function.usage}"
    return fault


def _check_count(name: str, count: int, least: int, most: int | None) -> None:
    if count < least or (most is not None and count > most):
        raise _arity(name, count, least, most)


def _arity(name: str, count: int, least: int, most: int | None) -> Fault:
    return Fault(
        "wrong-arity",
        f"`{name}` is called with {count} argument{'' if count == 1 else 's'}",
        hint=_takes(least, most),
    )


def _takes(least: int, most: int | None) -> str:
    if most is None:
        return f"it takes at least {least}"
    return f"it takes {least}" if least == most else f"it takes {least} to {most}"
