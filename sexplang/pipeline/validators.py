"""The functions that judge the answers of a program's tasks."""

from collections.abc import Iterable, Mapping

from sexplang.compiler import flaw_of_validator
from sexplang.terms.diagnostic import Diagnostics, diagnose
from sexplang.terms.program import Function, Unit
from sexplang.terms.source import Source, Span
from sexplang.terms.values.value import Task

_NOWHERE = Span(Source("", ""), 0, 0)


def functions_named(task: Task) -> tuple[str, ...]:
    """Return the names of functions in a template: its tools, and its validator."""
    validator = task.template.validate
    return (*task.template.allowed_tools, *((validator.name,) if validator else ()))


def find_validators(tasks: Iterable[Task], units: Iterable[Unit]) -> Mapping[Task, Function]:
    """Return the functions that judge answers, by task. Raises Diagnostics for a template in XML
    whose validator no module has, or two."""
    units = tuple(units)
    found = {task: each for unit in units for task, each in unit.validators.items()}
    for task in tasks:
        named = task.template.validate
        if named is None or task in found:
            continue
        known = {unit.tools[named.name] for unit in units if named.name in unit.tools}
        if len(known) != 1:
            count = "two functions are" if known else "no function is"
            title = f"{count} called `{named.name}` where `{task.name}` is imported"
            hint = f"(define ({named.name} answer) …) stands in the file that imports it"
            code = "imported-twice" if known else "unbound-name"
            raise diagnose(code, title, named.span or _NOWHERE, hint=hint)
        (found[task],) = known
        flaw = flaw_of_validator(task.template, found[task])
        if flaw is not None:
            raise Diagnostics((flaw,))
    return found
