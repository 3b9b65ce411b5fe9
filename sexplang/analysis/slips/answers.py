"""Slips with the answers of tasks: an answer as a test, in a comparison, or in place of its
TaskResult."""

from collections.abc import Iterable, Iterator
from typing import Any

from sexplang.analysis.domain.values import Abstract, Answer, Attempted, Constant
from sexplang.analysis.interpreter.interpreter import AbstractInterpreter
from sexplang.analysis.own_nodes import is_own, own_nodes
from sexplang.analysis.slips.answer_types import (
    ANY_TYPE,
    Type,
    has_field,
    kind_of_type,
    may_equal,
    type_of,
    type_of_field,
)
from sexplang.analysis.slips.certain import Certain, is_written
from sexplang.terms.core import And, Attempt, CallPrimitive, Const, If, Or, Path
from sexplang.terms.diagnostic import Diagnostic, Label
from sexplang.terms.source import Made, Span
from sexplang.terms.texts.nearest import did_you_mean
from sexplang.terms.values.abbreviation import abbreviate
from sexplang.terms.values.value import Task

FIELDS = ("content", "notes", "parsed_content", "status", "usage")


def misread_answers(m: AbstractInterpreter, certain: Certain) -> Iterator[Diagnostic]:
    """Yield a diagnostic for each place that is wrong in every run."""
    tests: dict[Span, Diagnostic] = {}
    for node in own_nodes(m.program):
        if not is_own(node.span) or isinstance(node.span, Made):
            continue
        for test in filter(certain.is_certain, _tests(node)):
            for found in _as_test(_values_seen(m, test), test.span, type(test) is Attempt):
                tests.setdefault(test.span, found)
        if isinstance(node, CallPrimitive):
            yield from _of_call(m, certain, node)
        elif isinstance(node, Path) and certain.is_certain(node.base):
            yield from _fields(_values_seen(m, node.base), node.fields[0], node.span)
            yield from _check_fields(_values_seen(m, node.base), node)
    for span, values in m.observations.tests.items():
        if is_own(span) and not isinstance(span, Made):
            for found in _as_test(values, span, False):
                tests.setdefault(span, found)
    yield from tests.values()


def _values_seen(m: AbstractInterpreter, node: Any) -> Iterable[Abstract]:
    return m.observations.values.get(node, {})


def _tests(node: Any) -> Iterator[Any]:
    """Yield the nodes whose truth decides."""
    found: list[Any] = []
    if isinstance(node, If):
        found.append(node.test)
    elif isinstance(node, (And, Or)):
        found += node.items[:-1]
    while found:
        test = found.pop()
        yield test
        if isinstance(test, (And, Or)):
            found.append(test.items[-1])


def _of_call(m: AbstractInterpreter, certain: Certain, node: CallPrimitive) -> Iterator[Diagnostic]:
    given = [values for _, values in m.observations.calls.get(node, {})]
    name = node.primitive.name
    if not given or not node.arguments:
        return
    if name in ("equal?", "eq?", "string=?") and len(node.arguments) == 2:
        yield from _check_comparison(m, given, certain, node)
    elif not certain.is_certain(node.arguments[0]):
        return
    elif name == "not":
        only = node.arguments[0]
        yield from _as_test([values[0] for values in given], only.span, type(only) is Attempt)
    elif name == "member?":
        yield from _check_membership(given, node)
    elif name in ("get", "get-field", "get-property") and is_written(node):
        key = node.arguments[1].value if isinstance(node.arguments[1], Const) else None
        field = getattr(key, "name", key)
        if isinstance(field, str):
            yield from _fields([values[0] for values in given], field, node.span)


def _as_test(values: Iterable[Abstract], span: Span, attempted: bool) -> Iterator[Diagnostic]:
    """Yield a diagnostic for a test that is true for every answer."""
    whys = {_always_true(value) for value in values}
    if attempted:
        whys = {_FAILURE}
    if len(whys) == 1:
        (why,) = whys
        if why is not None:
            title, hint = why
            yield Diagnostic("answer-as-test", title, (Label(span, "always true"),), hint=hint)


_FAILURE = (
    "a failure is true here, too",
    "say what it is worth, `(attempt e false)`, or ask `(failed? (attempt e))`",
)


def _always_true(value: Abstract) -> tuple[str, str] | None:
    if isinstance(value, Attempted):
        return _FAILURE
    if not isinstance(value, Answer):
        return None
    name = value.task.name
    if value.is_result:
        return (
            f"a TaskResult is always true, whatever `{name}` answers",
            f"test its answer: `({name} …)`, or `(answer r)`; `(failed? r)` tells a failure",
        )
    kind = kind_of_type(type_of(value.task))
    if kind not in ("string", "number", "list", "table"):
        return None
    words = "text" if kind == "string" else kind
    return (
        f"the answer of `{name}` is always true: every {words} is",
        "compare it, or let the task have `(returns boolean)`",
    )


def _check_comparison(
    m: AbstractInterpreter, given: list[tuple[Abstract, ...]], certain: Certain, node: CallPrimitive
) -> Iterator[Diagnostic]:
    """Check a comparison of a value with a literal."""
    for at in (0, 1):
        literals = {one[1 - at] for one in given}
        (literal,) = literals if len(literals) == 1 else (None,)
        if (
            isinstance(literal, Constant)
            and not callable(literal.value)
            and all(map(certain.is_certain, node.arguments))
        ):
            whys = {_never_equal(one[at], literal.value) for one in given}
            argument = node.arguments[at]
            if isinstance(argument, Path):
                whys = {_field_never_equal(m, argument, literal.value)}
            if type(argument) is Attempt:
                whys = {_MAY_FAIL}
            if len(whys) == 1 and None not in whys:
                ((title, hint),) = whys  # type: ignore[misc]
                words = "not where it failed" if (title, hint) == _MAY_FAIL else "never equal"
                label = Label(node.arguments[1 - at].span, words)
                yield Diagnostic("never-equal", title, (label,), hint=hint)
                return


