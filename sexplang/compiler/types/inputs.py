"""The types of inputs and of a task's parameters that are not a single word."""

from collections.abc import Iterable
from typing import Any

from sexplang.compiler.compilation import Lowering
from sexplang.compiler.types.definitions import read_type
from sexplang.terms.classes.node import frozen
from sexplang.terms.form import Form
from sexplang.terms.program import InputType
from sexplang.terms.schemas import Schema
from sexplang.terms.template import ParamType
from sexplang.terms.values.value import Value

_INPUTS: dict[str, InputType] = {
    "string": "string",
    "number": "number",
    "integer": "integer",
    "boolean": "boolean",
}
_PARAMS: dict[str, ParamType] = {
    "string": "string",
    "number": "number",
    "integer": "integer",
    "boolean": "boolean",
    "array": "list",
    "object": "object",
}


@frozen
class WrittenType:
    """A type as it is written: the check of an input."""

    written: str
    schema: Schema

    def __call__(self, value: Value, /) -> str | None:
        from sexplang.schemas.values import misfit_of

        wrong = misfit_of(value, self.schema)
        return None if wrong is None else f"a value of type {self.written[:60]} ({wrong})"


def read_input_type(
    c: Lowering, form: Form, words: Iterable[str]
) -> tuple[InputType, WrittenType | None]:
    """Return the word for an input of a type, and its check. `words` are those of inputs alone."""
    made = read_type(c, form, closed=False, words=words)
    if made is None:
        return "json", None
    check = WrittenType(" ".join(form.span.text.split()), made.whole)
    return _INPUTS.get(_kind_of(made.whole), "json"), check


def read_parameter_type(
    c: Lowering, form: Form, words: Iterable[str]
) -> tuple[ParamType, Schema | None]:
    """Return the word for a parameter of a type, and its schema. `words` are those of parameters
    alone."""
    made = read_type(c, form, closed=False, words=words)
    if made is None:
        return "any", None
    return _PARAMS.get(_kind_of(made.whole), "any"), made.whole


def _kind_of(schema: Schema) -> str:
    """Return the JSON type of all values of a type. Empty if there are several."""
    choices: Any = schema.get("enum")
    if isinstance(choices, list):
        return "string" if all(isinstance(each, str) for each in choices) else ""
    named = schema.get("type")
    return named if isinstance(named, str) else ""
