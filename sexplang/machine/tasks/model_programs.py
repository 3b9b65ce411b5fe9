"""`eval-plan`: a model's text becomes a program, is checked, and runs with given rights.

A plan has a segment of its own. Operations that it does not handle pass the segment only if they
are allowed, and only with plain data. It also returns only plain data: a function of the plan
called outside would have the rights of its caller. Any other value is an error; in an error, a
function is text.

A plan sees its own tasks, and those of its caller that are allowed by name.
"""

from typing import Any, TypeAlias

from sexplang.machine.exits import EnterScope
from sexplang.machine.link import link
from sexplang.machine.scopes.budgets import check_budget
from sexplang.machine.stack import BOTTOM, Frame, Linked, Segment, Step
from sexplang.machine.unwind import ClauseCode, HandlerKind
from sexplang.terms.classes.node import evolve
from sexplang.terms.diagnostic import Diagnostic, Label
from sexplang.terms.model.roles import normalize_name
from sexplang.terms.program import Program
from sexplang.terms.quota import work
from sexplang.terms.source import Span
from sexplang.terms.task import error_of
from sexplang.terms.values.abbreviation import abbreviate
from sexplang.terms.values.boundary import materialize, plain, value_of, without_functions
from sexplang.terms.values.text import text, to_source
from sexplang.terms.values.value import Fault, Record, Symbol, Value

PlanKey: TypeAlias = tuple[str, tuple[str, ...], tuple[str, ...]]
"""A plan's text, the names of its inputs, and its rights. A right is an operation, or an operation,
a space and the model, tool or task that it may ask."""


def run_plan(arguments: tuple[Value, ...], k: Frame, s: Segment, span: Span | None) -> Step:
    """`(run-plan text inputs allow budget)`: the primitive under `eval-plan`."""
    source, inputs, rights, budget = materialize(arguments)
    linked = s[3].linked
    if linked.plan is None:
        raise Fault("not-available", "this program was built without plans")
    if not _is_text(source):
        words = f"`eval-plan` takes a program's text, not {abbreviate(source)}"
        raise Fault("wrong-type", words, hint="text that a model wrote: (eval-plan (write-it))")
    if not isinstance(inputs, dict):
        raise Fault("wrong-type", "`inputs:` of `eval-plan` is a table")
    bounds = _bounds(budget)
    operations = _operations(rights)
    words = text(source)
    work(len(words))  # a character is read and compiled in about the time of a step
    key = words, tuple(inputs), tuple(sorted(operations))
    _check_tasks(linked, key[2])
    made = build_plan(linked, key)
    if not isinstance(made, Program):
        return k[0], _refuse(made), k, s
    inputs = _read(made, inputs)
    misfits = _misfits(made, inputs)
    if misfits:
        return k[0], _refuse(misfits), k, s
    if isinstance(bounds.get("calls"), int):
        too_many = linked.plan.too_many(made, len(inputs), bounds["calls"])
        if too_many is not None:
            return k[0], _refuse((too_many,)), k, s
    run, _ = link(made, linked.outermost.tasks)
    env = (inputs, *inputs.values())
    segment = (PLAN, k, s, s[3].replace(linked=narrow(linked, key)), ())
    raise EnterScope(bounds, run, env, BOTTOM, segment, span)


def build_plan(linked: Linked, key: PlanKey) -> Any:
    """Return the program of a plan, or its diagnostics. Equal texts and rights give the same
    program."""
    made = linked.plans.get(key)
    if made is None:
        assert linked.plan is not None
        words, names, operations = key
        made = linked.plan(words, names, frozenset(operations))
        if isinstance(made, Program):
            made = linked.plans.setdefault(key, made)
    return made


def narrow(linked: Linked, key: PlanKey) -> Linked:
    """Return the links of a plan. The same plan in the same program or plan has the same links."""
    inner: Linked | None = linked.inner.get(key)
    if inner is None:
        _, own = link(build_plan(linked, key), linked.outermost.tasks)
        # Equal plans share one key, or a frozen run would tell which of them ran first.
        key = next(known for known in linked.plans if known == key)
        known = {name: task for name, task in linked.known.items() if _may_ask(key, "task", name)}
        known |= own.known
        tools = {name: each for name, each in linked.tools.items() if _may_ask(key, "tool", name)}
        tasks = linked.outermost.tasks
        if tasks is not None:
            tasks = tasks.knowing(tuple([task.template for task in known.values()]), tools)
        inner = evolve(
            linked,
            tasks=tasks,
            known=known,
            tools=tools,
            validators={**linked.validators, **own.validators},
            sites=own.sites,
            inner={},
            around=linked,
            key=key,
        )
        linked.inner[key] = inner
    return inner


def _may_ask(key: PlanKey, operation: str, name: str) -> bool:
    """Return whether a plan may ask for a task or tool. Tasks are allowed by name only."""
    rights = key[2]
    return f"{operation} {normalize_name(name)}" in rights or (
        operation == "tool" and "tool" in rights
    )


def _check_tasks(linked: Linked, rights: tuple[str, ...]) -> None:
    """Raise Fault for a right to a task that does not exist."""
    known = {normalize_name(name) for name in linked.known}
    for right in rights:
        operation, _, name = right.partition(" ")
        if operation == "task" and name and name not in known:
            raise Fault(
                "template_not_found",
                f"`allow:` of `eval-plan` names the task `{name}`, and there is none",
                hint="import its template first",
            )


