"""Slips with the answers of tasks: an answer as a test, in a comparison, or in place of its
TaskResult."""

from collections.abc import Iterable, Iterator
from typing import Any

from sexplang.analysis.domain.typed_values import (
    is_typing,
    schema_of,
    task_of,
    words_of,
    words_of_type,
)
from sexplang.analysis.domain.values import Abstract, Attempted, Constant, Result, Typed
from sexplang.analysis.interpreter.interpreter import AbstractInterpreter
from sexplang.analysis.own_nodes import is_own, own_nodes
from sexplang.analysis.slips.certain import Certain, is_written
from sexplang.analysis.slips.typed_fields import FIELDS, find_unknown_fields
from sexplang.analysis.slips.written_values import find_misfit
from sexplang.schemas.type_parts import (
    ANY_TYPE,
    kind_of_type,
    lacks_field,
    may_equal,
)
from sexplang.terms.core import And, Attempt, CallPrimitive, Const, If, Or, Path
from sexplang.terms.diagnostic import Diagnostic, Label
from sexplang.terms.source import Made, Span
from sexplang.terms.values.abbreviation import abbreviate, excerpt


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
            if is_typing(node):
                yield from find_misfit(node)
        elif isinstance(node, Path) and certain.is_certain(node.base):
            yield from _fields(_values_seen(m, node.base), node.fields[0], node.span)
            yield from find_unknown_fields(m, _values_seen(m, node.base), node)
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
    task = task_of(value)
    if task is None:
        return None
    name = task.name
    if isinstance(value, Result):
        return (
            f"a TaskResult is always true, whatever `{name}` answers",
            f"test its answer: `({name} …)`, or `(answer r)`; `(failed? r)` tells a failure",
        )
    kind = kind_of_type(schema_of(task))
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
            argument = node.arguments[at]
            whys = {_never_equal(one[at], literal.value, argument.span) for one in given}
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
        whys = {_never_equal(one[0], literal, value.span) for one in given}
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


def _never_equal(value: Abstract, literal: Any, span: Span) -> tuple[str, str] | None:
    task = task_of(value)
    if task is not None and isinstance(value, Result):
        return (
            "a TaskResult is compared with a plain value",
            f"write `({task.name} …)` or `(answer r)`",
        )
    if not isinstance(value, Typed):
        return None
    type_ = schema_of(value.source)
    if may_equal(type_, value.pointer, literal):
        return None
    words = words_of_type(type_, value.pointer)
    if task is None:
        title = f"`{excerpt(span.text)}` is never {abbreviate(literal)}"
        return title, f"{words_of(value)} is {words}"
    if words.startswith("one of "):
        return f"`{task.name}` never answers {abbreviate(literal)}", f"it answers {words}"
    hint = f"it is {words}"
    if task.template.returns is None:
        hint += ", where the task has no `(returns T)` that says otherwise"
    return f"the answer of `{task.name}` is never {abbreviate(literal)}", hint


def _fields(values: Iterable[Abstract], field: str, span: Span) -> Iterator[Diagnostic]:
    """Check `.content` of an answer. A JSON of unknown type may have any field but
    `parsed_content`."""
    tasks = {task_of(one) if isinstance(one, Typed) else None for one in values}
    task = tasks.pop() if len(tasks) == 1 else None
    if field not in FIELDS or task is None:
        return
    type_, template = schema_of(task), task.template
    if kind_of_type(type_) in ("table", None):
        is_json = template.returns is None and template.output_format.type == "json"
        is_unknown = field == "parsed_content" and type_ in (ANY_TYPE, {"type": "object"})
        if not (is_unknown and is_json) and not lacks_field(type_, (), field):
            return
    yield Diagnostic(
        "answer-as-result",
        f"the answer of `{task.name}` has no field `{field}`",
        (Label(span, "a call of a task gives its answer"),),
        hint=f"leave `.{field}` out, or write `(call-task {task.name} …)` for the TaskResult",
    )
