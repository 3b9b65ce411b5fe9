"""A template to what a model is told of the task: a line of a list, or the definition of a tool."""

from sexplang.terms.template import Param, Template
from sexplang.terms.value import Value

LONGEST = 300
"""Characters of a description that a model is shown."""
_LONGEST_INPUT = 120

_JSON: dict[str, dict[str, Value]] = {
    "any": {},
    "string": {"type": "string"},
    "number": {"type": "number"},
    "integer": {"type": "integer"},
    "boolean": {"type": "boolean"},
    "list": {"type": "array"},
    "object": {"type": "object"},
}
"""What is said of an input in JSON Schema, by the type of the parameter."""


def signature_of(template: Template) -> str:
    """`name(input: type, optional?: type)`."""
    inputs = [f"{_marked(param)}: {param.type}" for param in template.params]
    return f"{template.name}({', '.join(inputs)})"


def line_of(template: Template, *, with_inputs: bool = True) -> str:
    """The signature and the description; below it, what is said of each input."""
    said = description_of(template)
    lines = [f"- {signature_of(template)}{f': {said}' if said else ''}"]
    if with_inputs:
        docs = [(param.name, _shortened(param.doc, _LONGEST_INPUT)) for param in template.params]
        lines += [f"  {name}: {doc}" for name, doc in docs if doc]
    return "\n".join(lines)


def tool_of(template: Template) -> dict[str, Value]:
    """The task as a tool: `{description input_schema}`."""
    properties: dict[str, Value] = {param.name: _property_of(param) for param in template.params}
    return {
        "description": description_of(template),
        "input_schema": {
            "type": "object",
            "properties": properties,
            "required": tuple([param.name for param in template.params if param.required]),
        },
    }


def description_of(template: Template) -> str:
    """What the task does, in one line; without a description, how its instructions begin."""
    return _shortened(template.own_description or template.instructions, LONGEST)


def _property_of(param: Param) -> dict[str, Value]:
    said: dict[str, Value] = dict(_JSON[param.type])
    if param.doc:
        said["description"] = _shortened(param.doc, LONGEST)
    return said


def _marked(param: Param) -> str:
    return param.name if param.required else f"{param.name}?"


def _shortened(text: str, most: int) -> str:
    words = " ".join(text[: 4 * most].split())
    return words if len(words) <= most else f"{words[: most - 1].rstrip()}…"