def _read(made: Program, given: dict[str, Value]) -> dict[str, Value]:
    """Return inputs as the plan declares them. A TaskResult is its content where that is a text."""
    texts = {each.name for each in made.inputs if each.type == "string"}
    return {
        name: text(value) if name in texts and _is_text(value) else value
        for name, value in given.items()
    }


def _misfits(made: Program, given: dict[str, Value]) -> list[Diagnostic]:
    """Return the declared inputs that are missing or do not fit their declaration."""
    found: list[Diagnostic] = []
    for each in made.inputs:
        labels, hint = (Label(each.span),), f"(eval-plan text inputs: {{{each.name}: …}})"
        wanted = each.wants(given[each.name]) if each.name in given else None
        if each.required and each.name not in given:
            words = f"the plan needs the input `{each.name}`"
            found.append(Diagnostic("missing-input", words, labels, hint=f"give it: {hint}"))
        elif wanted is not None:
            words = f"the input `{each.name}` takes {wanted}, not {abbreviate(given[each.name])}"
            more = (
                f"declare what it is, as in (define-input {each.name} type: json), or give {hint}"
            )
            found.append(Diagnostic("bad-input", words, labels, hint=more))
    return found


def _is_text(value: Value) -> bool:
    return isinstance(value, str) or (isinstance(value, Record) and value.kind == "TaskResult")


def _bounds(budget: Value) -> dict[str, Value]:
    """Return the checked budget of a plan. Its `steps` are nil by default. A nil budget is an
    error, since it may be a failed lookup; no bounds are `{}`."""
    if budget == {}:
        return {"steps": None}
    if not isinstance(budget, dict) or "steps" not in budget:
        return {**check_budget(budget), "steps": None}
    steps = budget["steps"]
    if type(steps) is not int or steps < 0:
        words = f"`steps` of a plan's budget is an integer from 0 on, not {abbreviate(steps)}"
        raise Fault("wrong-type", words)
    rest = {name: value for name, value in budget.items() if name != "steps"}
    return {**(check_budget(rest) if rest else {}), "steps": steps}


def _operations(rights: Value) -> frozenset[str]:
    found = [_right(one) for one in rights] if isinstance(rights, tuple) else [None]
    if None in found:
        words = f"`allow:` of `eval-plan` is a list of operations, not {abbreviate(rights)}"
        raise Fault(
            "wrong-type", words, hint="for example allow: ['model '(model \"fast\") 'read-file]"
        )
    return frozenset([one for one in found if one is not None])


NAMING = ("model", "tool")
"""The operations that may be allowed for one model or tool alone. Tasks are always allowed by
name."""


def _right(given: Value) -> str | None:
    """Return an operation, or `(model "fast")` and its kin, as a right; None for any other
    value."""
    if isinstance(given, Symbol):
        return given.name
    if isinstance(given, str):
        return None if " " in given else given
    match given:
        case (Symbol() as operation, str(name)) if operation.name in (*NAMING, "task") and name:
            return f"{operation.name} {normalize_name(name)}"
        case _:
            return None


def _refuse(diagnostics: Any) -> Value:
    found = [diagnostic.plain() for diagnostic in diagnostics]
    return {"status": "refused", "diagnostics": value_of(found)}


def _end(env: Any, k: Frame, s: Segment) -> Step:
    try:
        plain(env[-1])
    except Fault as fault:
        return k[0], {"status": "failed", "error": error_of(fault)}, k, s
    return k[0], {"status": "done", "value": env[-1]}, k, s


def _fail(env: Any, k: Frame, s: Segment) -> Step:
    return k[0], {"status": "failed", "error": _error_as_data(env[-2])}, k, s


def _error_as_data(error: Value) -> Value:
    """Return the error of a plan as data, with functions as text."""
    try:
        return without_functions(materialize(error), text)
    except Fault as fault:
        return error_of(fault)


def _guard(node: Segment, operation: str, arguments: tuple[Value, ...]) -> None:
    rights, name = node[3].linked.key[2], _name_in_request(operation, arguments)
    # A plan that may ask for a model may ask the default; a tool always has a name.
    may_ask = operation in rights and (operation == "tool" or not name)
    if not may_ask and f"{operation} {normalize_name(name)}" not in rights:
        denied = f"ask the {operation} `{name}`" if name else f"perform `{operation}`"
        right = f"({operation} {to_source(name)})" if name else operation
        raise Fault(
            "plan-denied",
            f"this plan may not {denied}",
            hint=f"allow it: (eval-plan text allow: ['{right}])",
        )
    plain(arguments)


def _name_in_request(operation: str, arguments: tuple[Value, ...]) -> str:
    """Return the name of the model or tool in a request; empty if there is none."""
    given = arguments[0] if arguments and operation in NAMING else None
    name = given.get("model") if operation == "model" and isinstance(given, dict) else given
    return name if isinstance(name, str) else ""


PLAN = HandlerKind({"error": (ClauseCode(_fail, 1, "never", ()),)}, _end)
"""The segment around a plan. The links in its context have the operations that it may perform."""

PLAN.guard = _guard
PLAN.stripped.guard = _guard
