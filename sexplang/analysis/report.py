"""The report of the analysis: diagnostics, effects of each function, the greatest number of model
calls."""

from collections.abc import Collection, Mapping
from typing import Any

from sexplang.analysis.domain.bounds import ZERO, Bound, no_bound, place
from sexplang.analysis.domain.effects_and_calls import ANYTHING, NOTHING, EffectCounts, add_counts
from sexplang.analysis.domain.environments import Environment
from sexplang.analysis.domain.values import ANY, functions
from sexplang.analysis.interpreter import (
    apply_rules,
    delegation_rules,
    higher_order_rules,
    loop_rules,
    node_rules,
    plan_rules,
)
from sexplang.analysis.interpreter.interpreter import (
    STEPS,
    AbstractInterpreter,
    Costs,
    Location,
    TooInvolved,
)
from sexplang.analysis.interpreter.observations import Observations
from sexplang.analysis.model_names import models_of
from sexplang.analysis.name_types import NameType, types_of_names
from sexplang.analysis.permission_needs import Need, needs_of
from sexplang.analysis.reach import unreachable
from sexplang.analysis.slips.misuses import find_misuses
from sexplang.analysis.slips.text_slips import find_text_slips
from sexplang.analysis.unused_names import find_unused
from sexplang.terms.classes.node import field, frozen
from sexplang.terms.core import Clause
from sexplang.terms.diagnostic import Diagnostic, Label
from sexplang.terms.form import source_name
from sexplang.terms.host.host_operations import HIDDEN_BY_OWN, HOST_TOOLS
from sexplang.terms.program import Bind, Function, Program, Unit
from sexplang.terms.source import Made, Span
from sexplang.terms.texts.nearest import did_you_mean

RULES = (apply_rules, delegation_rules, higher_order_rules, loop_rules, node_rules, plan_rules)
"""The modules that fill the interpreter's tables of rules when they are imported."""

MOST_STEPS = 4 * STEPS
"""The number of nodes that are interpreted for the program and all its functions."""


@frozen
class Row:
    """The unhandled operations of a function; `name` is empty for the program.

    `effects_of` are the parameters that it calls: their operations are its operations. `calls` is
    the greatest number of model calls of one call, without those of such parameters.
    """

    name: str
    params: tuple[str, ...]
    operations: tuple[str, ...]
    effects_of: tuple[str, ...]
    span: Span | None
    calls: Bound

    @property
    def performs(self) -> tuple[str, ...]:
        """The operations in words, one by one."""
        named = ["anything" if one == ANYTHING else one for one in self.operations]
        return (*named, *[f"effects of {param}" for param in self.effects_of])

    def __str__(self) -> str:
        whole = f"{self.name}({' '.join(self.params)})" if self.name else "the program"
        return f"{whole}: {', '.join(self.performs) or 'nothing'}"

    def plain(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "params": list(self.params),
            "operations": list(self.operations),
            "effects_of": list(self.effects_of),
            "span": self.span.plain() if self.span is not None else None,
            "calls": _plain(self.calls, self._source),
        }

    def says(self) -> str:
        """The bound in words, as for a program: `at most 1 + 2·len(docs) model calls`."""
        return _in_words(self.calls, self._source)

    @property
    def _source(self) -> str:
        return self.span.source.name if self.span is not None else ""


@frozen
class Report:
    """The result of the analysis of a program."""

    source: str
    findings: tuple[Diagnostic, ...] = ()
    effects: tuple[Row, ...] = ()
    calls: Bound = field(default=ZERO)
    needs: tuple[Need, ...] = ()
    models: tuple[str, ...] = ()
    """The names of models in the program."""
    types: tuple[NameType, ...] = ()

    def most(self, inputs: Mapping[str, Any]) -> int | None:
        """Return the greatest number of model calls of a run with these inputs, defaults included.
        None: no bound."""
        return self.calls.value(inputs)

    def says(self) -> str:
        """The bound in words: `at most 1 + 2·len(docs) model calls`."""
        return _in_words(self.calls, self.source)

    def plain(self) -> dict[str, Any]:
        """Return the report as data, for `--json`."""
        return {
            "findings": [finding.plain() for finding in self.findings],
            "effects": [row.plain() for row in self.effects],
            "calls": _plain(self.calls, self.source),
            "needs": [need.plain() for need in self.needs],
            "models": list(self.models),
        }


