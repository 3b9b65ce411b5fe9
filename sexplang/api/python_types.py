"""Python's types as types of the language: dataclasses, TypedDicts, pydantic models and type hints.

pydantic is never imported: a class is a model if it has pydantic's methods.
"""

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime, time
from enum import Enum
from functools import cached_property
from types import NoneType, UnionType
from typing import (
    Annotated,
    Any,
    Literal,
    NotRequired,
    Required,
    Union,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
)

from sexplang.schemas.type_check import TypeCheck
from sexplang.schemas.values import misfit_of
from sexplang.terms.classes.node import define, field
from sexplang.terms.schemas import Schema, below
from sexplang.terms.values.boundary import value_of
from sexplang.terms.values.value import Fault

_WORDS: dict[Any, Schema] = {
    Any: {},
    object: {},
    str: {"type": "string"},
    int: {"type": "integer"},
    float: {"type": "number"},
    bool: {"type": "boolean"},
    list: {"type": "array"},
    tuple: {"type": "array"},
    dict: {"type": "object"},
    None: {"type": "null"},
    NoneType: {"type": "null"},
    datetime: {"type": "string", "format": "date-time"},
    date: {"type": "string", "format": "date"},
    time: {"type": "string", "format": "time"},
}

_LISTS = (list, Sequence)
_TABLES = (dict, Mapping)
_MARKS = (Annotated, Required, NotRequired)


class NoSchema(Exception):
    """The failure of a type without a schema; its words name the type."""


@define(eq=False)
class SchemaMaker:
    """A maker of schemas, which share their `definitions`: those of classes that refer to
    themselves, and of pydantic models. Raises NoSchema."""

    definitions: dict[str, Schema] = field(factory=dict)
    _names: dict[Any, str] = field(factory=dict)
    """The names of classes in the definitions."""
    _open: dict[Any, bool] = field(factory=dict)
    """The classes around, and whether they refer to themselves."""

    def schema_of(self, hint: Any) -> Schema:
        origin, parts = get_origin(hint), get_args(hint)
        if origin is Annotated:
            words = [each for each in parts[1:] if isinstance(each, str)]
            inner = self.schema_of(parts[0])
            return {**inner, "description": words[0]} if words else inner
        if origin in _MARKS:
            return self.schema_of(parts[0])
        if origin is Literal:
            return {"enum": list(parts)}
        if origin in (Union, UnionType):
            return {"anyOf": [self.schema_of(part) for part in parts]}
        if origin in _LISTS or (origin is tuple and parts[1:] == (...,)):
            return {"type": "array", "items": self.schema_of(parts[0])}
        if origin is tuple:
            items = [self.schema_of(part) for part in parts]
            return {"type": "array", "prefixItems": items, "items": False, "minItems": len(items)}
        if origin in _TABLES and parts[0] is str:
            return {"type": "object", "additionalProperties": self.schema_of(parts[1])}
        if isinstance(hint, type) and issubclass(hint, Enum):
            return {"enum": [each.value for each in hint]}
        if is_model(hint):
            path = self._reference(hint)
            return self._define(hint, below(hint.model_json_schema(), path["$ref"]))
        if _is_record(hint):
            return self._record(hint)
        try:
            return _WORDS[hint]
        except (KeyError, TypeError):
            raise NoSchema(getattr(hint, "__name__", None) or str(hint)) from None

    def complete(self, schema: Schema) -> Schema:
        """Return a schema with the definitions that it refers to."""
        return {**schema, "$defs": self.definitions} if self.definitions else schema

    def _reference(self, hint: Any) -> Schema:
        """Return the reference to the definition of a class; two of one name have two."""
        if hint not in self._names:
            same = [each for each in self._names if each.__name__ == hint.__name__]
            number = f"-{len(same) + 1}" if same else ""
            self._names[hint] = f"{hint.__name__}{number}"
        return {"$ref": f"#/$defs/{self._names[hint]}"}

    def _define(self, hint: Any, schema: Schema) -> Schema:
        reference = self._reference(hint)
        self.definitions[self._names[hint]] = schema
        return reference

    def _record(self, hint: Any) -> Schema:
        """Return the schema of a dataclass or TypedDict; one that refers to itself is a
        definition."""
        if hint in self._open:
            self._open[hint] = True
            return self._reference(hint)
        self._open[hint] = False
        fields = _fields(hint)
        made: Schema = {
            "type": "object",
            "properties": {key: self.schema_of(part) for key, (part, _) in fields.items()},
            "required": [key for key, (_, is_required) in fields.items() if is_required],
        }
        return self._define(hint, made) if self._open.pop(hint) else made


class WrongData(Exception):
    """The failure of data that are not of a type; its words say where and why."""


@define(eq=False)
class PythonType:
    """A type of Python: its schema, and the instances of it that data make. Raises NoSchema."""

    hint: Any
    schema: Schema = field(init=False)

    def __attrs_post_init__(self) -> None:
        maker = SchemaMaker()
        self.schema = maker.complete(maker.schema_of(self.hint))

    @property
    def name(self) -> str:
        return getattr(self.hint, "__name__", None) or str(self.hint)

    def instance(self, data: Any) -> Any:
        """Return the instance of the type that data make. Raises WrongData."""
        _check(data, self.schema)
        return instance_of(self.hint, data)


_FLAT = ((str, (str,)), (int, (int,)), (float, (float, int)), (bool, (bool,)))
"""The types whose data are known to fit by their class, with these classes."""


