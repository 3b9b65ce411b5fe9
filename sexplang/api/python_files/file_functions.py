"""The functions of a program's Python files, as a run calls them.

Law: no file runs without a permission that names it.
"""

import inspect
import os
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any, TextIO

from sexplang.api.python_files.decorators import KIND
from sexplang.api.python_files.failures import with_places
from sexplang.api.python_files.module_runner import run_file
from sexplang.api.python_tools import Tool, params_of, tools_of
from sexplang.api.python_types import Parameters, WrongData
from sexplang.api.python_values import Function, reply_with, value_with_classes
from sexplang.guards.secrets import redact
from sexplang.machine import Failed
from sexplang.runtime import Permissions
from sexplang.runtime.driver.requests import Performer
from sexplang.terms.classes.node import field, frozen
from sexplang.terms.diagnostic import IN_PYTHON, Diagnostic, Diagnostics, Label
from sexplang.terms.effect import Request
from sexplang.terms.program import Program
from sexplang.terms.python_file import LateFunction, PythonFile, PythonFunction
from sexplang.terms.quota import charge, work
from sexplang.terms.task import error_record
from sexplang.terms.values.boundary import plain
from sexplang.terms.values.value import Fault, Primitive, Value

CALL_STEPS = 100
"""The steps that a call of a primitive of a file counts for."""


@frozen(eq=False)
class FileFunctions:
    """The tools and the performers that a run gets of Python files, by name."""

    tools: Mapping[str, Tool] = field(factory=dict)
    performers: Mapping[str, Performer] = field(factory=dict)

    @property
    def definitions(self) -> dict[str, Any]:
        """The descriptions of the tools for models."""
        return {name: each.definition for name, each in self.tools.items()}

    @property
    def answers(self) -> dict[str, Callable[[dict[str, Any]], Any]]:
        """The functions that answer the tools."""
        return {name: each.answer for name, each in self.tools.items()}


def load_functions(
    program: Program, permissions: Permissions, output: TextIO | None = None
) -> FileFunctions:
    """Run the Python files of a program, and return their functions. Its primitives are found from
    now on. What the files print goes to `output`, by default to standard output.

    Raises Diagnostics: `python-denied`, `python-failed`, `bad-function`.
    """
    denied = [each for each in program.python if not permissions.runs_python(each.source.name)]
    if denied:
        raise Diagnostics([_deny(each) for each in denied])
    tools: dict[str, Tool] = {}
    performers: dict[str, Performer] = {}
    for file in program.python:
        module = run_file(file, output)
        for declared in file.functions:
            function = _find(module, file, declared)
            params = _check(function, file, declared)
            if declared.kind == "tool":
                tools |= tools_of({declared.name: function})
            if isinstance(declared.procedure, Primitive):
                late = declared.procedure.function
                assert isinstance(late, LateFunction)
                late.function = _Computation(declared, function, params)
            else:
                performers[declared.name] = _Performance(declared, function, params)
    return FileFunctions(tools, performers)


def _deny(file: PythonFile) -> Diagnostic:
    from shlex import quote

    name = file.source.name
    return Diagnostic(
        "python-denied",
        f"{name} may not be run here: no permission names it",
        () if file.imported is None else (Label(file.imported, "imported here"),),
        hint=f"look into it, and permit it: --allow-python {quote(name)}{IN_PYTHON}"
        f"Permissions(python=[{os.path.abspath(name)!r}])",
    )


def _find(module: ModuleType, file: PythonFile, declared: PythonFunction) -> Function:
    """Return the function of a name, with its failures explained. Raises Diagnostics if it is not
    what the text declares."""
    found: Any = getattr(module, declared.attribute, None)
    if getattr(found, KIND, None) != declared.kind or not callable(found):
        raise _mismatch(file, declared, "the name has another value when the file has run")
    return with_places(found, declared.name, file.source.name)


def _check(function: Function, file: PythonFile, declared: PythonFunction) -> Parameters:
    """Return the parameters of a function. Raises Diagnostics if its text declares other ones."""
    try:
        given = inspect.signature(function).parameters
        params = params_of(declared.name, function)
    except (TypeError, ValueError) as error:
        raise _mismatch(file, declared, f"its signature cannot be read: {error}") from None
    except Diagnostics as found:
        first = found.diagnostics[0]
        raise _mismatch(file, declared, first.title, first.hint) from None
    if {each.name for each in declared.params} != set(given):
        raise _mismatch(file, declared, "it has other parameters when the file has run")
    return params


def _mismatch(
    file: PythonFile, declared: PythonFunction, why: str, hint: str | None = None
) -> Diagnostics:
    labels = [Label(declared.name_span)]
    labels += [] if file.imported is None else [Label(file.imported, "imported here")]
    return Diagnostics(
        [
            Diagnostic(
                "bad-function",
                f"`{declared.name}` of {file.source.name} cannot be used: {why}",
                tuple(labels),
                hint=hint
                or "a `def` under the decorator is what a program calls: change nothing later",
            )
        ]
    )


@frozen(eq=False)
class _Performance:
    """The performer of an operation."""

    declared: PythonFunction
    function: Function
    params: Parameters

    def __call__(self, request: Request) -> Any:
        given = [plain(argument) for argument in request.arguments]

        def call() -> Any:
            return self.function(**_arguments(self.declared, self.params, given))

        return reply_with(call)


@frozen(eq=False)
class _Computation:
    """The function of a primitive. It raises Fault alone."""

    declared: PythonFunction
    function: Function
    params: Parameters

    def __call__(self, *arguments: Value) -> Value:
        work(CALL_STEPS)
        try:
            given = [plain(argument) for argument in arguments]
            made = self.function(**_arguments(self.declared, self.params, given))
        except Failed as failed:
            reason = str(failed.error.fields["reason"])
            raise Fault(reason, str(failed), error=failed.error) from None
        try:
            value = redact(value_with_classes(made))
        except Fault as fault:
            words = f"what `{self.declared.name}` gave: {fault.message}"
            raise Fault(fault.code, words, hint=fault.hint) from None
        if isinstance(value, (str, tuple, dict)):
            charge(len(value))
        return value


def _arguments(declared: PythonFunction, params: Parameters, given: list[Any]) -> dict[str, Any]:
    """Return arguments by name. nil for a parameter with a default is its default.

    Raises Failed, reason `type-misfit`.
    """
    pairs = zip(declared.params, given, strict=False)
    inputs = {each.name: data for each, data in pairs if data is not None or each.is_required}
    inputs |= {each.name: None for each in declared.params[len(given) :] if each.is_required}
    try:
        return params.arguments(inputs)
    except WrongData as why:
        message = f"the arguments of `{declared.name}` do not fit: {why}"
        hint = f"its types are in {declared.file}"
        raise Failed(error_record("PROGRAM_ERROR", "type-misfit", message, hint=hint)) from None
