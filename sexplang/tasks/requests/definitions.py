"""The description of a task or function for a model: a line of the catalogue, or a tool's
definition."""

import re

from sexplang.schemas.values import misfit_of
from sexplang.terms.core import Const, Core
from sexplang.terms.json.json_writer import json_text
from sexplang.terms.json.strict import unfit
from sexplang.terms.program import Function, Parameter
from sexplang.terms.template import Param, Template
from sexplang.terms.values.boundary import plain, value_of
from sexplang.terms.values.text import type_words
from sexplang.terms.values.value import Fault, Value

LONGEST = 300
"""The most characters of a description in a catalogue."""
_LONGEST_INPUT = 120
_LONGEST_OF_TOOL = 4_000
"""The most characters of a tool's own description."""
_LONGEST_NAME = 40

_JSON: dict[str, dict[str, Value]] = {
    "any": {},
    "string": {"type": "string"},
    "number": {"type": "number"},
    "integer": {"type": "integer"},
    "boolean": {"type": "boolean"},
    "list": {"type": "array"},
    "object": {"type": "object"},
    "image": {"type": "string", "description": "the path of an image"},
    "file": {"type": "string", "description": "the path of a file"},
}
"""The JSON Schema of an input by the type of its parameter."""


def signature_of(template: Template) -> str:
    """Return `name(input: type, optional?: type)`."""
    inputs = [f"{_mark_parameter(param)}: {_type_of(param)}" for param in template.params]
    return f"{template.name}({', '.join(inputs)})"


def _type_of(param: Param) -> str:
    words = param.type if param.schema is None else type_words(param.schema)
    return words if len(words) <= _LONGEST_INPUT else param.type


def line_of(template: Template, *, with_inputs: bool = True) -> str:
    """Return the signature and the description, and below them the documented inputs."""
    said = description_of(template)
    lines = [f"- {signature_of(template)}{f': {said}' if said else ''}"]
    if with_inputs:
        docs = [(param.name, _shorten(param.doc, _LONGEST_INPUT)) for param in template.params]
        lines += [f"  {name}: {doc}" for name, doc in docs if doc]
    return "\n".join(lines)


def tool_of(template: Template) -> dict[str, Value]:
    """Return the task as a tool: `{description input_schema}`."""
    schema: dict[str, Value] = {
        "type": "object",
        "properties": {param.name: _property_of(param) for param in template.params},
        "required": tuple([param.name for param in template.params if param.required]),
        "additionalProperties": False,
    }
    definitions: dict[str, Value] = {}
    for param in template.params:
        definitions |= value_of((param.schema or {}).get("$defs", {}))
    if definitions:
        schema["$defs"] = definitions
    return {
        "description": _shorten(_describe(template), _LONGEST_OF_TOOL),
        "input_schema": schema,
    }


def tool_of_function(function: Function) -> dict[str, Value]:
    """Return a documented function as a tool. Its parameters have types, or literal defaults that
    give them."""
    properties: dict[str, Value] = {each.name: _property_in(each) for each in function.params}
    if function.rest is not None:
        properties[function.rest] = {"type": "array"}
    schema: dict[str, Value] = {
        "type": "object",
        "properties": properties,
        "required": tuple([each.name for each in function.params if each.default is None]),
        "additionalProperties": False,
    }
    definitions: dict[str, Value] = {}
    for each in function.params:
        definitions |= value_of((each.schema or {}).get("$defs", {}))
    if definitions:
        schema["$defs"] = definitions
    return {"description": _shorten(function.doc, _LONGEST_OF_TOOL), "input_schema": schema}


def _property_in(param: Parameter) -> dict[str, Value]:
    said = _by_default(param)
    if param.schema is not None:
        own = {word: each for word, each in param.schema.items() if word != "$defs"}
        said = {**value_of(own), **_default_of(param)}
    if param.doc:
        said["description"] = _shorten(param.doc, LONGEST)
    return said


def _default_of(param: Parameter) -> dict[str, Value]:
    value = param.default.value if isinstance(param.default, Const) else None
    return {} if value is None or not _is_short(value) else {"default": value}


def _by_default(param: Parameter) -> dict[str, Value]:
    default: Core | None = param.default
    value = default.value if isinstance(default, Const) else None
    kind = _KINDS.get(type(value))
    return {} if kind is None else {"type": kind, "default": value}


_KINDS: dict[type, str] = {
    str: "string",
    bool: "boolean",
    int: "integer",
    float: "number",
}


def misfit(tool: Value, given: dict[str, Value], is_typed: bool) -> str | None:
    """Return why inputs do not fit a tool that is a function of the program. None if they fit.
    `is_typed`: the inputs are held to the types that the schema says."""
    schema = tool["input_schema"]
    known = schema["properties"]
    missing = [name for name in schema["required"] if name not in given]
    if missing:
        return f"`{missing[0]}` is missing"
    unknown = [name[:_LONGEST_NAME] for name in given if name not in known]
    if unknown:
        return f"`{unknown[0]}` is none of its inputs: {', '.join(known) or 'it has none'}"
    if is_typed:
        definitions = schema.get("$defs", {})
        for name, item in given.items():
            wrong = misfit_of(item, plain({**known[name], "$defs": definitions}), name)
            if wrong is not None:
                return wrong
    lists = [name for name, item in known.items() if item.get("type") == "array" and name in given]
    no_lists = [name for name in lists if not isinstance(given[name], tuple)]
    return f"`{no_lists[0]}` must be a list" if no_lists else None


def description_of(template: Template) -> str:
    """Return the task's description in one line. Without one, return the beginning of its
    instructions."""
    return _shorten(_describe(template), LONGEST)


def _describe(template: Template) -> str:
    return template.own_description or _PLACEHOLDER.sub(r"\1", template.instructions)


_PLACEHOLDER = re.compile(r"(?<!\{)\{\{\s*([^{}]{1,200}?)\s*\}\}")
"""A placeholder of instructions: its name stands for the value, which is not known yet."""


def _property_of(param: Param) -> dict[str, Value]:
    said: dict[str, Value] = dict(_JSON[param.type])
    if param.schema is not None:
        said = value_of({word: each for word, each in param.schema.items() if word != "$defs"})
    if param.doc:
        said["description"] = _shorten(param.doc, LONGEST)
    if param.default is not None and _is_short(param.default):
        said["default"] = param.default
    return said


def _is_short(value: Value) -> bool:
    """Return whether a value is JSON and short enough for a model."""
    try:
        return unfit(value) is None and len(json_text(value)) <= LONGEST
    except Fault:
        return False


def _mark_parameter(param: Param) -> str:
    return param.name if param.required else f"{param.name}?"


def _shorten(text: str, most: int) -> str:
    words = " ".join(text[: 4 * most].split())
    return words if len(words) <= most else f"{words[: most - 1].rstrip()}…"
