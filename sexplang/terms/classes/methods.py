"""The generated methods of classes, as attrs generates them."""

from collections.abc import Callable
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