def _check_membership(
    given: list[tuple[Abstract, ...]], node: CallPrimitive
) -> Iterator[Diagnostic]:
    """Check `(member? answer ["a" "b"])`."""
    value, listed = node.arguments
    if not isinstance(listed, Const) or not isinstance(listed.value, tuple):
        return
    for literal in listed.value:
        whys = {_never_equal(one[0], literal) for one in given}
        if type(value) is Attempt:
            whys = {_MAY_FAIL}
        if len(whys) == 1 and None not in whys:
            ((title, hint),) = whys  # type: ignore[misc]
            may_fail = (title, hint) == _MAY_FAIL
            words = "not where it failed" if may_fail else f"{abbreviate(literal)} is never it"
            label = Label(listed.span, words)
            yield Diagnostic("never-equal", title, (label,), hint=hint)
            return


_MAY_FAIL = (
    "an attempt without a default may be a FAILED TaskResult",
    "write `(attempt e default)`",
)


def _never_equal(value: Abstract, literal: Any) -> tuple[str, str] | None:
    if not isinstance(value, Answer):
        return None
    name = value.task.name
    if value.is_result:
        return (
            "a TaskResult is compared with a plain value",
            f"write `({name} …)` or `(answer r)`",
        )
    type_ = type_of(value.task)
    if may_equal(type_, literal):
        return None
    choices = type_.get("enum")
    if isinstance(choices, (list, tuple)):
        listed = ", ".join([abbreviate(choice) for choice in choices])
        return f"`{name}` never answers {abbreviate(literal)}", f"it answers one of {listed}"
    hint = f"it is a {_WORDS[kind_of_type(type_)]}"
    if value.task.template.returns is None:
        hint += ", where the task has no `(returns T)` that says otherwise"
    return f"the answer of `{name}` is never {abbreviate(literal)}", hint


def _field_never_equal(m: AbstractInterpreter, path: Path, literal: Any) -> tuple[str, str] | None:
    """Return the message for a comparison of a field of an answer, `v.good`. A field that is
    optional may be nil."""
    values = list(_values_seen(m, path.base))
    value = values[0] if len(values) == 1 else None
    if not isinstance(value, Answer) or value.is_result or literal is None:
        return None
    type_ = type_of(value.task)
    for name in path.fields:
        type_ = type_of_field(type_, name)
    if may_equal(type_, literal):
        return None
    return (
        f"`{path.span.text}` is never {abbreviate(literal)}",
        f"`{value.task.name}` answers with {_of_type(type_)} there",
    )


def _of_type(type_: Type) -> str:
    choices = type_.get("enum")
    if isinstance(choices, (list, tuple)):
        return "one of " + ", ".join([abbreviate(choice) for choice in choices])
    return f"a {_WORDS[kind_of_type(type_)]}"


_WORDS = {
    "string": "text",
    "number": "number",
    "boolean": "boolean",
    "list": "list",
    "table": "table",
    "nil": "nil",
    None: "value of another kind",
}


def _may_have(task: Task, field: str) -> bool:
    """Return whether an answer may have a field. A JSON of unknown type may have any field but
    `parsed_content`."""
    if field == "parsed_content" and type_of(task) in (ANY_TYPE, {"type": "object"}):
        return task.template.returns is not None or task.template.output_format.type != "json"
    return has_field(type_of(task), field)


def _fields(values: Iterable[Abstract], field: str, span: Span) -> Iterator[Diagnostic]:
    """Check `.content` of a value that is no TaskResult."""
    tasks = [one.task if isinstance(one, Answer) and not one.is_result else None for one in values]
    if field in FIELDS and tasks and None not in tasks:
        names = {task.name for task in tasks if task and not _may_have(task, field)}
        if len(names) == 1 and len(tasks) == 1:
            (name,) = names
            yield Diagnostic(
                "answer-as-result",
                f"the answer of `{name}` has no field `{field}`",
                (Label(span, "a call of a task gives its answer"),),
                hint=f"leave `.{field}` out, or write `(call-task {name} …)` for the TaskResult",
            )


def _check_fields(values: Iterable[Abstract], node: Path) -> Iterator[Diagnostic]:
    """Check the fields of a path that the answer's type does not have: they are nil."""
    tasks = {one.task if isinstance(one, Answer) and not one.is_result else None for one in values}
    task = tasks.pop() if len(tasks) == 1 else None
    if task is None or node.fields[0] in FIELDS:
        return
    type_, path = type_of(task), ""
    for field in node.fields:
        if kind_of_type(type_) != "table":
            return
        if not has_field(type_, field):
            where = f"of the answer of `{task.name}` " if path else ""
            whole = f"`{path}` {where}" if path else f"the answer of `{task.name}` "
            yield Diagnostic(
                "answer-as-result",
                f"{whole}has no field `{field}`",
                (Label(node.span, "always nil"),),
                hint=did_you_mean(field, type_["properties"]) or None,
                severity="warning",
            )
            return
        type_, path = type_of_field(type_, field), f"{path}.{field}".lstrip(".")
