"""A unit to readable lines: core as S-expressions, one line for each item and function.

x.0.1        slot 1 of the activation 0 levels up, called x     Local
f#3.0        function 3, closed over the environment here       Known
"""

from typing import Any

from sexplang.terms.core import Clause
from sexplang.terms.program import Bind, Unit
from sexplang.terms.values.text import to_source
from sexplang.terms.values.value import Procedure


def dump(unit: Unit) -> str:
    """Items, then functions."""
    names = {function.index: function.name for function in unit.functions}
    lines = [show(item, names) for item in unit.items]
    for function in unit.functions:
        params = [
            p.name if p.default is None else f"({p.name} {show(p.default, names)})"
            for p in function.params
        ]
        if function.rest:
            params += [".", function.rest]
        head = " ".join([f"{function.name}#{function.index}", *params])
        lines.append(f"({head}) = {show(function.body, names)}")
    return "\n".join(lines)


def show(core: Any, names: dict[int, str] | None = None) -> str:
    """One core."""
    names = names or {}

    def each(cores: Any) -> str:
        return "".join(" " + show(one, names) for one in cores)

    kind = type(core).__name__
    if kind == "Const":
        value = core.value
        return f"#{value.name}" if isinstance(value, Procedure) else to_source(value)
    if kind == "Local":
        return f"{core.name}.{core.depth}.{core.index}"
    if kind == "Known":
        return f"{names.get(core.function, '')}#{core.function}.{core.depth}"
    if kind == "Lambda":
        return f"(lambda {names.get(core.function, '')}#{core.function})"
    if kind in ("And", "Or", "Seq"):
        return f"({kind.lower()}{each(core.items)})"
    if kind == "If":
        return f"(if{each((core.test, core.then, core.otherwise))})"
    if kind == "Let":
        return f"(let ({each(core.values)[1:]}) {show(core.body, names)})"
    if kind == "Call":
        plain = len(core.arguments) - len(core.labels)
        out = each((core.callee, *core.arguments[:plain]))[1:]
        for label, one in zip(core.labels, core.arguments[plain:], strict=True):
            out += f" {label}: {show(one, names)}"
        return f"(call {out})"
    if kind == "CallKnown":
        name = f"{names.get(core.function, '')}#{core.function}.{core.depth}"
        return f"({name}{each(core.arguments)})"
    if kind == "CallPrimitive":
        return f"({core.primitive.name}{each(core.arguments)})"
    if kind == "MakeTable":
        pairs = zip(core.keys, core.values, strict=True)
        return "{" + " ".join(f"{key}: {show(one, names)}" for key, one in pairs) + "}"
    if kind == "Path":
        return f"(path {show(core.base, names)} {' '.join(core.fields)})"
    if kind == "Repeat":
        return f"(repeat{each((core.count, core.body))})"
    if kind == "Loop":
        return f"(loop ({each(core.inits)[1:]}) {show(core.body, names)})"
    if kind == "Recur":
        return f"(recur{each(core.arguments)})"
    if kind == "Handle":
        parts = show(core.body, names) + each(core.clauses)
        if core.returns is not None:
            parts += f" (return {show(core.returns, names)})"
        return f"(handle {parts})"
    if isinstance(core, Clause):
        head = " ".join([core.operation, *core.params])
        words = f" {' '.join(core.words)}" if core.words else ""
        return f"(({head}){words} {core.kind} {show(core.body, names)})"
    if kind == "Finally":
        return f"(finally{each((core.body, core.cleanup))})"
    if kind == "Attempt":
        return f"(attempt {show(core.body, names)})"
    if kind == "PerformOp":
        return f"(perform {core.operation}{each(core.arguments)})"
    if kind == "Forward":
        return f"(forward {core.operation}{each((core.continuation, *core.arguments))})"
    if kind == "Par":
        return f"(par{each(core.branches)})"
    if kind == "Race":
        return f"(race{each(core.branches)})"
    if kind == "Timed":
        return f"(with-timeout{each((core.seconds, core.body))})"
    if kind == "Budgeted":
        return f"(with-budget{each((core.limits, core.body))})"
    if kind == "InputValue":
        default = "" if core.default is None else " " + show(core.default, names)
        return f"(input {core.name}{default})"
    assert isinstance(core, Bind), kind
    return f"(bind {core.name} {show(core.value, names)})"