def _in_words(calls: Bound, source: str) -> str:
    """Return a bound in words for a reader of the source of this name. Other sources are named."""
    if calls.is_bounded:
        return f"at most {calls} model call{'' if calls.constant == 1 else 's'}"
    return f"model calls {_explain_unbounded(calls, source)}"


def _explain_unbounded(calls: Bound, source: str) -> str:
    where = place(calls.span)
    if calls.span is not None and calls.span.source.name != source:
        where += f" of {calls.span.source.name}"
    return f"unbounded because of {where}: {calls.why}"


def _plain(calls: Bound, source: str) -> dict[str, Any]:
    return {
        "bound": str(calls) if calls.is_bounded else None,
        "constant": calls.constant,
        "reason": None if calls.is_bounded else _explain_unbounded(calls, source),
        "span": calls.span.plain() if calls.span is not None else None,
    }


def analyse(program: Program, costs: Costs, given: int = 0) -> Report:
    """Analyse a program without running it. `given` is the number of initial values, a plan's
    inputs, which are unknown."""
    m = AbstractInterpreter(program, costs)
    report = _analyse(m, given)
    if functions(m.raised) != frozenset():
        # A function was raised, so any catch may call it.
        m = AbstractInterpreter(program, costs, raised=ANY)
        report = _analyse(m, given)
    return report


def _analyse(m: AbstractInterpreter, given: int) -> Report:
    program = m.program
    rows: list[Row] = []
    is_whole = True
    try:
        environment, work = _whole(m, given)
        calls = work.of("model")
        rows.append(Row("", (), work.row, (), None, calls))
    except TooInvolved:
        main = program.units[-1].items[:1] if program.units else ()
        calls = no_bound(
            "the program is too involved to be followed", main[0].span if main else None
        )
        calls = calls if m.asks_models else ZERO
        is_whole, environment = False, m.values.environment(None, ())
    found = [*unreachable(program), *find_unused(program), *find_text_slips(program)]
    found += [*_find_unprovided(program), *_unfound(program), *_find_covered(program)]
    if is_whole:
        of_run, m.observations = m.observations, Observations()
        rows += _rows(m, environment)
        # Other programs may call a function with other arguments.
        m.observations = of_run.join(m.observations)
        found += [] if m.gave_up else [*_handlers(m), *_find_crossing(m), *find_misuses(m)]
    source = program.units[-1].name if program.units else ""
    findings = tuple(sorted(found, key=_place))
    types = types_of_names(m) if is_whole else ()
    needs = needs_of(m, rows[0].operations if is_whole else ())
    return Report(source, findings, tuple(rows), calls, needs, models_of(program), types)


def _whole(m: AbstractInterpreter, given: int) -> tuple[Environment, EffectCounts]:
    """Interpret all units in order. Return the final environment and the counts of the run."""
    at = Location(m.values.environment(None, (ANY,) * given))
    work = NOTHING
    for unit in m.program.units:
        for item in unit.items:
            node = item.value if isinstance(item, Bind) else item
            m.top = at.environment
            value, more = m.run(m.evaluate(node, at))
            work = add_counts(work, more)
            if isinstance(item, Bind):
                at = at.with_slots(m.values, (value,))
    m.top = at.environment
    return at.environment, work


def _rows(m: AbstractInterpreter, environment: Environment) -> list[Row]:
    """Return a row for each function at the top of the program's own files, for unknown
    arguments."""
    rows = []
    for unit in m.program.units:
        if unit.name.startswith("std/"):
            continue
        for function in _tops(m, unit):
            rows.append(_row(m, function, environment))
    return rows


