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

ABSENT: Any = object()


class Field:
    """A declared field of a class."""

    __slots__ = ("name", "settings")

    def __init__(self, name: str, settings: dict[str, Any]) -> None:
        self.name = name
        self.settings = settings

    def default(self, method: Callable[[Any], Any]) -> Callable[[Any], Any]:
        """Decorate the method that computes the default."""
        self.settings["computed"] = method
        return method

    def is_(self, setting: str) -> bool:
        """Return whether the field takes part in `init`, `eq` or `repr`. The default is yes."""
        return bool(self.settings.get(setting, True))

    @property
    def is_required(self) -> bool:
        """Return whether callers must give the field."""
        return self.settings.keys().isdisjoint(("default", "factory", "computed"))

    @property
    def argument(self) -> str:
        """The name of the argument of `__init__`."""
        return self.name.lstrip("_")


def write_init(cls: Any) -> Any:
    """Return the `__init__` of a class."""
    known: dict[str, Any] = {"_ABSENT": ABSENT, "_bound": object.__setattr__.__get__}
    required: list[str] = []
    named: list[str] = []
    defaults: dict[str, Any] = {}
    values: dict[str, str] = {}
    for each in cls.__fields__:
        if each.is_("init"):
            (named if each.settings.get("kw_only") else required).append(each.argument)
            if not each.is_required:
                defaults[each.argument] = each.settings.get("default", ABSENT)
        value = _initial(each, known)
        if value is not None:
            values[each.name] = value
    lines = _assignments(values, cls.__setattr__ is refuse_change, known)
    if hasattr(cls, "__attrs_post_init__"):
        lines.append("self.__attrs_post_init__()")
    if issubclass(cls, BaseException):
        known["_exception"] = BaseException.__init__
        told = [f"self.{each.name}" for each in cls.__fields__ if each.is_("init")]
        lines.append(f"_exception({', '.join(['self', *told])})")
    arguments = ["self", *required, *(["*", *named] if named else [])]
    method = _define(cls, "__init__", arguments, lines or ["pass"], known)
    method.__defaults__ = tuple([defaults[name] for name in required if name in defaults])
    method.__kwdefaults__ = {name: defaults[name] for name in named if name in defaults}
    return method


WIDE = 10
"""The number of fields of a frozen class that are set one by one. More are set by a loop: it takes
no longer, and the text of a quarter is compiled."""


def _assignments(values: dict[str, str], is_guarded: bool, known: dict[str, Any]) -> list[str]:
    """Return the lines that set the fields of an object."""
    if not is_guarded:
        return [f"self.{name} = {values[name]}" for name in values]
    if len(values) > WIDE:
        known["_names"] = tuple(values)
        return [f"any(map(_bound(self), _names, ({', '.join(values.values())})))"]
    return ["_put = _bound(self)", *[f"_put({name!r}, {values[name]})" for name in values]]


def _initial(each: Field, known: dict[str, Any]) -> str | None:
    """Return the expression for the initial value of a field."""
    name, said = each.name, each.settings
    value = each.argument if each.is_("init") else None
    if "default" in said:
        if value is None:
            value = f"_default_{name}"
            known[value] = said["default"]
    elif "factory" in said or "computed" in said:
        known[f"_make_{name}"] = said.get("factory") or said["computed"]
        made = f"_make_{name}(self)" if "computed" in said else f"_make_{name}()"
        value = made if value is None else f"{made} if {value} is _ABSENT else {value}"
    if "converter" in said and value is not None:
        known[f"_convert_{name}"] = said["converter"]
        value = f"_convert_{name}({value})"
    return value


def write_eq(cls: Any) -> Any:
    """Return the `__eq__` of a class."""
    same = [f"self.{each.name} == other.{each.name}" for each in _fields_to_compare(cls)]
    lines = [
        "if other.__class__ is not self.__class__: return NotImplemented",
        f"return {' and '.join(same) or 'True'}",
    ]
    return _define(cls, "__eq__", ["self", "other"], lines, {})


def write_hash(cls: Any) -> Any:
    """Return the `__hash__` of a class."""
    parts = "".join([f"self.{each.name}, " for each in _fields_to_compare(cls)])
    return _define(cls, "__hash__", ["self"], [f"return hash(({parts}))"], {})


def _fields_to_compare(cls: Any) -> list[Field]:
    return [each for each in cls.__fields__ if each.is_("eq")]


def _define(
    cls: Any, name: str, arguments: list[str], lines: list[str], known: dict[str, Any]
) -> Any:
    text = f"def {name}({', '.join(arguments)}):\n " + "\n ".join(lines)
    # `compile` is avoided: its first use makes the classes of all syntax trees.
    exec(text, known)  # noqa: S102 - the text is made of names of fields alone
    method = known[name]
    file = f"<{cls.__module__}.{cls.__qualname__}.{name}>"
    method.__code__ = method.__code__.replace(co_filename=file)
    method.__module__, method.__qualname__ = cls.__module__, f"{cls.__qualname__}.{name}"
    return method


def attributes(item: Any) -> dict[str, Any]:
    """Return the attributes of an object, by name."""
    return {each.name: getattr(item, each.name) for each in item.__fields__}


def init_fields(cls: Any) -> tuple[tuple[str, str], ...]:
    """Return the fields that callers give, with the names of their arguments."""
    return tuple([(each.name, each.argument) for each in cls.__fields__ if each.is_("init")])


def represent(self: Any) -> str:
    """The `__repr__` of all classes."""
    names = [each.name for each in self.__fields__ if each.is_("repr")]
    values = ", ".join([f"{name}={getattr(self, name)!r}" for name in names])
    return f"{type(self).__qualname__.rpartition('>.')[2]}({values})"


def restore(self: Any, state: dict[str, Any]) -> None:
    """The `__setstate__` of all classes."""
    for name, value in state.items():
        object.__setattr__(self, name, value)


def refuse_change(self: Any, name: str, *value: Any) -> None:
    """The `__setattr__` and `__delattr__` of frozen classes. Raises FrozenInstanceError."""
    # Python itself sets these attributes of a raised exception.
    if isinstance(self, BaseException) and name.startswith("__") and value:
        BaseException.__setattr__(self, name, *value)
        return
    from attrs.exceptions import FrozenInstanceError

    raise FrozenInstanceError


# -- Classes --------------------------------------------------------------------------------------

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
