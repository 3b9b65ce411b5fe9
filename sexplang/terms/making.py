"""Classes as attrs makes them, without attrs: what a class costs at import is its layout alone.

`__init__`, `__eq__` and `__hash__` of a class are written when they are first looked up, each as
attrs writes it; most classes of a run need none of them. `attrs.fields`, `attrs.evolve` and
`attrs.asdict` find attrs' own description of a class, made when they look for it.

Understood are `eq`, `unsafe_hash`, `kw_only` and `repr=False` of a class; `default`, `factory`,
`converter`, `init`, `eq`, `repr`, `kw_only` and the decorator `default` of a field; exceptions,
`cached_property` and `__attrs_post_init__`. A class inherits fields from one class at most.
`spec/decisions/classes-without-attrs.md` says why, and what was weighed.
"""

from collections.abc import Callable
from functools import cached_property
from types import FunctionType
from typing import Any

_ABSENT: Any = object()
_UNDERSTOOD = frozenset(("converter", "default", "eq", "factory", "init", "kw_only", "repr"))


class Field:
    """What a class says of one of its attributes."""

    __slots__ = ("name", "settings")

    def __init__(self, name: str, settings: dict[str, Any]) -> None:
        self.name = name
        self.settings = settings

    def default(self, method: Callable[[Any], Any]) -> Callable[[Any], Any]:
        """Decorates the method that knows what the attribute is if nobody says it."""
        self.settings["computed"] = method
        return method

    def is_(self, setting: str) -> bool:
        """`init`, `eq`, `repr`: whether the attribute takes part; so it does unless it says not."""
        return bool(self.settings.get(setting, True))

    @property
    def argument(self) -> str:
        """The name of the argument that gives it."""
        return self.name.lstrip("_")


def field(**settings: Any) -> Any:
    """Stands for `attrs.field`. Raises TypeError for what is not understood here."""
    for name in settings.keys() - _UNDERSTOOD:
        raise TypeError(f"`{name}` of a field is not understood")
    return Field("", settings)


def define(cls: Any = None, **settings: Any) -> Any:
    """Stands for `attrs.define`."""
    return _made(cls, False, **settings) if cls else lambda cls: _made(cls, False, **settings)


def frozen(cls: Any = None, **settings: Any) -> Any:
    """Stands for `attrs.frozen`."""
    return _made(cls, True, **settings) if cls else lambda cls: _made(cls, True, **settings)


def has(cls: Any) -> bool:
    """Stands for `attrs.has`."""
    return hasattr(cls, "__fields__")


def fields(cls: Any) -> tuple[Field, ...]:
    """Stands for `attrs.fields`, as far as names go: inherited ones come first."""
    found: tuple[Field, ...] = cls.__fields__
    return found


def attributes(item: Any) -> dict[str, Any]:
    """What the attributes of an object are, by name."""
    return {each.name: getattr(item, each.name) for each in item.__fields__}


def evolve(item: Any, /, **changes: Any) -> Any:
    """Stands for `attrs.evolve`: a new object with these changes."""
    for name, argument in item.__given__:
        if argument not in changes:
            changes[argument] = getattr(item, name)
    return item.__class__(**changes)


def _made(
    cls: Any,
    is_guarded: bool,
    *,
    eq: bool = True,
    unsafe_hash: bool = False,
    kw_only: bool = False,
    repr: bool = True,
) -> Any:
    """The class again, with a slot for each of its own fields."""
    body = {k: v for k, v in cls.__dict__.items() if k not in ("__dict__", "__weakref__")}
    own = {name: _field(name, body.pop(name, _ABSENT), kw_only) for name in cls.__annotations__}
    above = {each.name: each for each in getattr(cls, "__fields__", ())}
    every = (*[each for name, each in above.items() if name not in own], *own.values())
    slots = [name for name in own if name not in above]
    if not cls.__base__.__weakrefoffset__:
        slots.append("__weakref__")
    if cached_property in map(type, body.values()):
        slots.append("__dict__")
    body["__qualname__"], body["__slots__"] = cls.__qualname__, tuple(slots)
    body["__fields__"] = every
    body["__match_args__"] = tuple(
        [each.name for each in every if each.is_("init") and not each.settings.get("kw_only")]
    )
    body["__attrs_attrs__"], body["__given__"] = _Later(_described), _Later(_given)
    body.setdefault("__init__", _Later(_init))
    if eq and "__eq__" not in body:
        body["__eq__"] = _Later(_eq)
        if unsafe_hash or is_guarded:
            body.setdefault("__hash__", _Later(_hash))
    if repr:
        body.setdefault("__repr__", _shown)
    body["__getstate__"], body["__setstate__"], body["__replace__"] = attributes, _restored, evolve
    if is_guarded:
        body["__setattr__"], body["__delattr__"] = _unchanged, _unchanged
    made = type(cls)(cls.__name__, cls.__bases__, body)
    _rebind(body, made)
    return made


def _field(name: str, said: Any, kw_only: bool) -> Field:
    settings = said.settings if isinstance(said, Field) else {"default": said}
    if said is _ABSENT:
        settings = {}
    if kw_only:
        settings["kw_only"] = True
    return Field(name, settings)