def _tops(m: AbstractInterpreter, unit: Unit) -> list[Function]:
    own = {function.index: function for function in unit.functions}
    exported = [getattr(export.core, "function", -1) for export in unit.exports.values()]
    hidden = [index for index, function in own.items() if function.name.startswith("_")]
    kept = dict.fromkeys([*exported, *hidden])
    return [own[index] for index in sorted(kept) if index in own]


def _row(m: AbstractInterpreter, function: Function, environment: Environment) -> Row:
    from sexplang.analysis.domain.values import Closure, Param
    from sexplang.analysis.interpreter.call_rules import enter_function

    names = [source_name(param.name) for param in function.params]
    if function.rest is not None:
        names.append(function.rest)
    given = tuple([m.values.make(Param, name) for name in names])
    callee = m.values.make(Closure, function.index, environment)
    m.restart(STEPS // 10 if m.steps < MOST_STEPS else 0)
    try:
        _, work = m.run(enter_function(m, callee, function, given, None, function.span))
    except TooInvolved:
        m.gave_up = True
        why = "this function is too involved to be followed"
        work = m.anything(why, function.span, None)
    calls = work.of("model")
    return Row(function.name, tuple(names), work.row, work.params, function.span, calls)


def _find_unprovided(program: Program) -> list[Diagnostic]:
    """Return a diagnostic for each tool of a task that only a host could have. Tools of MCP servers
    are not checked."""
    if program.handles("tool"):
        return []
    return [
        Diagnostic(
            "unknown-tool",
            f"`{task.name}` may use the tool `{tool}`, and {_explain_missing(program, tool)}",
            (Label(task.template.span),) if task.template.span is not None else (),
            hint=_suggest_correction(program, tool),
            severity="warning",
        )
        for task in program.tasks
        for tool in dict.fromkeys(task.template.allowed_tools)
        if tool not in HOST_TOOLS and ":" not in tool and not program.has_tool(tool)
    ]


def _find_covered(program: Program) -> list[Diagnostic]:
    """Return a diagnostic for each function or task that has the name of a built-in tool. A model
    with that tool gets the built-in one."""
    own = {name for unit in program.units if unit.main for name in unit.exports}
    return [
        Diagnostic(
            "unknown-tool",
            f"`{task.name}` may use `{tool}`, which is the language's own tool and not the "
            "definition of that name",
            (Label(task.template.span),) if task.template.span is not None else (),
            hint=f"call the definition by another name, such as `my_{tool}`",
            severity="warning",
        )
        for task in program.tasks
        for tool in dict.fromkeys(task.template.allowed_tools)
        if tool in HOST_TOOLS and tool not in HIDDEN_BY_OWN and tool in own
    ]


def _unfound(program: Program) -> list[Diagnostic]:
    """Return a diagnostic for each subtask that a task names and no request can reach. It is an
    error if all named subtasks are private: no other file can have them."""
    known = {task.name for task in program.tasks if task.template.is_public}
    answers = program.handles("subtask") or program.handles("subplan")
    found = []
    for task in program.tasks:
        names, span = task.template.subtasks, task.template.span
        others = known.intersection(task.template.allowed_tools)
        is_certain = not answers and not others and all(name.startswith("_") for name in names)
        found += [
            Diagnostic(
                "unknown-subtask",
                f"the model of `{task.name}` may ask for `{name}`, and {_why(name, names, known)}",
                (Label(span),) if span is not None else (),
                hint=_suggest_task(name, known),
                severity="error" if is_certain else "warning",
            )
            for name in names
            if name not in known
        ]
    return found


def _why(name: str, names: Collection[str], known: Collection[str]) -> str:
    why = "a private task cannot be asked for" if name.startswith("_") else "no task is called so"
    is_one = any(each in known for each in names)
    return why if is_one else f"{why}: of its clause nothing can be asked for"


def _suggest_task(name: str, known: Collection[str]) -> str:
    otherwise = "name a task of this program that is public"
    if name.startswith("_"):
        otherwise = f"call it `{name.lstrip('_')}`: only public tasks can be asked for"
    return did_you_mean(name, sorted(known), otherwise)


def _function_of(program: Program, tool: str) -> Function | None:
    """Return the function of a tool's name."""
    return next((unit.tools[tool] for unit in program.units if tool in unit.tools), None)


def _explain_missing(program: Program, tool: str) -> str:
    function = _function_of(program, tool)
    if function is not None:
        why = "a pattern for a parameter" if function.doc else "no doc"
        return f"the function of that name has {why}"
    if any(task.name == tool for task in program.tasks):
        return "the task of that name is private"
    return "neither the language nor the program has one of that name"


def _suggest_correction(program: Program, tool: str) -> str:
    function = _function_of(program, tool)
    if function is not None and function.doc:
        return "give the parameter a name, and take it apart in the body: `(bind [a b] name)`"
    if function is not None:
        names = [source_name(param.name) for param in function.params]
        params = " ".join([function.name, *names])
        return f'say what it is for, as its model reads it: (define ({params}) "…" …)'
    if any(task.name == tool for task in program.tasks):
        return f"call it `{tool.lstrip('_')}`: only public tasks can be asked for"
    return "correct it, register it where Python runs the program, or handle `tool`"


def _find_crossing(m: AbstractInterpreter) -> list[Diagnostic]:
    """Return a diagnostic for each clause that cannot take an operation of a branch."""
    return [
        Diagnostic(
            "resume-across-par",
            f"{'a conversation' if each.conversing else '`par`'} performs `{each.operation}` in a "
            "branch, and its handler uses its continuation, but not as its last step",
            (Label(span),),
            hint="resume in tail position or `forward`, or call the tool in order: "
            "(allowed_tools (in-order name))"
            if each.conversing
            else "return values from the branches and `fold` them after the `par`; to share "
            "values, use `with-cache` or `once` of std/models",
            severity="warning" if each.unsure else "error",
        )
        for span, each in m.crossed.items()
    ]


def _handlers(m: AbstractInterpreter) -> list[Diagnostic]:
    """Return a diagnostic for each clause whose operation is never performed inside its handle."""
    return [
        _never_performed(clause)
        for clause, was_performed in m.handled.items()
        if not was_performed
        and clause not in m.open
        and not clause.span.source.name.startswith("std/")
        and not isinstance(clause.span, Made)
    ]


def _never_performed(clause: Clause) -> Diagnostic:
    return Diagnostic(
        "handler-unused",
        f"nothing in this handle expression performs `{clause.operation}`",
        (Label(clause.span, "this clause is never used"),),
        hint="leave it out, or perform the operation inside",
        severity="warning",
    )


def too_many(report: Report, allowed: int) -> Diagnostic | None:
    """Return the error for a program that may exceed the allowed number of model calls."""
    bound = report.calls
    constant = bound.constant
    if constant is not None and constant <= allowed:
        return None
    labels = (Label(bound.span, _words(bound)),) if bound.span is not None else ()
    if not bound.is_bounded:
        return Diagnostic(
            "unbounded-calls",
            f"nothing bounds how many model calls this makes, and {_describe_maximum(allowed)}",
            labels,
            (),
            "bound it: `(take xs n)`, `(loop n …)` or `(with-budget {calls: n} …)`",
        )
    plural = "" if constant == 1 else "s"
    return Diagnostic(
        "too-many-calls",
        f"this makes up to {bound} model call{plural}, and {_describe_maximum(allowed)}",
        labels,
        (),
        "bound it: `(take xs n)`, or `(with-budget {calls: n} …)` around it",
    )


def _describe_maximum(count: int) -> str:
    return f"{count or 'none'} {'is' if count == 1 else 'are'} allowed"


def _words(bound: Bound) -> str:
    if not bound.is_bounded:
        return bound.why
    return "the inputs decide how many" if bound.constant is None else "most of them are here"


def _place(finding: Diagnostic) -> tuple[str, int]:
    span = finding.span
    return (span.source.name, span.start) if span is not None else ("", 0)
