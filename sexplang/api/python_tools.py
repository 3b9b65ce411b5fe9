"""Python functions as tools of a model: name, description, and JSON schema of the type hints."""

import inspect
from collections.abc import Callable, Iterable, Mapping
from re import fullmatch
from typing import TYPE_CHECKING, Any

from sexplang.api.python_arguments import hints_of
from sexplang.api.python_values import Function, Functions, bad_function, reply_with, value
from sexplang.runtime import Refusal
from sexplang.terms.classes.node import frozen
from sexplang.terms.host.host_operations import HIDDEN_BY_OWN
from sexplang.terms.schemas import Schema
from sexplang.terms.task import error_record
from sexplang.terms.values.value import Fault, Value

if TYPE_CHECKING:
    from sexplang.api.python_types import Parameters


@frozen
class Tool:
    """A tool: its description for a model, and the function that performs its calls."""

    name: str
    definition: dict[str, Value]
    """`{description input_schema}`."""
    answer: Callable[[dict[str, Any]], Any]
    """A function of the inputs by name to a value or an awaitable. It raises Refusal for a
    misfit."""


def tools_of(given: Iterable[Function] | Functions) -> dict[str, Tool]:
    """Return the tools by name: the function's own name, or that of a mapping.

    Raises Diagnostics for a function that cannot be a tool.
    """
    named = name_functions(given)
    if not named:
        return {}
    from sexplang.tasks.turns.tools import BUILT_IN

    tools: dict[str, Tool] = {}
    for name, function in named:
        if not fullmatch(r"[\w:.-]+", name):
            raise bad_function(name, "no template could name it", "write letters, digits, - and _")
        if name in BUILT_IN and name not in HIDDEN_BY_OWN:
            raise bad_function(name, "models have a tool of this name already", "choose another")
        if name in tools:
            raise bad_function(name, "two tools have this name", 'name them: tools={"name": f}')
        tools[name] = _tool(name, function)
    return tools


def name_functions(given: Iterable[Function] | Functions) -> list[tuple[str, Function]]:
    """Return the functions of tools with their names. Raises Diagnostics for one without a name."""
    if isinstance(given, Mapping):
        return list(given.items())
    return [(_name(function), function) for function in given]


def _name(function: Function) -> str:
    name = getattr(function, "__name__", None)
    if not isinstance(name, str) or name == "<lambda>":
        raise bad_function(repr(function)[:60], "it has no name", 'give it one: tools={"name": f}')
    return name


def _tool(name: str, function: Function) -> Tool:
    from sexplang.api.python_types import WrongData

    params = params_of(name, function)

    def answer(inputs: dict[str, Any]) -> Any:
        try:
            given = params.arguments(inputs)
        except WrongData as why:
            raise Refusal(
                error_record(
                    "TASK_FAILURE",
                    "input_validation_failure",
                    f"the input of the tool `{name}` does not fit: {why}",
                    details={"code": "bad-tool-input", "tool": name},
                    hint="give what its schema asks for",
                )
            ) from None
        return reply_with(lambda: function(**given))

    description = inspect.getdoc(function) or ""
    return Tool(name, {"description": description, "input_schema": value(params.schema)}, answer)


def params_of(name: str, function: Function) -> "Parameters":
    """Return the parameters of a function that is called by their names. Raises Diagnostics."""
    from sexplang.api.python_types import NoSchema, Parameters, SchemaMaker

    try:
        params = inspect.signature(function).parameters.values()
        hints = hints_of(function)
    except (TypeError, ValueError, NameError) as problem:
        raise bad_function(name, f"its signature cannot be read: {problem}") from None
    maker = SchemaMaker()
    properties: dict[str, Schema] = {}
    required: list[str] = []
    others = False
    for param in params:
        if param.kind in (param.POSITIONAL_ONLY, param.VAR_POSITIONAL):
            raise bad_function(name, f"`{param.name}` cannot be given by name", "tools get names")
        if param.kind == param.VAR_KEYWORD:
            others = True
            continue
        try:
            schema = maker.schema_of(hints.get(param.name, Any))
        except NoSchema as what:
            raise bad_function(
                name,
                f"its parameter `{param.name}` is of type {what}, for which there is no schema",
                "use str, int, float, bool, list, dict, Optional, Literal, a dataclass, a "
                "TypedDict or a pydantic model",
            ) from None
        if param.default is param.empty:
            required.append(param.name)
        elif _is_plain(param.default):
            schema = {**schema, "default": param.default}
        properties[param.name] = schema
    schema = maker.complete(
        {
            "type": "object",
            "properties": properties,
            "required": required,
            "additionalProperties": others,
        }
    )
    return Parameters(schema, hints)


def _is_plain(default: Any) -> bool:
    try:
        value(default)
    except Fault:
        return False
    return default is not None
