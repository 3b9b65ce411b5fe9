"""Python functions as tools of a model: name, description, and JSON schema of the type hints."""

import inspect
from collections.abc import Callable, Iterable, Mapping
from re import fullmatch
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, TypeAlias, Union, get_args, get_origin, get_type_hints

from sexplang.api.python_values import Function, Functions, bad_function, reply_with, value
from sexplang.runtime import Refusal
from sexplang.terms.classes.node import frozen
from sexplang.terms.task import error_record
from sexplang.terms.values.text import text
from sexplang.terms.values.value import Fault, Value

Schema: TypeAlias = dict[str, Any]


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
    if isinstance(given, Mapping):
        named = list(given.items())
    else:
        named = [(_name(function), function) for function in given]
    if not named:
        return {}
    from sexplang.tasks.turns.tools import BUILT_IN

    tools: dict[str, Tool] = {}
    for name, function in named:
        if not fullmatch(r"[\w:.-]+", name):
            raise bad_function(name, "no template could name it", "write letters, digits, - and _")
        if name in BUILT_IN:
            raise bad_function(name, "models have a tool of this name already", "choose another")
        if name in tools:
            raise bad_function(name, "two tools have this name", 'name them: tools={"name": f}')
        tools[name] = _tool(name, function)
    return tools


def _name(function: Function) -> str:
    name = getattr(function, "__name__", None)
    if not isinstance(name, str) or name == "<lambda>":
        raise bad_function(repr(function)[:60], "it has no name", 'give it one: tools={"name": f}')
    return name


def _tool(name: str, function: Function) -> Tool:
    schema = schema_of(name, function)

    def answer(inputs: dict[str, Any]) -> Any:
        problem = misfit(schema, inputs, "the input")
        if problem is not None:
            raise Refusal(
                error_record(
                    "TASK_FAILURE",
                    "input_validation_failure",
                    f"the input of the tool `{name}` does not fit: {problem}",
                    details={"code": "bad-tool-input", "tool": name},
                    hint="give what its schema asks for",
                )
            )
        return reply_with(lambda: function(**inputs))

    description = inspect.getdoc(function) or ""
    return Tool(name, {"description": description, "input_schema": value(schema)}, answer)


def schema_of(name: str, function: Function) -> Schema:
    """Return the JSON schema of a function's parameters. Raises Diagnostics."""
    try:
        params = inspect.signature(function).parameters.values()
        hints = get_type_hints(_find_hints(function), include_extras=True)
    except (TypeError, ValueError, NameError) as problem:
        raise bad_function(name, f"its signature cannot be read: {problem}") from None
    properties: dict[str, Schema] = {}
    required: list[str] = []
    others = False
    for param in params:
        if param.kind in (param.POSITIONAL_ONLY, param.VAR_POSITIONAL):
            raise bad_function(name, f"`{param.name}` cannot be given by name", "tools get names")
        if param.kind == param.VAR_KEYWORD:
            others = True
            continue
        schema = _schema(name, param.name, hints.get(param.name, Any))
        if param.default is param.empty:
            required.append(param.name)
        elif _is_plain(param.default):
            schema = {**schema, "default": param.default}
        properties[param.name] = schema
    return {
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": others,
    }


def _find_hints(function: Function) -> Any:
    """Return the object with the type hints: for a callable object its `__call__`."""
    plain = inspect.isroutine(function) or inspect.isclass(function)
    return function if plain else getattr(function, "func", None) or type(function).__call__


def _is_plain(default: Any) -> bool:
    try:
        value(default)
    except Fault:
        return False
    return default is not None


_TYPES: dict[Any, Schema] = {
    Any: {},
    inspect.Parameter.empty: {},
    object: {},
    str: {"type": "string"},
    int: {"type": "integer"},
    float: {"type": "number"},
    bool: {"type": "boolean"},
    list: {"type": "array"},
    tuple: {"type": "array"},
    dict: {"type": "object"},
    NoneType: {"type": "null"},
}


def _schema(name: str, param: str, hint: Any) -> Schema:
    origin, parts = get_origin(hint), get_args(hint)
    if origin is Annotated:
        about = [part for part in parts[1:] if isinstance(part, str)]
        inner = _schema(name, param, parts[0])
        return {**inner, "description": about[0]} if about else inner
    if origin is Literal:
        return {"enum": list(parts)}
    if origin in (Union, UnionType):
        return {"anyOf": [_schema(name, param, part) for part in parts]}
    if origin is list and len(parts) == 1:
        return {"type": "array", "items": _schema(name, param, parts[0])}
    if origin is dict and parts[0] is str:
        return {"type": "object", "additionalProperties": _schema(name, param, parts[1])}
    try:
        return _TYPES[hint]
    except (KeyError, TypeError):
        words = getattr(hint, "__name__", None) or str(hint)
        raise bad_function(
            name,
            f"its parameter `{param}` is of type {words}, for which there is no schema",
            "use str, int, float, bool, list, dict, Optional or Literal",
        ) from None


_CLASSES: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "array": (list,),
    "object": (dict,),
    "null": (NoneType,),
}


def misfit(schema: Schema, data: Any, where: str) -> str | None:
    """Return where and why data do not fit a schema of `schema_of`, or None.

    The recursion is as deep as the schema, that is, as the type hint.
    """
    if "anyOf" in schema:
        problems = [misfit(choice, data, where) for choice in schema["anyOf"]]
        return None if None in problems else problems[0]
    if "enum" in schema:
        fits = any(type(data) is type(choice) and data == choice for choice in schema["enum"])
        choices = ", ".join([text(choice) for choice in schema["enum"]])
        return None if fits else f"{where} is one of {choices}"
    kind = schema.get("type")
    if kind is None:
        return None
    if not _is(data, kind):
        return f"{where} is not of type {kind}"
    if kind == "array" and "items" in schema:
        return _first(misfit(schema["items"], item, f"an item of {where}") for item in data)
    if kind == "object":
        return _misfit_object(schema, data, where)
    return None


def _is(data: Any, kind: str) -> bool:
    return isinstance(data, _CLASSES[kind]) and isinstance(data, bool) is (kind == "boolean")


def _misfit_object(schema: Schema, data: dict[str, Any], where: str) -> str | None:
    known, others = schema.get("properties", {}), schema.get("additionalProperties", True)
    missing = [name for name in schema.get("required", ()) if name not in data]
    if missing:
        return f"`{missing[0]}` is missing"
    for name, item in data.items():
        if name not in known and others is False:
            return f"there is no `{name}`; it has {', '.join(known) or 'none'}"
        part = known.get(name, others if isinstance(others, dict) else {})
        problem = misfit(part, item, f"`{name}`")
        if problem is not None:
            return problem
    return None


def _first(problems: Iterable[str | None]) -> str | None:
    return next((problem for problem in problems if problem is not None), None)
