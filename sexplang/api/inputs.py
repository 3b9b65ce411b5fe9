"""Values of a program's inputs from Python data."""

import os
from collections.abc import Mapping
from typing import Any

from sexplang.api.python_values import TaskResult, value_with_classes
from sexplang.guards.secrets import redact_text
from sexplang.terms.diagnostic import Diagnostic, Diagnostics
from sexplang.terms.program import Input
from sexplang.terms.values.text import to_source
from sexplang.terms.values.value import Fault, Value


def values_of(inputs: tuple[Input, ...], given: Mapping[str, Any]) -> dict[str, Value]:
    """Return the values by name. Raises Diagnostics with every misfit."""
    declared = {each.name: each for each in inputs}
    values: dict[str, Value] = {}
    wrong: list[Diagnostic] = []
    for name, data in given.items():
        if name not in declared:
            wrong.append(_unknown(name, declared))
            continue
        found = _fit(declared[name], data)
        if isinstance(found, Diagnostic):
            wrong.append(found)
        else:
            values[name] = found
    wrong += [_missing(each) for each in inputs if each.required and each.name not in given]
    if wrong:
        raise Diagnostics(wrong)
    return values


def _fit(declared: Input, data: Any) -> Value:
    """Return the value that fits an input. Raises Diagnostics that say what the input takes."""
    if declared.type == "file" and isinstance(data, (str, os.PathLike)):
        data = os.path.abspath(os.fspath(data))  # a program's own paths start at its folder
    elif declared.type == "string" and isinstance(data, TaskResult):
        data = data.content
    try:
        found = value_with_classes(data)
    except Fault as fault:
        if fault.code != "not-data":
            words = f"the input `{declared.name}`: {fault.message}"
            return Diagnostic(fault.code, words, hint=fault.hint)
        return _bad(declared, f"data, and {fault.message}")
    wanted = declared.wants(found)
    return found if wanted is None else _bad(declared, f"{wanted}, not {_short(found)}")


def _short(found: Value) -> str:
    try:
        words = redact_text(to_source(found))
    except Fault:
        return "that much"
    return words if len(words) <= 60 else words[:59] + "…"


def _bad(declared: Input, words: str) -> Diagnostic:
    return Diagnostic(
        "bad-input",
        f"the input `{declared.name}` takes {words}",
        hint=f'give it as inputs={{"{declared.name}": …}}',
    )


def _missing(declared: Input) -> Diagnostic:
    about = f": {declared.doc}" if declared.doc else ""
    return Diagnostic(
        "missing-input",
        f"the program needs the input `{declared.name}`{about}",
        hint=f'give it as inputs={{"{declared.name}": …}}',
    )


def _unknown(name: str, declared: dict[str, Input]) -> Diagnostic:
    names = ", ".join(declared)
    return Diagnostic(
        "unknown-input",
        f"the program has no input called `{name}`",
        hint=f"its inputs are {names}" if names else "it declares no inputs (define-input)",
    )
