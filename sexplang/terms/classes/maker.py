"""The class maker: attrs' classes without attrs. The import of a class only makes its layout.

`__init__`, `__eq__` and `__hash__` of a class are generated on first use, as attrs generates them;
most classes of a run need none of them. `attrs.fields`, `attrs.evolve` and `attrs.asdict` find
attrs' own description of a class, made on demand.

Supported are `eq`, `unsafe_hash`, `kw_only` and `repr=False` of a class; `default`, `factory`,
`converter`, `init`, `eq`, `repr`, `kw_only` and the decorator `default` of a field; exceptions,
`cached_property` and `__attrs_post_init__`. A class inherits fields from one class at most.
`spec/decisions/classes-without-attrs.md` has the reasons and alternatives.
"""

from collections.abc import Callable
from functools import cached_property
from types import FunctionType
from typing import Any

from sexplang.terms.classes.methods import (
    ABSENT,
    Field,
    attributes,
    init_fields,
    refuse_change,
    represent,
    restore,
    write_eq,
    write_hash,
    write_init,
)

_UNDERSTOOD = frozenset(("converter", "default", "eq", "factory", "init", "kw_only", "repr"))


def field(**settings: Any) -> Any:
    """Replace `attrs.field`. Raises TypeError for an unsupported setting."""
    for name in settings.keys() - _UNDERSTOOD:
        raise TypeError(f"`{name}` of a field is not understood")
    return Field("", settings)


def define(cls: Any = None, **settings: Any) -> Any:
    """Replace `attrs.define`."""
    return _make(cls, False, **settings) if cls else lambda cls: _make(cls, False, **settings)


def frozen(cls: Any = None, **settings: Any) -> Any:
    """Replace `attrs.frozen`."""
    return _make(cls, True, **settings) if cls else lambda cls: _make(cls, True, **settings)


def has(cls: Any) -> bool:
    """Replace `attrs.has`."""
    return hasattr(cls, "__names__")


def fields(cls: Any) -> tuple[Field, ...]:
    """Replace `attrs.fields`, with names only. Inherited fields come first."""
    found: tuple[Field, ...] = cls.__fields__
    return found


def evolve(item: Any, /, **changes: Any) -> Any:
    """Replace `attrs.evolve`: return a new object with these changes."""
    for name, argument in item.__given__:
        if argument not in changes:
            changes[argument] = getattr(item, name)
    return item.__class__(**changes)


def _make(
    cls: Any,
    is_guarded: bool,
    *,
    eq: bool = True,
    unsafe_hash: bool = False,
    kw_only: bool = False,
    repr: bool = True,
) -> Any:
    """Return the class with a slot for each of its own fields."""
    body = dict(cls.__dict__)
    body.pop("__dict__", None)
    body.pop("__weakref__", None)
    own = {name: body.pop(name, ABSENT) for name in cls.__annotations__}
    above = getattr(cls, "__names__", ())
    slots = [name for name in own if name not in above]
    body["__names__"] = (*[name for name in above if name not in own], *own)
    body["__declared__"] = own, kw_only
    if not cls.__base__.__weakrefoffset__:
        slots.append("__weakref__")
    if cached_property in map(type, body.values()):
        slots.append("__dict__")
    body["__qualname__"], body["__slots__"] = cls.__qualname__, tuple(slots)
    body.update(_USUAL)
    body.setdefault("__init__", _INIT)
    if eq and "__eq__" not in body:
        body["__eq__"] = _EQ
        if unsafe_hash or is_guarded:
            body.setdefault("__hash__", _HASH)
    if repr:
        body.setdefault("__repr__", represent)
    if is_guarded:
        body["__setattr__"], body["__delattr__"] = refuse_change, refuse_change
    made = type(cls)(cls.__name__, cls.__bases__, body)
    _rebind(cls, made)
    return made


def _list_fields(cls: Any) -> tuple[Field, ...]:
    """Return the fields of a class, inherited ones first."""
    own, kw_only = cls.__declared__
    known = {name: _field(name, said, kw_only) for name, said in own.items()}
    for each in getattr(cls.__base__, "__fields__", ()):
        known.setdefault(each.name, each)
    return tuple([known[name] for name in cls.__names__])


def _list_match_args(cls: Any) -> tuple[str, ...]:
    every = cls.__fields__
    return tuple([x.name for x in every if x.is_("init") and not x.settings.get("kw_only")])


def _field(name: str, said: Any, kw_only: bool) -> Field:
    if isinstance(said, Field):
        made = said
        made.name = name
    else:
        made = Field(name, {} if said is ABSENT else {"default": said})
    if kw_only:
        made.settings["kw_only"] = True
    return made


def _rebind(cls: type, made: type) -> None:
    """Make `super()` in the methods refer to the new class."""
    for item in cls.__dict__.values():
        function: Any = item
        if type(item) is property:
            function = item.fget
        elif type(item) in (classmethod, staticmethod):
            function = item.__func__
        elif type(item) is not FunctionType:
            continue
        cells = function.__closure__
        if cells:
            for name, cell in zip(function.__code__.co_freevars, cells, strict=True):
                if name == "__class__":
                    cell.cell_contents = made


class _Later:
    """A class attribute that is computed on first access and then stands in the class itself.

    All classes share one object for each name.
    """

    __slots__ = ("_make", "_name")

    def __init__(self, name: str, make: Callable[[Any], Any]) -> None:
        self._name, self._make = name, make

    def __get__(self, item: Any, kind: Any) -> Any:
        owner = next(each for each in kind.__mro__ if each.__dict__.get(self._name) is self)
        made = self._make(owner)
        setattr(owner, self._name, made)
        return made.__get__(item, kind) if hasattr(made, "__get__") else made


def _describe(cls: Any) -> Any:
    """Return attrs' description of the fields."""
    import attrs

    body: dict[str, Any] = {"__annotations__": cls.__annotations__}
    for each in cls.__fields__:
        if each.name in cls.__annotations__:
            said = dict(each.settings)
            if "computed" in said:
                said["default"] = attrs.Factory(said.pop("computed"), takes_self=True)
            body[each.name] = attrs.field(**said)
    described = type(cls)(cls.__name__, cls.__bases__, body)
    made: Any = attrs.define(described, slots=False, init=False, eq=False, repr=False)
    return made.__attrs_attrs__


_INIT = _Later("__init__", write_init)
_EQ = _Later("__eq__", write_eq)
_HASH = _Later("__hash__", write_hash)
_USUAL = {
    "__fields__": _Later("__fields__", _list_fields),
    "__match_args__": _Later("__match_args__", _list_match_args),
    "__attrs_attrs__": _Later("__attrs_attrs__", _describe),
    "__given__": _Later("__given__", init_fields),
    "__getstate__": attributes,
    "__setstate__": restore,
    "__replace__": evolve,
}
