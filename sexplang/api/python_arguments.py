"""Arguments of Python functions: instances of the classes that their type hints name.

pydantic, dataclasses and the types of Python are imported for a function whose hints need them.
"""

import inspect
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, TypeAlias, get_type_hints

from sexplang.machine import Failed
from sexplang.terms.task import error_record

if TYPE_CHECKING:
    from sexplang.api.python_types import PythonType

Function: TypeAlias = Callable[..., Any]
Convert: TypeAlias = Callable[[Iterable[Any]], list[Any]]

_PLAIN = (inspect.Parameter.empty, Any, object, str, int, float, bool, list, dict, None)
_PLAIN_WORDS = ("Any", "object", "str", "int", "float", "bool", "list", "dict", "None")


def hints_of(function: Function) -> dict[str, Any]:
    """Return the type hints of the parameters by name. Raises NameError and TypeError."""
    plain = inspect.isroutine(function) or inspect.isclass(function)
    # Of a callable object its `__call__` has them.
    holder = function if plain else getattr(function, "func", None) or type(function).__call__
    return get_type_hints(holder, include_extras=True)


def converter_of(name: str, function: Function) -> Convert | None:
    """Return the function from positional arguments, plain data, to those that `function` takes;
    None if it takes plain data.

    It raises Failed, reason `type-misfit`, for what is not of its type.
    """
    try:
        params = [*inspect.signature(function).parameters.values()]
        if all(_is_plain(param.annotation) for param in params):
            return None
        hints = hints_of(function)
    except (TypeError, ValueError, NameError):
        return None
    found = [_type_of(hints.get(param.name, Any)) for param in params]
    if not any(found):
        return None
    positional = [
        (param, type_)
        for param, type_ in zip(params, found, strict=True)
        if param.kind in (param.POSITIONAL_ONLY, param.POSITIONAL_OR_KEYWORD)
    ]
    rest = [pair for pair in zip(params, found, strict=True) if pair[0].kind == _REST]

    def convert(arguments: Iterable[Any]) -> list[Any]:
        given = [*arguments]
        pairs = (positional + rest * len(given))[: len(given)]
        return [
            data if type_ is None else _convert(name, param.name, type_, data)
            for data, (param, type_) in zip(given, pairs, strict=True)
        ]

    return convert


_REST = inspect.Parameter.VAR_POSITIONAL


def _is_plain(annotation: Any) -> bool:
    return any(annotation is each for each in _PLAIN) or (
        isinstance(annotation, str) and annotation in _PLAIN_WORDS
    )


def _type_of(hint: Any) -> "PythonType | None":
    """Return the type of a hint of which data make instances, or None."""
    from sexplang.api.python_types import NoSchema, PythonType, makes_instances

    try:
        return PythonType(hint) if makes_instances(hint) else None
    except NoSchema:
        return None


def _convert(name: str, param: str, type_: "PythonType", data: Any) -> Any:
    from sexplang.api.python_types import WrongData

    try:
        return type_.instance(data)
    except WrongData as why:
        message = f"the argument `{param}` of `{name}` is not of type {type_.name}: {why}"
        hint = "give what the class in Python has"
        raise Failed(error_record("PROGRAM_ERROR", "type-misfit", message, hint=hint)) from None