@define(eq=False)
class Parameters:
    """The parameters of a function that is called by names: their schema, and the arguments that
    data make."""

    schema: Schema
    hints: dict[str, Any]

    def arguments(self, inputs: dict[str, Any]) -> dict[str, Any]:
        """Return the arguments by name. Raises WrongData."""
        flat = self._flat
        if inputs.keys() >= self._required and all(
            type(data) in flat.get(name, ()) for name, data in inputs.items()
        ):
            return inputs
        _check(inputs, self.schema)
        hints = {name: self.hints.get(name) for name in inputs}
        made = {name for name, each in hints.items() if each is int or makes_instances(each)}
        return {
            name: instance_of(self.hints[name], data) if name in made else data
            for name, data in inputs.items()
        }

    @cached_property
    def _required(self) -> frozenset[str]:
        return frozenset(self.schema["required"])

    @cached_property
    def _flat(self) -> dict[str, tuple[type, ...]]:
        """The classes of data that fit, by the parameters of a flat type: most calls have no
        others, and a schema takes ten times as long."""
        found = {name: self.hints.get(name) for name in self.schema["properties"]}
        return {
            name: kinds for name, hint in found.items() for each, kinds in _FLAT if hint is each
        }


def _check(data: Any, schema: Schema) -> None:
    """Raise WrongData for data that do not fit a schema."""
    try:
        wrong = misfit_of(value_of(data), schema)
    except Fault as fault:
        wrong = fault.message
    if wrong is not None:
        raise WrongData(wrong)


def instance_of(hint: Any, data: Any) -> Any:
    """Return the instance of a type that data of its schema make. Raises WrongData."""
    try:
        return _instance(hint, data)
    except (TypeError, ValueError) as why:  # pydantic's ValidationError is a ValueError
        raise WrongData(str(why)) from why
    except (Exception, SystemExit) as why:  # the code of a class
        raise WrongData(f"{type(why).__name__}: {why}") from why


def _instance(hint: Any, data: Any) -> Any:
    origin, parts = get_origin(hint), get_args(hint)
    if origin in _MARKS:
        return _instance(parts[0], data)
    if origin in (Union, UnionType):
        return _instance(_choose(parts, data), data)
    if origin in _LISTS:
        return [_instance(parts[0], item) for item in data]
    if origin is tuple:
        each = parts[:1] * len(data) if parts[1:] == (...,) else parts
        return tuple(_instance(*pair) for pair in zip(each, data, strict=True))
    if origin in _TABLES:
        return {key: _instance(parts[1], item) for key, item in data.items()}
    if is_model(hint):
        return hint.model_validate(data)
    if _is_record(hint):
        hints = {key: part for key, (part, _) in _fields(hint).items()}
        kept = data if is_typeddict(hint) else hints.keys() & data.keys()
        return hint(**{key: _instance(hints.get(key, Any), data[key]) for key in kept})
    if hint in (date, datetime, time):
        return hint.fromisoformat(data)
    is_class = isinstance(hint, type)
    if (is_class and issubclass(hint, Enum)) or (hint, type(data)) in _NUMBERS:
        return hint(data)
    return tuple(data) if hint is tuple else data


_NUMBERS = ((float, int), (int, float))
"""Numbers of a schema that are of another class: 3.0 is an integer."""


def _choose(parts: tuple[Any, ...], data: Any) -> Any:
    """Return the first type of a union that data fit."""
    for part in parts:
        type_ = PythonType(part)
        if TypeCheck(type_.schema).fits(data, type_.schema):
            return part
    return Any


def makes_instances(hint: Any) -> bool:
    """Return whether data of a type are made instances of a class."""
    if any(makes_instances(part) for part in get_args(hint) if part is not ...):
        return get_origin(hint) is not Literal
    is_enum = isinstance(hint, type) and issubclass(hint, Enum)
    return is_model(hint) or _is_record(hint) or is_enum or hint in (date, datetime, time)


def is_model(hint: Any) -> bool:
    """Return whether a class is a pydantic model."""
    return isinstance(hint, type) and hasattr(hint, "model_json_schema")


def _is_record(hint: Any) -> bool:
    return is_typeddict(hint) or (isinstance(hint, type) and dataclasses.is_dataclass(hint))


def _fields(hint: Any) -> dict[str, tuple[Any, bool]]:
    """Return the fields of a dataclass or TypedDict: the type of each, and whether it is
    required."""
    try:
        hints = get_type_hints(hint, include_extras=True)
    except (NameError, TypeError) as why:
        raise NoSchema(f"{hint.__name__}, whose hints cannot be read: {why}") from None
    if is_typeddict(hint):
        return {name: (part, name in hint.__required_keys__) for name, part in hints.items()}
    return {
        each.name: (
            hints[each.name],
            each.default is dataclasses.MISSING and each.default_factory is dataclasses.MISSING,
        )
        for each in dataclasses.fields(hint)
        if each.init
    }


def as_data(item: Any) -> Any:
    """Return instances of dataclasses, pydantic models and enumerations, and dates, as plain data;
    lists and tables with such parts too. Anything else stays."""
    if isinstance(item, (list, tuple)):
        return [as_data(each) for each in item]
    if isinstance(item, dict):
        return {key: as_data(each) for key, each in item.items()}
    if isinstance(item, Enum):
        return item.value
    if isinstance(item, (date, time)):
        return item.isoformat()
    if is_model(type(item)):
        dump: Callable[..., Any] = item.model_dump
        return dump(mode="json", by_alias=True)
    if dataclasses.is_dataclass(item) and not isinstance(item, type):
        return {each.name: as_data(getattr(item, each.name)) for each in dataclasses.fields(item)}
    return item