def _rebind(body: dict[str, Any], made: type) -> None:
    """`super()` in the methods means the class that was made."""
    for item in body.values():
        function: Any = item
        if type(item) is not FunctionType:  # a property, or a method of the class
            function = getattr(item, "fget", None) or getattr(item, "__func__", None)
        cells = getattr(function, "__closure__", None)
        if cells:
            for name, cell in zip(function.__code__.co_freevars, cells, strict=True):
                if name == "__class__":
                    cell.cell_contents = made


class _Later:
    """Stands in a class for what is made when it is first looked up, and takes its place."""

    __slots__ = ("_make", "_name", "_owner")

    def __init__(self, make: Callable[[Any], Any]) -> None:
        self._make = make

    def __set_name__(self, owner: Any, name: str) -> None:
        self._owner, self._name = owner, name

    def __get__(self, item: Any, kind: Any) -> Any:
        made = self._make(self._owner)
        setattr(self._owner, self._name, made)
        return made.__get__(item, kind) if hasattr(made, "__get__") else made


def _init(cls: Any) -> Any:
    known: dict[str, Any] = {"_ABSENT": _ABSENT, "_bound": object.__setattr__.__get__}
    is_guarded = cls.__setattr__ is _unchanged
    lines = ["_put = _bound(self)"] if is_guarded else []
    required: list[str] = []
    named: list[str] = []
    for each in cls.__fields__:
        given, value = _initial(each, known)
        if given is not None:
            (named if each.settings.get("kw_only") else required).append(given)
        if value is not None:
            to = f"_put({each.name!r}, {value})" if is_guarded else f"self.{each.name} = {value}"
            lines.append(to)
    if hasattr(cls, "__attrs_post_init__"):
        lines.append("self.__attrs_post_init__()")
    if issubclass(cls, BaseException):
        known["_exception"] = BaseException.__init__
        told = [f"self.{each.name}" for each in cls.__fields__ if each.is_("init")]
        lines.append(f"_exception({', '.join(['self', *told])})")
    arguments = ["self", *required, *(["*", *named] if named else [])]
    return _written(cls, "__init__", arguments, lines or ["pass"], known)


def _initial(each: Field, known: dict[str, Any]) -> tuple[str | None, str | None]:
    """The argument of `__init__` for a field, and the expression for what the field then is."""
    name, said = each.name, each.settings
    default = None
    if "default" in said:
        known[f"_default_{name}"] = said["default"]
        default = f"_default_{name}"
    elif "factory" in said or "computed" in said:
        known[f"_make_{name}"] = said.get("factory") or said["computed"]
        default = f"_make_{name}(self)" if "computed" in said else f"_make_{name}()"
    if not each.is_("init"):
        given, value = None, default
    elif default is None:
        given, value = each.argument, each.argument
    elif "default" in said:
        given, value = f"{each.argument}={default}", each.argument
    else:
        given = f"{each.argument}=_ABSENT"
        value = f"{default} if {each.argument} is _ABSENT else {each.argument}"
    if "converter" in said and value is not None:
        known[f"_convert_{name}"] = said["converter"]
        value = f"_convert_{name}({value})"
    return given, value


def _eq(cls: Any) -> Any:
    same = [f"self.{each.name} == other.{each.name}" for each in _compared(cls)]
    lines = [
        "if other.__class__ is not self.__class__: return NotImplemented",
        f"return {' and '.join(same) or 'True'}",
    ]
    return _written(cls, "__eq__", ["self", "other"], lines, {})


def _hash(cls: Any) -> Any:
    parts = "".join([f"self.{each.name}, " for each in _compared(cls)])
    return _written(cls, "__hash__", ["self"], [f"return hash(({parts}))"], {})


def _compared(cls: Any) -> list[Field]:
    return [each for each in cls.__fields__ if each.is_("eq")]


def _written(
    cls: Any, name: str, arguments: list[str], lines: list[str], known: dict[str, Any]
) -> Any:
    text = f"def {name}({', '.join(arguments)}):\n " + "\n ".join(lines)
    exec(compile(text, f"<{cls.__module__}.{cls.__qualname__}.{name}>", "exec"), known)
    method = known[name]
    method.__module__, method.__qualname__ = cls.__module__, f"{cls.__qualname__}.{name}"
    return method


def _given(cls: Any) -> tuple[tuple[str, str], ...]:
    """The fields that callers give, and what the arguments for them are called."""
    return tuple([(each.name, each.argument) for each in cls.__fields__ if each.is_("init")])


def _described(cls: Any) -> Any:
    """What attrs makes of the same fields."""
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


def _shown(self: Any) -> str:
    names = [each.name for each in self.__fields__ if each.is_("repr")]
    shown = ", ".join([f"{name}={getattr(self, name)!r}" for name in names])
    return f"{type(self).__qualname__.rpartition('>.')[2]}({shown})"


def _restored(self: Any, state: dict[str, Any]) -> None:
    for name, value in state.items():
        object.__setattr__(self, name, value)


def _unchanged(self: Any, name: str, *value: Any) -> None:
    # What Python itself notes about an exception that is raised.
    if isinstance(self, BaseException) and name.startswith("__") and value:
        BaseException.__setattr__(self, name, *value)
        return
    from attrs.exceptions import FrozenInstanceError

    raise FrozenInstanceError
