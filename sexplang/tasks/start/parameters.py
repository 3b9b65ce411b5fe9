"""What a call gives to the values of a task's declared parameters: all of them, or one failure."""

from collections.abc import Callable

from sexplang.tasks.failures import bad_input
from sexplang.tasks.prompt.media import is_file, is_image
from sexplang.tasks.start.preparation import Prepared
from sexplang.terms.template import Template
from sexplang.terms.values.value import Procedure, Record, Symbol, Value


def _is_text(value: Value) -> bool:
    is_result = isinstance(value, Record) and value.kind == "TaskResult"
    return isinstance(value, (str, Symbol)) or is_result


def _is_number(value: Value) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _is_integer(value: Value) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


_FITS: dict[str, Callable[[Value], bool]] = {
    "any": lambda value: not isinstance(value, Procedure),
    "string": _is_text,
    "number": _is_number,
    "integer": _is_integer,
    "boolean": lambda value: isinstance(value, bool),
    "list": lambda value: isinstance(value, tuple),
    "object": lambda value: isinstance(value, (dict, Record)),
    "image": is_image,
    "file": is_file,
}


def bound(prepared: Prepared, given: dict[str, Value]) -> dict[str, Value]:
    """Every declared parameter with its value, in their order; nil for an optional one means its
    default."""
    if tuple(given) == prepared.names and tuple(map(type, given.values())) == prepared.usual:
        return given
    return values_of(prepared.template, given)


def values_of(template: Template, given: dict[str, Value]) -> dict[str, Value]:
    """The values of a template's parameters, as `bound` gives them. Raises Fault."""
    values, missing, unfit, taken = _sort_inputs(template, given)
    if missing or unfit or taken < len(given):
        raise _unfit(template, given, missing, unfit)
    return values


def fits(template: Template, given: dict[str, Value]) -> bool:
    """Whether `values_of` gives values."""
    _, missing, unfit, taken = _sort_inputs(template, given)
    return not missing and not unfit and taken == len(given)


def fill_inputs(template: Template, given: dict[str, Value], description: str) -> dict[str, Value]:
    """The inputs of a request: where there are none, a task that needs one text is given what the
    request says is to be done."""
    if given or not description:
        return given
    needed = [param for param in template.params if param.required]
    if len(needed) == 1 and needed[0].type in ("any", "string"):
        return {needed[0].name: description}
    return given


def _sort_inputs(
    template: Template, given: dict[str, Value]
) -> tuple[dict[str, Value], list[str], list[str], int]:
    """The values, the names that are missing, those whose value is of another type, and how many
    of the given are declared."""
    values: dict[str, Value] = {}
    missing: list[str] = []
    unfit: list[str] = []
    taken = 0
    for param in template.params:
        name = param.name
        value = given.get(name)
        if name in given:
            taken += 1
        if value is None and not param.required:
            value = param.default
        elif name not in given:
            missing.append(name)
        elif not _FITS[param.type](value):
            unfit.append(name)
        values[name] = value
    return values, missing, unfit, taken


def _unfit(
    template: Template, given: dict[str, Value], missing: list[str], unfit: list[str]
) -> Exception:
    declared = {param.name: param.type for param in template.params}
    unknown = [name for name in given if name not in declared]
    said = [f"missing {_names(missing)}"] if missing else []
    if unknown:
        said.append(f"unknown {_names(unknown)}")
    said += [
        f"`{name}` is {_kind(given[name])}, not {_WANTED.get(declared[name], declared[name])}"
        for name in unfit
    ]
    takes = ", ".join([f"{name} ({type})" for name, type in declared.items()]) or "nothing"
    return bad_input(
        f"the inputs of task `{template.name}` do not fit: {'; '.join(said)}",
        f"`{template.name}` takes {takes}",
        missing=tuple(missing),
        unknown=tuple(unknown),
        invalid=tuple(
            {"name": name, "expected": declared[name], "actual": _kind(given[name])}
            for name in unfit
        ),
    )


def _names(names: list[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


_WANTED = {
    "any": "data",
    "image": "the path of an image (png jpg gif webp), or an image block",
    "file": "the path of a file, or a block of an image or a document",
}

_KINDS: tuple[tuple[type | tuple[type, ...], str], ...] = (
    (bool, "boolean"),
    (int, "integer"),
    (float, "number"),
    ((str, Symbol), "string"),
    (tuple, "list"),
    ((dict, Record), "object"),
    (Procedure, "a function"),
)


def _kind(value: Value) -> str:
    if value is None:
        return "nil"
    return next((kind for types, kind in _KINDS if isinstance(value, types)), "unknown")
