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
    def argument(self) -> str:
        """The name of the argument of `__init__`."""
        return self.name.lstrip("_")


def write_init(cls: Any) -> Any:
    """Return the `__init__` of a class."""
    known: dict[str, Any] = {"_ABSENT": ABSENT, "_bound": object.__setattr__.__get__}
    is_guarded = cls.__setattr__ is refuse_change
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
    return _define(cls, "__init__", arguments, lines or ["pass"], known)


def _initial(each: Field, known: dict[str, Any]) -> tuple[str | None, str | None]:
    """Return the argument of `__init__` for a field, and the expression for the initial value."""
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
    return hasattr(cls, "__fields__")


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
    body = {k: v for k, v in cls.__dict__.items() if k not in ("__dict__", "__weakref__")}
    own = {name: _field(name, body.pop(name, ABSENT), kw_only) for name in cls.__annotations__}
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
    body["__attrs_attrs__"], body["__given__"] = _Later(_describe), _Later(init_fields)
    body.setdefault("__init__", _Later(write_init))
    if eq and "__eq__" not in body:
        body["__eq__"] = _Later(write_eq)
        if unsafe_hash or is_guarded:
            body.setdefault("__hash__", _Later(write_hash))
    if repr:
        body.setdefault("__repr__", represent)
    body["__getstate__"], body["__setstate__"], body["__replace__"] = attributes, restore, evolve
    if is_guarded:
        body["__setattr__"], body["__delattr__"] = refuse_change, refuse_change
    made = type(cls)(cls.__name__, cls.__bases__, body)
    _rebind(cls, made)
    return made


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
    """A class attribute that is computed on first access and then replaces this object."""

    __slots__ = ("_make", "_name", "_owner")

    def __init__(self, make: Callable[[Any], Any]) -> None:
        self._make = make

    def __set_name__(self, owner: Any, name: str) -> None:
        self._owner, self._name = owner, name

    def __get__(self, item: Any, kind: Any) -> Any:
        made = self._make(self._owner)
        setattr(self._owner, self._name, made)
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
